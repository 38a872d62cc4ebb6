/*
 * perf_line.h - the two kinds of lines of `perf script` text: the header of a sample, and one frame of its stack.
 *
 *     java 24636/25607 [000] 4794564.109216:     10309 cycles:u:
 *         7f533952bc77 _dl_check_map_versions+0x597 (/usr/lib/ld-2.28.so)
 *
 * In the header all but name and thread may be missing. A sample with one frame may have it on its first line.
 */
#ifndef FORMATS_PERF_LINE_H
#define FORMATS_PERF_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

struct perf_header {
    struct text_view command; /* the thread's name; may hold blanks */
    struct text_view process; /* empty when the line has one number only */
    struct text_view thread;
    struct text_view event; /* with its modifiers: "cycles:u"; may be empty */
    int64_t time_ns;        /* NO_TIME */
    uint64_t period;        /* 1 when the line has none */
    struct text_view rest;  /* what follows the event */
};

struct perf_frame {
    struct text_view address;
    struct text_view function; /* without its offset; "[unknown]" and " " occur */
    struct text_view module;   /* without its brackets; may be empty */
};

bool perf_header_parse(struct text_view line, struct perf_header *header);
bool perf_frame_parse(struct text_view line, struct perf_frame *frame);

/* "[kernel.kallsyms]", "[nf_conntrack]", a vmlinux of any version, a module file. */
bool perf_module_is_kernel(struct text_view module);
/* A map that a just-in-time compiler wrote for perf. */
bool perf_module_is_jit(struct text_view module);
/* Appends the function for display: without arguments, quotes, Rust's hashes and Java's 'L', ':' for ';', the
 * module's name for an unknown one (optionally with its address). */
void perf_function_add(struct text_builder *text, const struct perf_frame *frame, struct text_view function,
                       bool with_address, bool is_java);

#endif
