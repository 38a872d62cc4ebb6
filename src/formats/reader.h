/*
 * reader.h - what a file format gives to be read: one struct reader per format, listed in reader_table.def.
 */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "formats/byte_source.h"
#include "model/profile.h"

/* Bytes that recognizes() may look at. */
#define READER_HEAD_BYTES ((size_t)64 << 10)
/* Frames of one stack beyond which the outermost are kept and the rest is cut, with a notice. */
#define READER_DEPTH_LIMIT ((size_t)1 << 20)

struct read_options {
    size_t threads;        /* at least 1 */
    bool needs_lines;      /* else frames may come without file and line, which merges more */
    bool needs_contexts;   /* else threads, states and labels may be left out */
    bool joins_java_kinds; /* interpreted, compiled and inlined code of one method may be one frame */
    bool may_list_stacks;  /* the profile's stacks may be left in a list (profile.h) */
    bool needs_order;      /* samples without a time stay apart and in the order of the file, for charts */
    /* Only this event ("cpu", "alloc", …) is wanted; empty: all. A reader may ignore it. */
    struct text_view event;
    /* `perf script` text, as stackcollapse-perf.pl has them. */
    struct {
        bool with_pid;
        bool with_tid;
        bool with_addresses;
        bool mark_kernel;
        bool mark_jit;
        const char *event_filter;
    } perf;
    /* Says something that the user should know and that is no error, in one line. May be NULL. Readers say it
     * without the file's name, which read_profile() puts before it. */
    void (*notice)(void *context, const char *text);
    void *notice_context;
};

/* A format that may be read. */
struct reader {
    const char *name;
    const char *summary;
    /* How sure it is that this is its format, from the first bytes: 0 no, 100 certain. */
    int (*recognizes)(struct text_view head);
    /* Adds the file's samples to the profile. On failure *error says where (offset or line) and why, without the
     * file's name, and the profile keeps what was read before. */
    bool (*read)(struct byte_source *source, const struct read_options *options, struct profile *profile,
                 struct error *error);
    /* Reads both sides of a difference at once, as the events "before" and "after"; NULL: cannot. */
    bool (*read_pair)(struct byte_source *const sources[2], const struct read_options *options,
                      struct profile *profile, struct error *error);
};

/* All readers, ended by NULL. */
extern const struct reader *const readers[];
const struct reader *reader_by_name(struct text_view name);
/* The surest one; NULL when none knows it. */
const struct reader *reader_recognize(struct text_view head);

/* For readers: gives a notice, if somebody wants it. */
void reader_notice(const struct read_options *options, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same of stacks that were cut at READER_DEPTH_LIMIT, if there were any. */
void reader_notice_cut(const struct read_options *options, uint64_t stacks);

/* Reads one file ("-": standard input), or all files below a folder, and adds them to the profile. `format` NULL: by
 * content. In a folder, files that no reader knows are passed over with a notice; elsewhere they are an error. */
bool read_profile(const char *path, const struct reader *format, const struct read_options *options,
                  struct profile *profile, struct error *error) MUST_CHECK;

/* Reads the two files of a difference at once, when one reader can; else sets *done to false and reads nothing. */
bool read_profile_pair(char *const paths[2], const struct reader *format, const struct read_options *options,
                       struct profile *profile, bool *done, struct error *error) MUST_CHECK;

#endif
