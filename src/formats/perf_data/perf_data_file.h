/*
 * perf_data_file.h - the records of a perf.data file: from a file or a pipe, compressed or not, in the order of time.
 *
 * The file may be damaged or made up: every size and offset is checked. Described by the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h.
 *
 * Owns: the index of records and decompressed ones, until perf_data_release(). The bytes are the caller's.
 * Threads: one at a time.
 * Limit: PERF_DATA_EXPANDED_BYTES of decompressed records.
 */
#ifndef FORMATS_PERF_DATA_FILE_H
#define FORMATS_PERF_DATA_FILE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/text_builder.h"
#include "base/text_view.h"

#define PERF_DATA_EXPANDED_BYTES ((size_t)8 << 30)
#define PERF_DATA_EVENT_LIMIT 256
#define PERF_DATA_NAME_BYTES 64

/* One of the events that were recorded, and what its samples hold. */
struct perf_data_event {
    uint64_t sample_type, read_format, config, period;
    uint64_t branch_type, registers; /* masks */
    uint32_t type;
    bool sample_id_all, has_frequency;
    char name[PERF_DATA_NAME_BYTES];
};

struct perf_data_place {
    uint64_t time_ns;
    uint64_t place; /* in the bytes, or in the decompressed ones */
};

struct perf_data_file {
    struct text_view bytes;
    struct text_builder expanded;
    struct perf_data_event events[PERF_DATA_EVENT_LIMIT];
    size_t event_count;
    struct id_map ids; /* of events */
    struct perf_data_place *records;
    size_t count, capacity;
    struct text_view build_ids; /* the feature's section */
    char release[65];           /* of the kernel; "" when unknown */
    bool is_of_other_machine;   /* whose registers have other numbers */
    bool was_cut;               /* the last record is not whole */
};

struct perf_data_record {
    struct perf_event_header header;
    struct text_view body; /* behind the header */
    uint64_t time_ns;
};

struct perf_data_sample {
    const struct perf_data_event *event;
    uint64_t event_number;
    uint64_t ip, time_ns, period;
    uint32_t pid, tid;
    struct text_view callchain; /* u64s */
    bool has_registers;         /* of 64-bit user code */
    uint64_t pc, sp, fp, link;
    struct text_view stack; /* a copy, from sp up */
};

bool perf_data_recognizes(struct text_view head);
/* Release it in any case. */
bool perf_data_open(struct perf_data_file *file, struct text_view bytes, struct error *error) MUST_CHECK;
void perf_data_release(struct perf_data_file *file);
struct perf_data_record perf_data_record_at(const struct perf_data_file *file, size_t index);
/* False: damaged. */
bool perf_data_sample(const struct perf_data_file *file, const struct perf_data_record *record,
                      struct perf_data_sample *sample) MUST_CHECK;

/* Reads forward; past the end it gives 0 and sets failed. */
struct perf_data_cursor {
    struct text_view rest;
    bool failed;
};

struct text_view perf_data_take(struct perf_data_cursor *cursor, uint64_t size);
uint64_t perf_data_take_u64(struct perf_data_cursor *cursor);
uint32_t perf_data_take_u32(struct perf_data_cursor *cursor);
/* Up to the first zero byte; takes all that is left. */
struct text_view perf_data_take_text(struct perf_data_cursor *cursor);

#endif
