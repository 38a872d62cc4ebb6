/*
 * writer.h - what a file format gives to be written: one struct writer per format, listed in writer_table.def.
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
    /* The one that is written by formats that hold only one; when it has no samples, the first that has. */
    uint32_t event;
    const char *command_line; /* for formats that hold it; NULL */
};

struct writer {
    const char *name;
    const char *summary;
    /* File name endings without the first dot, blank-separated: "folded collapsed txt". */
    const char *extensions;
    bool is_packed;           /* by gzip, whatever the file is called */
    bool takes_listed_stacks; /* of a profile whose stacks are not in its tree */
    bool (*write)(const struct profile *profile, const struct write_options *options, struct output *output,
                  struct error *error);
};

/* All writers, ended by NULL. */
extern const struct writer *const writers[];
const struct writer *writer_by_name(struct text_view name);
/* By the ending of the path; a further ".gz" is passed over (packed_output.h). NULL when none fits. */
const struct writer *writer_by_path(const char *path);

#endif
