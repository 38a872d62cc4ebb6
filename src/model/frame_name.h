/*
 * frame_name.h - the text of a frame, in the chosen style.
 */
#ifndef MODEL_FRAME_NAME_H
#define MODEL_FRAME_NAME_H

#include <stdbool.h>

#include "base/text_builder.h"
#include "model/profile.h"

struct name_style {
    bool lines;     /* "method:12", and "function (file.py:12)" for Python */
    bool files;     /* "function (file.py)" for Python, without the folder; lines say it, too */
    bool kinds;     /* with the suffix of the kind: "_[j]" */
    bool readable;  /* lambdas, hidden and generated classes shortened */
    bool dots;      /* "java.lang.String" instead of "java/lang/String" */
    bool simple;    /* class names without their package */
    bool normalize; /* without numbers of lambdas, hidden classes and generated accessors, to compare runs */
};

/* True for the frames that name_style.files names the file of. */
bool frame_is_of_python_file(const struct profile *profile, const struct frame *frame);
/* True if the text of every frame is its unmodified name. */
bool name_style_is_plain(const struct name_style *style);
/* Appends the text of the frame. */
void frame_name_add(const struct profile *profile, uint32_t frame, const struct name_style *style,
                    struct text_builder *text);

#endif
