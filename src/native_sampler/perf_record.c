#include "native_sampler/perf_record.h"

#include <string.h>
#include <sys/mman.h>

/* At the end of all records but samples: u32 pid, u32 tid, u64 time. */
#define TAIL_BYTES 16
/* In common_flags of tracepoints. */
#define FLAG_HARD_INTERRUPT 0x08
#define FLAG_SOFT_INTERRUPT 0x10

/* Reads forward; after the first read past the end all reads give 0 and failed is set. */
struct cursor {
    const unsigned char *at, *end;
    bool failed;
};

static const unsigned char *take(struct cursor *cursor, uint64_t size)
{
    const unsigned char *at = cursor->at;
    if (cursor->failed || (uint64_t)(cursor->end - at) < size) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += size;
    return at;
}

static uint64_t take_u64(struct cursor *cursor)
{
    uint64_t value = 0;
    const unsigned char *at = take(cursor, sizeof(value));
    if (at != NULL)
        memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t take_u32(struct cursor *cursor)
{
    uint32_t value = 0;
    const unsigned char *at = take(cursor, sizeof(value));
    if (at != NULL)
        memcpy(&value, at, sizeof(value));
    return value;
}

static struct text_view take_text(struct cursor *cursor)
{
    size_t most = (size_t)(cursor->end - cursor->at);
    return cursor->failed
               ? TEXT("")
               : (struct text_view){(const char *)cursor->at, strnlen((const char *)cursor->at, most)};
}

static void take_registers(struct cursor *cursor, struct perf_sample_stack *stack)
{
    uint64_t abi = take_u64(cursor);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    stack->has_user = abi == PERF_SAMPLE_REGS_ABI_64;
    for (unsigned number = 0; number < 64; number++) {
        if ((PERF_RECORD_REGISTERS >> number & 1) == 0)
            continue;
        uint64_t value = take_u64(cursor);
        if (number == PERF_REGISTER_FP)
            stack->fp = value;
        if (number == PERF_REGISTER_SP)
            stack->sp = value;
        if (number == PERF_REGISTER_PC)
            stack->pc = value;
        if (number == PERF_REGISTER_LINK)
            stack->link = value;
    }
}

/* The kernel copies up to `size` bytes and says behind them how many it got; without any it says nothing. */
static void take_stack(struct cursor *cursor, struct perf_sample_stack *stack)
{
    uint64_t size = take_u64(cursor);
    if (size == 0)
        return;
    stack->bytes = take(cursor, size);
    uint64_t copied = take_u64(cursor);
    stack->size = copied < size ? copied : size;
    stack->is_cut = copied >= size;
}

static bool decode_sample(struct perf_record *record, struct cursor *cursor)
{
    (void)take_u64(cursor); /* IP: the first of the callchain, or the program counter */
    record->pid = (pid_t)take_u32(cursor);
    record->tid = (pid_t)take_u32(cursor);
    record->time_ns = (int64_t)take_u64(cursor);
    record->period = take_u64(cursor);
    uint64_t count = take_u64(cursor);
    if (cursor->failed || count > (uint64_t)(cursor->end - cursor->at) / 8)
        return false;
    record->stack.callchain_count = count;
    record->stack.callchain = take(cursor, 8 * count);
    take_registers(cursor, &record->stack);
    take_stack(cursor, &record->stack);
    record->kind = PERF_KIND_SAMPLE;
    return !cursor->failed;
}

static bool decode_mapping(struct perf_record *record, struct cursor *cursor)
{
    struct perf_mapping *mapping = &record->mapping;
    record->pid = (pid_t)take_u32(cursor);
    record->tid = (pid_t)take_u32(cursor);
    mapping->start = take_u64(cursor);
    uint64_t size = take_u64(cursor);
    mapping->offset = take_u64(cursor);
    uint64_t major = take_u32(cursor), minor = take_u32(cursor);
    mapping->device = major << 32 | minor;
    mapping->inode = take_u64(cursor);
    (void)take_u64(cursor); /* the inode's generation */
    mapping->executable = (take_u32(cursor) & PROT_EXEC) != 0;
    (void)take_u32(cursor); /* flags */
    mapping->path = take_text(cursor);
    mapping->deleted = text_ends_with(mapping->path, TEXT(" (deleted)"));
    if (mapping->deleted)
        mapping->path = text_part(mapping->path, 0, mapping->path.size - 10);
    mapping->end = mapping->start + size;
    record->kind = PERF_KIND_MAPPING;
    return !cursor->failed && mapping->end > mapping->start;
}

static bool decode_name(struct perf_record *record, struct cursor *cursor, uint16_t misc)
{
    record->pid = (pid_t)take_u32(cursor);
    record->tid = (pid_t)take_u32(cursor);
    record->name = take_text(cursor);
    record->is_exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    record->kind = PERF_KIND_NAME;
    return !cursor->failed;
}

static bool decode_task(struct perf_record *record, struct cursor *cursor, enum perf_record_kind kind)
{
    record->pid = (pid_t)take_u32(cursor);
    record->parent_pid = (pid_t)take_u32(cursor);
    record->tid = (pid_t)take_u32(cursor);
    record->parent_tid = (pid_t)take_u32(cursor);
    record->kind = kind;
    return !cursor->failed;
}

static bool decode_lost(struct perf_record *record, struct cursor *cursor, bool has_id)
{
    if (has_id)
        (void)take_u64(cursor);
    record->lost = take_u64(cursor);
    record->kind = PERF_KIND_LOST;
    return !cursor->failed;
}

/* Whose switch it is stands at the end of the record. */
static void decode_switch(struct perf_record *record, const struct cursor *cursor, uint16_t misc)
{
    uint32_t numbers[2];
    memcpy(numbers, cursor->end, sizeof(numbers));
    record->pid = (pid_t)numbers[0];
    record->tid = (pid_t)numbers[1];
    record->kind = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0 ? PERF_KIND_SWITCH_OUT : PERF_KIND_SWITCH_IN;
    record->was_preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
}

bool perf_record_time(const unsigned char *bytes, size_t size, int64_t *time_ns)
{
    struct perf_event_header header;
    uint64_t time;
    if (size < sizeof(header))
        return false;
    memcpy(&header, bytes, sizeof(header));
    bool is_sample = header.type == PERF_RECORD_SAMPLE;
    if (size < sizeof(header) + (is_sample ? 24 : TAIL_BYTES))
        return false;
    /* In a sample behind IP, pid and tid. */
    memcpy(&time, is_sample ? bytes + sizeof(header) + 16 : bytes + size - 8, sizeof(time));
    *time_ns = (int64_t)time;
    return true;
}

bool perf_record_decode(struct perf_record *record, const unsigned char *bytes, size_t size)
{
    struct perf_event_header header;
    *record = (struct perf_record){.kind = PERF_KIND_OTHER};
    if (size < sizeof(header))
        return false;
    memcpy(&header, bytes, sizeof(header));
    struct cursor cursor = {.at = bytes + sizeof(header), .end = bytes + size};
    if (header.type == PERF_RECORD_SAMPLE)
        return decode_sample(record, &cursor);
    if (!perf_record_time(bytes, size, &record->time_ns))
        return false;
    cursor.end -= TAIL_BYTES;
    switch (header.type) {
    case PERF_RECORD_MMAP2:
        return decode_mapping(record, &cursor);
    case PERF_RECORD_COMM:
        return decode_name(record, &cursor, header.misc);
    case PERF_RECORD_FORK:
        return decode_task(record, &cursor, PERF_KIND_START);
    case PERF_RECORD_EXIT:
        return decode_task(record, &cursor, PERF_KIND_EXIT);
    case PERF_RECORD_LOST:
        return decode_lost(record, &cursor, true);
    case PERF_RECORD_LOST_SAMPLES:
        return decode_lost(record, &cursor, false);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        decode_switch(record, &cursor, header.misc);
        return true;
    case PERF_RECORD_THROTTLE:
        record->kind = PERF_KIND_THROTTLED;
        return true;
    default:
        return true;
    }
}

bool perf_record_decode_waking(struct perf_record *record, const unsigned char *bytes, size_t size,
                               const struct perf_waking_format *format)
{
    struct perf_event_header header;
    if (size < sizeof(header))
        return false;
    memcpy(&header, bytes, sizeof(header));
    if (header.type != PERF_RECORD_SAMPLE)
        return perf_record_decode(record, bytes, size);
    struct cursor cursor = {.at = bytes + sizeof(header), .end = bytes + size};
    *record = (struct perf_record){.kind = PERF_KIND_WAKING};
    (void)take_u64(&cursor); /* IP */
    record->pid = (pid_t)take_u32(&cursor);
    record->tid = (pid_t)take_u32(&cursor);
    record->time_ns = (int64_t)take_u64(&cursor);
    uint64_t length = take_u32(&cursor);
    const unsigned char *raw = take(&cursor, length);
    if (cursor.failed || format->flags >= length || length < sizeof(pid_t) ||
        format->pid > length - sizeof(pid_t))
        return false;
    record->is_interrupt = (raw[format->flags] & (FLAG_HARD_INTERRUPT | FLAG_SOFT_INTERRUPT)) != 0;
    memcpy(&record->woken_tid, raw + format->pid, sizeof(pid_t));
    return true;
}
