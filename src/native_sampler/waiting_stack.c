#include "native_sampler/waiting_stack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/text_view.h"

#define LINE_BYTES 256
#define BLOCK_BYTES ((size_t)4096)

/* "NUMBER ARGUMENT… SP PC", "-1 SP PC" or "running". */
bool waiting_stack_parse(struct text_view line, uint64_t *sp, uint64_t *pc)
{
    struct text_view rest = text_trim(line), word;
    uint64_t last = 0, before = 0;
    size_t count = 0;
    if (text_starts_with(rest, TEXT("running")))
        return false;
    (void)text_cut(&rest, ' ');
    while (rest.size > 0) {
        word = text_cut(&rest, ' ');
        before = last;
        if (!text_starts_with(word, TEXT("0x")) || !text_to_hex64(text_from(word, 2), &last))
            return false;
        count++;
    }
    *sp = before;
    *pc = last;
    return count >= 2 && before != 0;
}

static bool read_line(pid_t pid, pid_t tid, char line[LINE_BYTES])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    ssize_t size = read(descriptor, line, LINE_BYTES - 1);
    close(descriptor);
    line[size < 0 ? 0 : size] = '\0';
    return size > 0;
}

/* In blocks that do not go over the end of a page, since the pages behind the stack may not be there. */
static size_t copy(pid_t pid, uint64_t address, unsigned char *bytes, size_t size)
{
    struct iovec from[PERF_STACK_BYTES / BLOCK_BYTES + 1], to = {bytes, size};
    size_t count = 0;
    for (size_t done = 0; done < size && count < COUNT_OF(from); count++) {
        size_t part = BLOCK_BYTES - ((address + done) & (BLOCK_BYTES - 1));
        part = part < size - done ? part : size - done;
        from[count] =
            (struct iovec){(void *)(uintptr_t)(address + done), part}; // NOLINT(performance-no-int-to-ptr)
        done += part;
    }
    ssize_t copied = process_vm_readv(pid, &to, 1, from, count, 0);
    return copied < 0 ? 0 : (size_t)copied;
}

bool waiting_stack_read(struct waiting_stack *waiting, pid_t pid, pid_t tid)
{
    char before[LINE_BYTES], after[LINE_BYTES];
    struct perf_sample_stack *stack = &waiting->stack;
    *stack = (struct perf_sample_stack){.has_user = true, .bytes = waiting->bytes};
    if (!read_line(pid, tid, before) || !waiting_stack_parse(text_of(before), &stack->sp, &stack->pc))
        return false;
    stack->size = copy(pid, stack->sp, waiting->bytes, sizeof(waiting->bytes));
    stack->is_cut = stack->size == sizeof(waiting->bytes);
    return stack->size > 0 && read_line(pid, tid, after) && strcmp(before, after) == 0;
}
