/*
 * record_python_memory.c - samples a Python process a few times and writes the memory that this read to a file from
 * which fuzz_python_memory starts: record_python_memory PID FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "memory_image.h"
#include "python_sampler/python_process.h"

#define TICKS 3
#define LONGEST_GAP_BYTES 16
#define MOST_RECORDED_BYTES ((size_t)1 << 20)

/* Each byte once, as it was read last, in order of address. */
struct recorder {
    struct process_memory memory;
    uint64_t *addresses;
    unsigned char *bytes;
    size_t count, address_capacity, byte_capacity;
};

static size_t find_place(const struct recorder *recorder, uint64_t address)
{
    size_t low = 0, high = recorder->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recorder->addresses[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void note(struct recorder *recorder, uint64_t address, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t at = find_place(recorder, address + i), behind = recorder->count - at;
        if (behind == 0 || recorder->addresses[at] != address + i) {
            if (!array_reserve(&recorder->addresses, &recorder->address_capacity, recorder->count + 1,
                               MOST_RECORDED_BYTES) ||
                !array_reserve(&recorder->bytes, &recorder->byte_capacity, recorder->count + 1,
                               MOST_RECORDED_BYTES)) {
                fprintf(stderr, "the process makes too much be read\n");
                exit(1);
            }
            memmove(recorder->addresses + at + 1, recorder->addresses + at, behind * sizeof(uint64_t));
            memmove(recorder->bytes + at + 1, recorder->bytes + at, behind);
            recorder->addresses[at] = address + i;
            recorder->count++;
        }
        recorder->bytes[at] = bytes[i];
    }
}

static size_t read_and_note(void *context, const struct iovec *ranges, size_t count, void *to,
                            size_t room_bytes)
{
    struct recorder *recorder = context;
    size_t got = process_memory_read_some(&recorder->memory, ranges, count, to, room_bytes);
    const unsigned char *bytes = to;
    for (size_t i = 0, left = got; i < count && left > 0; i++) {
        size_t size = ranges[i].iov_len < left ? ranges[i].iov_len : left;
        note(recorder, (uintptr_t)ranges[i].iov_base, bytes, size);
        bytes += size;
        left -= size;
    }
    return got;
}

/* The bytes from number `begin` to `end`, and zeros between them, so that words are aligned in the file. */
static bool write_piece(const struct recorder *recorder, size_t begin, size_t end, FILE *file)
{
    uint64_t start = recorder->addresses[begin] & ~UINT64_C(7);
    uint64_t size = ((recorder->addresses[end - 1] + 8) & ~UINT64_C(7)) - start;
    struct memory_image_piece piece = {start, (uint32_t)size, 0};
    bool good = fwrite(&piece, sizeof(piece), 1, file) == 1;
    for (uint64_t i = 0; good && i < size; i++) {
        bool is_known = begin < end && recorder->addresses[begin] == start + i;
        good = fputc(is_known ? recorder->bytes[begin++] : 0, file) != EOF;
    }
    return good;
}

static bool write_image(const struct recorder *recorder, const struct memory_image_head *head,
                        const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool good = fwrite(head, sizeof(*head), 1, file) == 1;
    for (size_t begin = 0, end; good && begin < recorder->count; begin = end) {
        for (end = begin + 1; end < recorder->count; end++) {
            if (recorder->addresses[end] - recorder->addresses[end - 1] > LONGEST_GAP_BYTES)
                break;
        }
        good = write_piece(recorder, begin, end, file);
    }
    return fclose(file) == 0 && good;
}

static void count_stack(void *context, const struct python_stack *stack)
{
    unsigned *count = context;
    *count += stack->frame_count > 0;
}

static unsigned sample(struct python_process *process)
{
    struct python_sampling sampling;
    unsigned count = 0;
    struct timespec pause = {.tv_nsec = 20000000};
    if (!python_sampling_init(&sampling))
        return 0;
    sampling.want_idle = true;
    sampling.deliver = count_stack;
    sampling.context = &count;
    for (int64_t tick = 1; tick <= TICKS; tick++) {
        if (python_process_sample(process, &sampling, tick * 1000000000) != PROCESS_OK)
            break;
        nanosleep(&pause, NULL);
    }
    struct python_reader reader = {&process->memory, &process->runtime.layout};
    (void)python_context_task(&process->context, &reader, process->interpreters[0].address, 5000000000);
    python_sampling_release(&sampling);
    return count;
}

int main(int argc, char **argv)
{
    struct recorder recorder = {.count = 0};
    struct python_runtime runtime, again;
    struct error error = {ERROR_NONE, ""};
    if (argc != 3) {
        fprintf(stderr, "usage: record_python_memory PID FILE\n");
        return 2;
    }
    pid_t pid = (pid_t)strtol(argv[1], NULL, 10);
    process_memory_init(&recorder.memory, pid);
    if (python_runtime_find(&runtime, &recorder.memory, &error) != PYTHON_FOUND) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    struct process_memory memory;
    process_memory_init_source(&memory, (struct memory_source){read_and_note, &recorder});
    memory.inner_pid = recorder.memory.inner_pid;
    struct memory_image_head head = {runtime.address, runtime.layout.version, (uint32_t)memory.inner_pid};
    struct python_process *process = NULL;
    if (python_runtime_find_at(&again, &memory, head.runtime, head.version, &error) == PYTHON_FOUND)
        process = python_process_new_of(&again, &memory);
    unsigned stacks = process == NULL ? 0 : sample(process);
    printf("%u stacks, %zu bytes\n", stacks, recorder.count);
    python_process_free(process);
    bool good = stacks > 0 && write_image(&recorder, &head, argv[2]);
    free(recorder.addresses);
    free(recorder.bytes);
    return good ? 0 : 1;
}
