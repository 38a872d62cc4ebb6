/*
 * reader.h - the interface of a file format for reading: one struct reader per format, listed in reader_table.def.
 * The readers are constants; one may read several files at once on different threads, each into its own profile.
 */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "input/byte_source.h"
#include "model/profile.h"

/* Bytes that recognizes() may look at. */
#define READER_HEAD_BYTES ((size_t)64 << 10)
/* Frames of one stack beyond which the outermost are kept and the rest is cut, with a notice. */
#define READER_DEPTH_LIMIT ((size_t)1 << 20)

/* Events of a file that were not read, since another one was asked for. */
#define PASSED_EVENT_LIMIT 16
struct passed_events {
    char names[PASSED_EVENT_LIMIT][48];
    size_t count;
};

/* What becomes of a file's profile, of which nothing else is read into it: part of a sum. */
struct sum_options {
    bool labels;   /* are kept */
    bool stitches; /* stacks of Python go below those of their tasks before */
};

struct read_options {
    size_t threads;        /* at least 1 */
    bool needs_lines;      /* else frames may lack file and line, which merges more */
    bool needs_contexts;   /* else threads, states and labels may be left out */
    bool joins_java_kinds; /* interpreted, compiled and inlined code of one method may be one frame */
    bool may_list_stacks;  /* the profile's stacks may be left in a list (profile.h) */
    bool needs_order;      /* samples without a time stay apart and in the order of the file, for charts */
    const struct sum_options
        *sum; /* NULL: no sum. Else formats that have exact weights give them (profile.exact). */
    /* Only this event ("cpu", "alloc", …) is wanted; empty: all. A reader may ignore it. */
    struct text_view event;
    struct passed_events *passed_events; /* gets the names of the others; may be NULL */
    const struct perf_options *perf;     /* for `perf script` text only; NULL: its defaults */
    /* Prints a notice for the user in one line; not an error. May be NULL. Readers call it
     * without the file's name, which read_profile() puts before it. */
    void (*notice)(void *context, const char *text);
    void *notice_context;
};

/* A format that may be read. */
struct reader {
    const char *name;
    const char *summary;
    bool is_in_logs; /* its records may stand among lines of a log */
    /* How sure it is that this is its format, from the first bytes: 0 no, 100 certain. */
    int (*recognizes)(struct text_view head);
    /* Adds the file's samples to the profile. On failure *error has the place (offset or line) and the reason,
     * without the file's name, and the profile keeps what was read before. */
    bool (*read)(struct byte_source *source, const struct read_options *options, struct profile *profile,
                 struct error *error);
    /* Reads both sides of a difference at once, as the events "before" and "after"; NULL: cannot. */
    bool (*read_pair)(struct byte_source *const sources[2], const struct read_options *options,
                      struct profile *profile, struct error *error);
};

/* All readers, ended by NULL. */
extern const struct reader *const readers[];
const struct reader *reader_by_name(struct text_view name);
/* The most certain one; NULL: unknown format. */
const struct reader *reader_recognize(struct text_view head);

/* For readers: prints a notice, if notices are wanted. */
void reader_notice(const struct read_options *options, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same for stacks that were cut at READER_DEPTH_LIMIT, if any. */
void reader_notice_cut(const struct read_options *options, uint64_t stacks);

/* For readers: there is such an event, and it is not wanted. One thread at a time. */
void reader_pass_event(const struct read_options *options, struct text_view name);

/* Reads one file ("-": standard input), or all files below a folder, and adds them to the profile. `format` NULL: by
 * content. In a folder, files of unknown formats are skipped with a notice; elsewhere they are an error. */
bool read_profile(const char *path, const struct reader *format, const struct read_options *options,
                  struct profile *profile, struct error *error) MUST_CHECK;

/* The same for a file in memory. */
bool read_profile_bytes(struct text_view bytes, const char *name, const struct reader *format,
                        const struct read_options *options, struct profile *profile,
                        struct error *error) MUST_CHECK;

/* Reads the two files of a difference at once, when one reader can; else sets *done to false and reads nothing. */
bool read_profile_pair(char *const paths[2], const struct reader *format, const struct read_options *options,
                       struct profile *profile, bool *done, struct error *error) MUST_CHECK;

#endif
