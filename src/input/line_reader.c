#include "input/line_reader.h"

/* Bytes of `view` up to and with its last line end within the first `most`; 0 when there is none. */
static size_t whole_lines(struct text_view view, size_t most)
{
    struct text_view front = text_part(view, 0, most);
    const char *last = front.size == 0 ? NULL : memrchr(front.data, '\n', front.size);
    return last == NULL ? 0 : (size_t)(last - front.data) + 1;
}

/* A line longer than a block: looks on for its end. */
static size_t long_line(struct text_view view, size_t from)
{
    size_t most = view.size < LINE_LIMIT_BYTES ? view.size : LINE_LIMIT_BYTES;
    const char *end = most <= from ? NULL : memchr(view.data + from, '\n', most - from);
    return end == NULL ? 0 : (size_t)(end - view.data) + 1;
}

struct text_view line_reader_front(struct text_view text, size_t size)
{
    const char *end = size >= text.size ? NULL : memchr(text.data + size, '\n', text.size - size);
    return end == NULL ? text : text_part(text, 0, (size_t)(end - text.data) + 1);
}

void line_reader_split(struct text_view text, size_t count, struct text_view *parts)
{
    for (size_t i = 0; i < count; i++) {
        parts[i] = line_reader_front(text, text.size / (count - i));
        text = text_from(text, parts[i].size);
    }
}

static struct text_view look_on(struct line_reader *reader, size_t wanted, struct error *error)
{
    return reader->is_part ? reader->part : byte_source_peek(reader->source, wanted, error);
}

static void pass_over(struct line_reader *reader, size_t size)
{
    if (size == 0)
        return;
    if (byte_source_is_mapped(reader->source)) {
        struct text_view rest = reader->is_part ? reader->part : byte_source_peek(reader->source, 0, NULL);
        byte_source_drop(reader->source, text_part(rest, 0, size));
    }
    if (reader->is_part)
        reader->part = text_from(reader->part, size);
    else
        byte_source_skip(reader->source, size);
}

bool line_reader_next(struct line_reader *reader, struct text_view *block, struct error *error)
{
    pass_over(reader, reader->last_bytes);
    reader->last_bytes = 0;
    *block = (struct text_view){"", 0};
    if (reader->failed)
        return false;
    for (size_t wanted = LINE_BLOCK_BYTES, seen = 0;;) {
        struct text_view view = look_on(reader, wanted, error);
        bool is_end = view.size < wanted;
        size_t size = seen == 0 ? whole_lines(view, LINE_BLOCK_BYTES) : 0;
        if (size == 0)
            size = long_line(view, seen);
        if (size == 0 && view.size > LINE_LIMIT_BYTES) {
            reader->failed = true;
            return error_set(error, ERROR_BAD_INPUT, "a line is longer than %zu MB", LINE_LIMIT_BYTES >> 20);
        }
        if (size == 0 && is_end)
            size = view.size;
        if (size > 0) {
            *block = text_part(view, 0, size);
            reader->last_bytes = size;
            return true;
        }
        if (is_end) {
            reader->failed = !reader->is_part && byte_source_failed(reader->source);
            return false;
        }
        seen = view.size;
        wanted = wanted > LINE_LIMIT_BYTES / 4 ? LINE_LIMIT_BYTES + 1 : wanted * 4;
    }
}
