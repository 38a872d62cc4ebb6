/*
 * folded_line.h - one line of folded text, "outer;…;inner 12": its stack and its counts; and one frame of it.
 *
 * Dialects: FlameGraph and inferno (counts may be fractions, two of them in a difference), async-profiler (kinds as
 * "_[j]", lines as ":12"), py-spy ("function (file.py:12)").
 */
#ifndef FORMATS_FOLDED_LINE_H
#define FORMATS_FOLDED_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "model/profile.h"

enum folded_outcome {
    FOLDED_STACK,   /* all is set */
    FOLDED_NOTHING, /* blank, or a comment */
    FOLDED_UNKNOWN, /* no count at its end */
    FOLDED_BAD,     /* an invalid count; *error has the reason, without the line's number */
};

struct folded_line {
    struct text_view stack;
    double counts[2]; /* the second one only where two are asked for */
};

enum folded_outcome folded_line_parse(struct text_view line, bool two_counts, struct folded_line *parsed,
                                      struct error *error);

/* Fast path for the usual form: a stack, one blank, a whole number. False: not in this form. */
static inline bool folded_line_parse_usual(struct text_view line, struct folded_line *parsed)
{
    uint64_t number = 0, scale = 1;
    const char *at = line.data + line.size;
    size_t most = line.size < 16 ? line.size : 16;
    for (size_t i = 0; i < most; i++) {
        unsigned digit = (unsigned)((unsigned char)*--at - '0');
        if (digit > 9) {
            if (i == 0 || *at != ' ' || at == line.data || at[-1] <= ' ' || line.data[0] == '#')
                return false;
            parsed->stack = (struct text_view){line.data, (size_t)(at - line.data)};
            parsed->counts[0] = (double)number;
            return true;
        }
        number += digit * scale;
        scale *= 10;
    }
    return false;
}

/* The frame that this text of a stack means; NO_FRAME: out of memory. Different texts give different frames. Without
 * needs_lines file and line stay in the name, so that a picture shows what the text has. */
uint32_t folded_frame(struct profile *profile, struct text_view text, bool needs_lines) MUST_CHECK;

#endif
