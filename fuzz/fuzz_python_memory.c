/*
 * fuzz_python_memory.c - takes libFuzzer's input for the memory of a process that runs CPython, and samples it:
 * runtime, lists of threads, frames, code objects, line tables, dicts, strings.
 *
 * Half of the mutations change one word to what a pointer, size or offset may be made to be, since mutations of
 * single bytes seldom make a list cyclic.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "memory_image.h"
#include "python_sampler/python_process.h"

#define MOST_PIECES 1024
#define TICKS 6
#define TICK_NS INT64_C(1100000000)
/* Less than a real process gets, so that an input takes little time. */
#define EFFORT (INT64_C(16) << 20)

struct image {
    struct memory_image_piece pieces[MOST_PIECES];
    const uint8_t *bytes[MOST_PIECES];
    size_t count;
    uint32_t reads;
    bool fills_holes; /* what no piece has is mapped, too, and zero */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/* Pieces may begin and end anywhere; one that is cut short has what is left. */
static void parse(struct image *image, const uint8_t *data, size_t size)
{
    while (image->count < MOST_PIECES && size > sizeof(struct memory_image_piece)) {
        struct memory_image_piece *piece = &image->pieces[image->count];
        memcpy(piece, data, sizeof(*piece));
        data += sizeof(*piece);
        size -= sizeof(*piece);
        if (piece->size > size)
            piece->size = (uint32_t)size;
        image->bytes[image->count++] = data;
        data += piece->size;
        size -= piece->size;
    }
}

/* How many of the bytes at the address are in one piece. */
static size_t read_piece(const struct image *image, uint64_t address, char *to, size_t size)
{
    size_t most = size;
    for (size_t i = image->count; i-- > 0;) {
        const struct memory_image_piece *piece = &image->pieces[i];
        if (piece->first_read > image->reads)
            continue;
        if (address - piece->address < piece->size) {
            size_t left = piece->size - (size_t)(address - piece->address);
            size_t got = left < most ? left : most;
            memcpy(to, image->bytes[i] + (address - piece->address), got);
            return got;
        }
        /* A later piece that begins further on hides what this one has there. */
        if (piece->address > address && piece->address - address < most)
            most = (size_t)(piece->address - address);
    }
    memset(to, 0, image->fills_holes ? most : 0);
    return image->fills_holes ? most : 0;
}

static size_t read_image(void *context, const struct iovec *ranges, size_t count, void *to, size_t room_bytes)
{
    struct image *image = context;
    size_t total = 0;
    image->reads++;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = (uintptr_t)ranges[i].iov_base;
        for (size_t left = ranges[i].iov_len; left > 0;) {
            size_t most = left < room_bytes - total ? left : room_bytes - total;
            size_t got = read_piece(image, address, (char *)to + total, most);
            if (got == 0)
                return total;
            total += got;
            address += got;
            left -= got;
        }
    }
    return total;
}

static void take_stack(void *context, const struct python_stack *stack)
{
    uint64_t *sum = context;
    *sum += stack->thread_name.size + (uint64_t)stack->task.task_id;
    for (size_t i = 0; i < stack->frame_count; i++) {
        if (stack->frames[i].function >= stack->functions->size)
            abort();
        const struct python_function *function = &stack->functions->functions[stack->frames[i].function];
        *sum += string_table_text(&stack->functions->strings, function->name).size +
                string_table_text(&stack->functions->strings, function->file).size + stack->frames[i].line;
        if (stack->marks != NULL)
            stack->marks[i] = (uint32_t)i;
    }
}

static void sample(struct python_process *process, bool want_idle)
{
    struct python_sampling sampling;
    uint64_t sum = 0;
    if (!python_sampling_init(&sampling))
        abort();
    sampling.want_idle = want_idle;
    sampling.deliver = take_stack;
    sampling.context = &sum;
    for (int64_t tick = 1; tick <= TICKS; tick++) {
        sampling.asks_kernel = tick % 2 == 0;
        if (python_process_sample(process, &sampling, tick * TICK_NS) != PROCESS_OK)
            break;
    }
    /* PySpark's tasks are asked for only when its worker runs. */
    struct python_reader reader = {&process->memory, &process->runtime.layout};
    process_memory_allow(&process->memory, EFFORT);
    if (process->interpreter_count > 0)
        (void)python_context_task(&process->context, &reader, process->interpreters[0].address,
                                  (TICKS + 1) * TICK_NS);
    python_sampling_release(&sampling);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_image_head head;
    static struct image image;
    if (size < sizeof(head))
        return 0;
    memcpy(&head, data, sizeof(head));
    image.count = image.reads = 0;
    image.fills_holes = (head.version & MEMORY_IMAGE_FILLED) != 0;
    head.version &= ~MEMORY_IMAGE_FILLED;
    parse(&image, data + sizeof(head), size - sizeof(head));
    struct process_memory memory;
    struct python_runtime runtime;
    struct error error = {ERROR_NONE, ""};
    process_memory_init_source(&memory, (struct memory_source){read_image, &image});
    process_memory_allow(&memory, EFFORT);
    memory.inner_pid = (pid_t)head.inner_pid;
    if (python_runtime_find_at(&runtime, &memory, head.runtime, head.version, &error) != PYTHON_FOUND) {
        if (error.message[0] == '\0')
            abort();
        return 0;
    }
    struct python_process *process = python_process_new_of(&runtime, &memory);
    if (process == NULL)
        abort();
    process->tick_effort = EFFORT;
    sample(process, (head.inner_pid & 1) == 0);
    python_process_free(process);
    return 0;
}

static uint64_t pick_word(const uint8_t *data, size_t words)
{
    static const uint64_t interesting[] = {0,
                                           1,
                                           7,
                                           8,
                                           16,
                                           24,
                                           40,
                                           255,
                                           256,
                                           4095,
                                           4096,
                                           1 << 14,
                                           1 << 15,
                                           1 << 16,
                                           1 << 20,
                                           INT32_MAX,
                                           INT32_MIN,
                                           UINT32_MAX,
                                           1ULL << 40,
                                           1ULL << 47,
                                           INT64_MAX,
                                           1ULL << 63,
                                           UINT64_MAX - 7,
                                           UINT64_MAX};
    uint64_t word;
    if (rand() % 2 == 0)
        return interesting[(size_t)rand() % COUNT_OF(interesting)];
    memcpy(&word, data + 8 * ((size_t)rand() % words), 8);
    return word + 8 * (uint64_t)(rand() % 5 - 2);
}

/* Sometimes a word of the description at the start of _PyRuntime, else any. */
static size_t pick_place(const uint8_t *data, size_t size)
{
    struct memory_image_head head;
    static struct image image;
    memcpy(&head, data, sizeof(head));
    image.count = 0;
    parse(&image, data + sizeof(head), size - sizeof(head));
    bool wants_description = rand() % 4 == 0;
    for (size_t i = 0; wants_description && i < image.count; i++) {
        uint64_t from = head.runtime - image.pieces[i].address;
        if (from < image.pieces[i].size && image.pieces[i].size - from >= PYTHON_DEBUG_OFFSETS_BYTES)
            return (size_t)(image.bytes[i] - data) + (size_t)from + 8 * ((size_t)rand() % 96);
    }
    return 8 * ((size_t)rand() % (size / 8));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    srand(seed);
    if (size < 64 || rand() % 2 == 0)
        return LLVMFuzzerMutate(data, size, room);
    uint64_t word = pick_word(data, size / 8);
    size_t width = rand() % 4 == 0 ? 4 : 8;
    size_t at = pick_place(data, size);
    if (rand() % 8 == 0)
        data[offsetof(struct memory_image_head, version) + 3] ^= 0x80;
    memcpy(data + at + (width == 4 && rand() % 2 == 0 ? 4 : 0), &word, width);
    return size;
}
