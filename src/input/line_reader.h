/*
 * line_reader.h - reads a text in blocks of complete lines, without copying.
 *
 *     struct line_reader reader = {.source = source};
 *     while (line_reader_next(&reader, &block, error))
 *         while (block.size > 0)
 *             line = line_cut(&block);
 *     if (byte_source_failed(source)) ...
 *
 * Owns: nothing; a block is valid until the next call.
 * Limit: LINE_LIMIT_BYTES for one line.
 */
#ifndef INPUT_LINE_READER_H
#define INPUT_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "input/byte_source.h"

#define LINE_LIMIT_BYTES ((size_t)128 << 20)
#define LINE_BLOCK_BYTES ((size_t)1 << 20)

struct line_reader {
    struct byte_source *source;
    size_t last_bytes;     /* of the block handed out, not yet skipped */
    bool failed;           /* error is set: a read error, or a line over the limit */
    bool is_part;          /* `part` is read, not the source */
    struct text_view part; /* what is left of it */
};

/* To read a part of a mapped source, from several threads if need be; it must end with a line end, or the source. */
static inline struct line_reader line_reader_of_part(struct byte_source *source, struct text_view part)
{
    return (struct line_reader){.source = source, .is_part = true, .part = part};
}

/* The first `size` bytes, or some more up to a line end. */
struct text_view line_reader_front(struct text_view text, size_t size);
/* Cuts the text in `count` parts of about equal size that end with line ends; some may be empty. */
void line_reader_split(struct text_view text, size_t count, struct text_view *parts);

/* The next complete lines; the last line may lack its end. False at the end, or with `failed` and *error set; data
 * before a read error is returned first. */
bool line_reader_next(struct line_reader *reader, struct text_view *block, struct error *error) MUST_CHECK;

/* Removes and returns the first line, without its LF or CR LF. */
static inline struct text_view line_cut(struct text_view *block)
{
    const char *end = memchr(block->data, '\n', block->size);
    size_t size = end == NULL ? block->size : (size_t)(end - block->data);
    struct text_view line = {block->data, size};
    size_t taken = end == NULL ? size : size + 1;
    block->data += taken;
    block->size -= taken;
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

#endif
