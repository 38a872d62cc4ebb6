#include "native_sampler/native_walk.h"

#include <string.h>
#include <sys/uio.h>

#define LEAST_ADDRESS 4096

/* Where the walk wanted to read, and whether that lies behind the copy. */
struct copied_stack {
    const struct perf_sample_stack *stack;
    bool ran_out;
};

static bool read_copy(void *context, uint64_t address, uint64_t *value)
{
    struct copied_stack *copy = context;
    uint64_t offset = address - copy->stack->sp;
    if (address < copy->stack->sp || copy->stack->size < 8 || offset > copy->stack->size - 8) {
        copy->ran_out |= address >= copy->stack->sp && offset >= copy->stack->size;
        return false;
    }
    memcpy(value, copy->stack->bytes + offset, sizeof(*value));
    return true;
}

/* NULL: there is no code at the address. */
static const struct code_range *find_range(struct process_image *image, struct program_files *files,
                                           uint64_t address, int64_t now_ns)
{
    const struct code_range *range = process_image_find(image, address);
    if (range != NULL)
        return range;
    process_image_refresh(image, files, now_ns);
    return process_image_find(image, address);
}

static const struct unwind_rule *find_rule(const struct process_image *image, struct program_files *files,
                                           const struct code_range *range, uint64_t address)
{
    uint64_t bias;
    struct program_file *file = process_image_file(image, files, range);
    if (file == NULL || !elf_file_bias(&file->file, range->start, range->offset, &bias))
        return NULL;
    return program_file_rule(file, image->pid, address - bias);
}

#if defined(__x86_64__)
static size_t read_code(const struct process_image *image, uint64_t address, unsigned char *bytes,
                        size_t size)
{
    struct iovec to = {bytes, size};
    struct iovec from = {(void *)(uintptr_t)address, size}; // NOLINT(performance-no-int-to-ptr)
    ssize_t copied = process_vm_readv(image->pid, &to, 1, &from, 1, 0);
    return copied < 0 ? 0 : (size_t)copied;
}
#endif

/* Generated code has frame pointers at most. At its first two instructions and at the last one the frame pointer is the
 * caller's, which its bytes show. */
static const struct unwind_rule *rule_without_table(const struct process_image *image, bool interrupted,
                                                    uint64_t pc)
{
#if defined(__x86_64__)
    static const struct unwind_rule outside = {.kind = UNWIND_STACK_POINTER,
                                               .cfa_offset = 8,
                                               .frame_pointer_offset = UNWIND_IN_REGISTER,
                                               .return_address_offset = -8};
    static const struct unwind_rule behind_push = {.kind = UNWIND_STACK_POINTER,
                                                   .cfa_offset = 16,
                                                   .frame_pointer_offset = -16,
                                                   .return_address_offset = -8};
    enum { PUSH_RBP = 0x55, RET = 0xc3 };
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, set_rbp[] = {0x48, 0x89, 0xe5};
    unsigned char code[sizeof(endbr64)] = {0}, before = 0;
    size_t size = interrupted ? read_code(image, pc, code, sizeof(code)) : 0;
    if (size > 0 && (code[0] == PUSH_RBP || code[0] == RET))
        return &outside;
    if (size == sizeof(code) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
        return &outside;
    if (size >= sizeof(set_rbp) && memcmp(code, set_rbp, sizeof(set_rbp)) == 0 &&
        read_code(image, pc - 1, &before, 1) == 1 && before == PUSH_RBP)
        return &behind_push;
#else
    (void)image, (void)interrupted, (void)pc;
#endif
    return &unwind_by_frame_pointer;
}

void native_walk(struct native_walk *walk, struct process_image *image, struct program_files *files,
                 const struct perf_sample_stack *stack, int64_t now_ns)
{
    struct copied_stack copy = {.stack = stack};
    struct unwind_memory memory = {read_copy, &copy};
    struct unwind_registers registers = {
        .pc = stack->pc, .sp = stack->sp, .fp = stack->fp, .link = stack->link, .interrupted = true};
    enum unwind_result result = UNWIND_STEPPED;
    walk->count = 0;
    while (result == UNWIND_STEPPED && walk->count < NATIVE_WALK_MOST_FRAMES &&
           registers.pc >= LEAST_ADDRESS) {
        uint64_t address = registers.pc - (registers.interrupted ? 0 : 1);
        const struct code_range *range = find_range(image, files, address, now_ns);
        if (range == NULL && walk->count > 0)
            break; /* what was taken for a frame is none */
        walk->addresses[walk->count++] = address;
        const struct unwind_rule *rule = range == NULL ? NULL : find_rule(image, files, range, address);
        if (rule == NULL)
            rule = rule_without_table(image, registers.interrupted, registers.pc);
        result = unwind_step(rule, &registers, &memory);
    }
    bool is_complete = result == UNWIND_FINISHED;
    walk->end = is_complete ? WALK_COMPLETE : copy.ran_out && stack->is_cut ? WALK_CUT : WALK_BROKEN;
}
