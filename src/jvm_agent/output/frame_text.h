/*
 * frame_text.h - frames as text: "pkg/Cls.method", "arrayof_jint_fill", "[break_compiled]".
 *
 * Threads: one at a time; not in a handler.
 */
#ifndef JVM_AGENT_FRAME_TEXT_H
#define JVM_AGENT_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/vm/method_table.h"

struct frame_style {
    bool simple;     /* class names without packages */
    bool normal;     /* hidden classes without their numbers; addresses are always removed */
    bool signatures; /* with argument types */
    bool annotate;   /* suffixes _[j] compiled, _[i] inlined, _[0] interpreted, _[1] C1, _[k] kernel */
    bool library;    /* native frames with their library */
    bool dot;        /* java.lang.String instead of java/lang/String */
};

void frame_text_add(struct text_builder *builder, const struct method_table *methods, frame_word frame,
                    const struct frame_style *style);
void frame_text_add_method(struct text_builder *builder, const struct method *method,
                           const struct frame_style *style);
/* The leaf of an allocation or lock stack: "java.lang.String[]". */
void frame_text_add_class(struct text_builder *builder, struct text_view name,
                          const struct frame_style *style);
/* The name of a class without parts that differ between JVMs: "pkg/Main$$Lambda+0x00007f…" becomes
 * "pkg/Main$$Lambda". */
struct text_view frame_text_stable_class(struct text_view name, bool normal);
const char *frame_error_text(uint32_t error);
/* For frames of kind FRAME_POLICY. */
const char *frame_policy_text(uint32_t policy);

#endif
