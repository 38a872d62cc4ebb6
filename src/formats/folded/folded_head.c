#include "formats/folded/folded_head.h"

#include "formats/folded/folded_line.h"
#include "input/line_reader.h"
#include "formats/reader.h"

struct folded_head folded_head_of(struct text_view head)
{
    struct folded_head lines = {0};
    bool whole = memchr(head.data, '\n', head.size) == NULL;
    while (head.size > 0) {
        struct text_view line = line_cut(&head);
        struct folded_line parsed;
        if (head.size == 0 && !whole && head.data[-1] != '\n')
            break;
        switch (folded_line_parse(line, false, &parsed, NULL)) {
        case FOLDED_NOTHING:
            continue;
        case FOLDED_UNKNOWN:
            lines.unknown++;
            continue;
        case FOLDED_STACK:
        case FOLDED_BAD:
            lines.stacks++;
        }
        lines.with_semicolon += text_find_byte(parsed.stack, ';') != TEXT_NOT_FOUND;
        enum folded_outcome outcome = folded_line_parse(line, true, &parsed, NULL);
        lines.with_two += outcome == FOLDED_STACK || outcome == FOLDED_BAD;
    }
    return lines;
}

bool folded_head_begin(struct byte_source *source, struct error *error)
{
    struct text_view head =
        text_part(byte_source_peek(source, READER_HEAD_BYTES, error), 0, READER_HEAD_BYTES);
    struct folded_head lines = folded_head_of(head);
    if (text_starts_with(head, TEXT("\xef\xbb\xbf")))
        byte_source_skip(source, 3);
    return lines.stacks > 0 && lines.with_two == lines.stacks;
}
