/*
 * java_frame.h - one frame as Java prints it: "java.base@17.0.1/java.lang.Thread.run(Thread.java:840)".
 */
#ifndef FORMATS_JAVA_FRAME_H
#define FORMATS_JAVA_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

struct java_frame {
    struct text_view method; /* "java.lang.Thread.run", without loader and module */
    struct text_view file;   /* "Thread.java"; empty when unknown or native */
    uint32_t line;           /* 0: unknown */
};

/* Without "at " before it. False: not a frame. */
bool java_frame_parse(struct text_view text, struct java_frame *frame);
/* Appends the method as the model has it: "java/lang/Thread.run". */
void java_frame_add_name(struct text_builder *text, struct text_view method);

#endif
