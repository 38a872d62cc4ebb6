/*
 * fuzz_perf_record.c - gives libFuzzer's input, as records of perf events, to the decoder, to the table of processes,
 * to the times of threads and to the walker.
 */
#include <stdlib.h>
#include <string.h>

#include "native_sampler/native_walk.h"
#include "native_sampler/process_table.h"
#include "native_sampler/thread_times.h"

#define RECORD_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Records come one after the other, each with its size in the header. */
static const uint8_t *next_record(const uint8_t **at, const uint8_t *end, size_t *size)
{
    struct perf_event_header header;
    const uint8_t *record = *at;
    if ((size_t)(end - record) < sizeof(header))
        return NULL;
    memcpy(&header, record, sizeof(header));
    *size = header.size < sizeof(header) ? sizeof(header) : header.size;
    if (*size > (size_t)(end - record))
        *size = (size_t)(end - record);
    *at += *size;
    return record;
}

static bool check_interval(void *context, const struct thread_interval *interval)
{
    (void)context;
    return interval->duration_ns > 0;
}

static bool follow_thread(struct thread_times *times, const struct perf_record *record)
{
    int64_t time_ns = record->time_ns & INT32_MAX; /* as if the machine had just started */
    switch (record->kind) {
    case PERF_KIND_SAMPLE:
        return (record->period & 1) != 0
                   ? thread_times_wait_stack(times, record->pid, record->tid, time_ns, 1)
                   : thread_times_sample(times, record->pid, record->tid, time_ns, 1);
    case PERF_KIND_START:
        return thread_times_start(times, record->pid, record->tid);
    case PERF_KIND_EXIT:
        return thread_times_exit(times, record->tid, time_ns);
    case PERF_KIND_NAME:
        return !record->is_exec || thread_times_exec(times, record->pid, record->tid, time_ns);
    case PERF_KIND_SWITCH_IN:
        return thread_times_switch_in(times, record->pid, record->tid, time_ns);
    case PERF_KIND_SWITCH_OUT:
        return thread_times_switch_out(times, record->pid, record->tid, time_ns, record->was_preempted);
    default:
        return true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct native_walk walk;
    static struct process_image image;
    struct profile profile;
    struct process_table table;
    struct thread_times times;
    struct perf_record record;
    size_t record_size;
    if (!profile_init(&profile, false, NULL))
        abort();
    process_table_init(&table, &profile);
    process_image_init(&image, INT32_MAX);
    thread_times_init(&times, check_interval, NULL);
    table.whole_machine = true;
    const uint8_t *end = data + size;
    for (const uint8_t *at = data, *bytes; (bytes = next_record(&at, end, &record_size)) != NULL;) {
        if (!perf_record_decode(&record, bytes, record_size))
            continue;
        record.pid |= 1 << 29; /* no process has such numbers */
        record.parent_pid |= 1 << 29;
        if (record.kind != PERF_KIND_SAMPLE && !process_table_apply(&table, &record, 1))
            abort();
        if (!follow_thread(&times, &record))
            abort();
        if (record.kind == PERF_KIND_MAPPING && record.mapping.executable)
            (void)process_image_map(&image, &table.files, &record.mapping);
        if (record.kind == PERF_KIND_SAMPLE)
            native_walk(&walk, &image, &table.files, &record.stack, 1);
    }
    if (!thread_times_finish(&times, INT32_MAX))
        abort();
    thread_times_release(&times);
    process_image_release(&image);
    process_table_release(&table);
    profile_release(&profile);
    return 0;
}
