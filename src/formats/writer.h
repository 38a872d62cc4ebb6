/*
 * writer.h - the interface of a file format for writing: one struct writer per format, listed in writer_table.def.
 */
#ifndef FORMATS_WRITER_H
#define FORMATS_WRITER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/output.h"
#include "base/text_view.h"
#include "model/frame_name.h"
#include "model/profile.h"
#include "model/weight.h"

struct write_options {
    struct name_style names;
    enum weight weight;
    /* The event that formats with a single event write; if it has no samples, the first that has. */
    uint32_t event;
    const char *command_line; /* for formats that hold it; NULL */
    const char *table;        /* which one, of formats with tables; NULL: the first */
    uint64_t max_nodes;       /* of formats that leave out the smallest; 0: none */
};

struct writer {
    const char *name;
    const char *summary;
    /* File name extensions without the first dot, blank-separated: "folded collapsed txt". */
    const char *extensions;
    /* What files of this format can hold; the rest need not be read. */
    bool holds_times;
    bool holds_labels; /* threads and states too */
    bool holds_lines;
    bool holds_kinds;         /* of one method's code: interpreted, compiled, inlined */
    bool one_event;           /* nothing but write_options.event */
    bool is_text;             /* may be written to a terminal */
    bool is_packed;           /* by gzip, whatever the file is called */
    bool takes_listed_stacks; /* of a profile whose stacks are not in its tree */
    /* Blank-separated names, when it is made of tables, each of which is a file; NULL. They follow the numbers of the
     * profile, which are those of canonical.h then. */
    const char *tables;
    bool (*write)(const struct profile *profile, const struct write_options *options, struct output *output,
                  struct error *error);
};

/* All writers, ended by NULL. */
extern const struct writer *const writers[];
const struct writer *writer_by_name(struct text_view name);
/* By the extension of the path, ignoring a final ".gz" (packed_output.h). NULL: none. */
const struct writer *writer_by_path(const char *path);

#endif
