#include "formats/perf_data/perf_data_file.h"

#include "symbols/perf_registers.h"

#define BRANCH_BYTES 24

/* What the kernel counted in the event's group. */
static void skip_read(struct perf_data_cursor *cursor, uint64_t format)
{
    uint64_t times =
        !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
    uint64_t count = format & PERF_FORMAT_GROUP ? perf_data_take_u64(cursor) : 1;
    if (count > cursor->rest.size / 8)
        cursor->failed = true;
    else
        (void)perf_data_take(cursor, 8 * (times + each * count));
}

/* Where several events are recorded, samples start with the event's id, or have it at the same place in all. */
static uint64_t find_event(const struct perf_data_file *file, const struct perf_data_record *record)
{
    uint64_t type = file->events[0].sample_type, at = 0, id;
    if (file->event_count == 1 || (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) == 0)
        return 0;
    if ((type & PERF_SAMPLE_IDENTIFIER) == 0)
        at = 8 * (uint64_t)(!!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID) +
                            !!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ADDR));
    if (record->body.size < at + sizeof(id))
        return 0;
    memcpy(&id, record->body.data + at, sizeof(id));
    uint32_t event = id_map_get(&file->ids, id);
    return event == NO_ID ? 0 : event;
}

static void take_fields(struct perf_data_cursor *cursor, struct perf_data_sample *sample, uint64_t type)
{
    if (type & PERF_SAMPLE_IDENTIFIER)
        (void)perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_IP)
        sample->ip = perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_TID) {
        sample->pid = perf_data_take_u32(cursor);
        sample->tid = perf_data_take_u32(cursor);
    }
    if (type & PERF_SAMPLE_TIME)
        sample->time_ns = perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_ADDR)
        (void)perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_ID)
        (void)perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_STREAM_ID)
        (void)perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_CPU)
        (void)perf_data_take_u64(cursor);
    if (type & PERF_SAMPLE_PERIOD)
        sample->period = perf_data_take_u64(cursor);
}

static void skip_raw_and_branches(struct perf_data_cursor *cursor, const struct perf_data_event *event)
{
    if (event->sample_type & PERF_SAMPLE_RAW)
        (void)perf_data_take(cursor, perf_data_take_u32(cursor));
    if ((event->sample_type & PERF_SAMPLE_BRANCH_STACK) == 0)
        return;
    uint64_t count = perf_data_take_u64(cursor);
    if (event->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        (void)perf_data_take_u64(cursor);
    if (count > cursor->rest.size / BRANCH_BYTES)
        cursor->failed = true;
    else
        (void)perf_data_take(cursor, BRANCH_BYTES * count);
}

static void take_registers(struct perf_data_cursor *cursor, struct perf_data_sample *sample, uint64_t mask)
{
    uint64_t abi = perf_data_take_u64(cursor);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    for (unsigned number = 0; number < 64; number++) {
        if ((mask >> number & 1) == 0)
            continue;
        uint64_t value = perf_data_take_u64(cursor);
        if (number == PERF_REGISTER_FP)
            sample->fp = value;
        if (number == PERF_REGISTER_SP)
            sample->sp = value;
        if (number == PERF_REGISTER_PC)
            sample->pc = value;
        if (number == PERF_REGISTER_LINK)
            sample->link = value;
    }
    sample->has_registers =
        abi == PERF_SAMPLE_REGS_ABI_64 && (mask & PERF_RECORD_REGISTERS) == PERF_RECORD_REGISTERS;
}

/* The room for the copy, and behind it how much of it the kernel could copy. */
static void take_stack(struct perf_data_cursor *cursor, struct perf_data_sample *sample)
{
    uint64_t size = perf_data_take_u64(cursor);
    if (size == 0)
        return;
    sample->stack = perf_data_take(cursor, size);
    sample->stack = text_part(sample->stack, 0, perf_data_take_u64(cursor));
}

bool perf_data_sample(const struct perf_data_file *file, const struct perf_data_record *record,
                      struct perf_data_sample *sample)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    *sample = (struct perf_data_sample){.event_number = find_event(file, record)};
    const struct perf_data_event *event = &file->events[sample->event_number];
    sample->event = event;
    sample->period = event->has_frequency || event->period == 0 ? 1 : event->period;
    take_fields(&cursor, sample, event->sample_type);
    if (event->sample_type & PERF_SAMPLE_READ)
        skip_read(&cursor, event->read_format);
    if (event->sample_type & PERF_SAMPLE_CALLCHAIN) {
        uint64_t count = perf_data_take_u64(&cursor);
        if (count > cursor.rest.size / 8)
            return false;
        sample->callchain = perf_data_take(&cursor, 8 * count);
    }
    if ((event->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)) == 0)
        return !cursor.failed;
    skip_raw_and_branches(&cursor, event);
    if (event->sample_type & PERF_SAMPLE_REGS_USER)
        take_registers(&cursor, sample, event->registers);
    if (event->sample_type & PERF_SAMPLE_STACK_USER)
        take_stack(&cursor, sample);
    return !cursor.failed;
}
