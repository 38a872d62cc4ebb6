/*
 * output.h - buffered writing to a file (created atomically), a descriptor, memory, or a function.
 *
 * A file is written under "PATH.part-" and six characters, and output_finish() syncs and renames it. Without
 * output_finish() the partial file is removed by output_release(). The name "-" is standard output. A path that
 * exists and is not a regular file (a pipe, /dev/null) is written directly. After the first failed write further ones
 * do nothing, and output_finish() reports the error.
 *
 * Owns: its buffer, descriptor and temporary file, until output_release().
 * Threads: one at a time.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"

struct output {
    int descriptor;                                             /* -1: memory, or a function */
    struct text_builder *memory;                                /* set for output_open_memory() */
    void (*take)(void *context, const void *data, size_t size); /* set for output_open_taker() */
    void *take_context;
    char *buffer;
    size_t used;
    uint64_t written_bytes; /* flushed so far */
    char *path;
    char *temporary_path;
    bool close_descriptor;
    bool failed;
    struct error failure;
};

/* Mode of new files: 0600, since stacks, names and options of a program are private, or SPARKFLAME_FILE_MODE of the
 * environment. */
mode_t output_file_mode(void);
/* A file of this user that is replaced keeps its mode. */
bool output_open(struct output *output, const char *path, struct error *error) MUST_CHECK;
/* True if output_open() can write there; leaves no file. For checks before long work. */
bool output_check(const char *path, struct error *error) MUST_CHECK;
bool output_open_descriptor(struct output *output, int descriptor, struct error *error) MUST_CHECK;
/* Appends to the builder, which the caller owns and which must outlive the output. */
bool output_open_memory(struct output *output, struct text_builder *builder, struct error *error) MUST_CHECK;
/* Passes what is written to `take`, in large pieces. */
bool output_open_taker(struct output *output, void (*take)(void *context, const void *data, size_t size),
                       void *context, struct error *error) MUST_CHECK;
/* Flushes and fsyncs, so that output_finish() only has the renaming left: for several files that belong together. The
 * output must still be finished or released. */
bool output_complete(struct output *output, struct error *error) MUST_CHECK;
/* Flushes, fsyncs, renames. The first error of the whole output is reported here. */
bool output_finish(struct output *output, struct error *error) MUST_CHECK;
void output_release(struct output *output);

void output_write(struct output *output, const void *data, size_t size);
void output_text(struct output *output, struct text_view text);
void output_c_string(struct output *output, const char *text);
void output_byte(struct output *output, char byte);
void output_u64(struct output *output, uint64_t number);
void output_i64(struct output *output, int64_t number);
void output_format(struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);
/* At least `size` (≤ OUTPUT_ROOM_BYTES) writable bytes; output_took() sets how many were used. */
char *output_room(struct output *output, size_t size);
static inline void output_took(struct output *output, size_t size)
{
    output->used += size;
}

#define OUTPUT_ROOM_BYTES 4096

/* Bytes given to the output so far, flushed or not. */
static inline uint64_t output_position(const struct output *output)
{
    return output->written_bytes + output->used;
}

#endif
