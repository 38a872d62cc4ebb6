#include "formats/folded/folded_difference.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/utf8.h"
#include "input/byte_source.h"
#include "formats/folded/folded_head.h"
#include "formats/folded/folded_lines.h"
#include "formats/number_text.h"
#include "formats/reader.h"

/* Written pages of a file are released in batches of this many. */
#define DROP_BYTES ((size_t)1 << 20)

struct folded_difference {
    struct byte_source *sources[2];
    struct folded_table table;
    struct text_view *texts; /* of each stack of the table, in the mapped files */
    size_t text_count;
    size_t text_capacity;
    size_t first_side_count; /* so many are in the first file */
};

/* What writing a profile would change: bytes below ' ', broken UTF-8, kinds of frames ("_[j]"), and too many frames.
 * Without branches, so that the compiler looks at many bytes at once. */
static bool is_plain(struct text_view stack)
{
    unsigned char least = 255, most = 0, has_kind = 0;
    if (stack.size == 0 || stack.size >= READER_DEPTH_LIMIT)
        return false;
    for (size_t i = 0; i + 1 < stack.size; i++) {
        unsigned char byte = (unsigned char)stack.data[i];
        least = byte < least ? byte : least;
        most = byte > most ? byte : most;
        has_kind |= (stack.data[i] == '_') & (stack.data[i + 1] == '[');
    }
    unsigned char last = (unsigned char)stack.data[stack.size - 1];
    bool is_ascii = most < 128 && last < 128;
    return least >= ' ' && last >= ' ' && !has_kind && (is_ascii || utf8_is_valid(stack));
}

static uint32_t add_text(void *context, struct text_view stack)
{
    struct folded_difference *difference = context;
    if (!is_plain(stack) || !array_reserve(&difference->texts, &difference->text_capacity,
                                           difference->text_count + 1, NO_FOLDED_NUMBER))
        return NO_FOLDED_NUMBER;
    difference->texts[difference->text_count] = stack;
    return (uint32_t)difference->text_count++;
}

/* Texts are read again when they are written, so they must not move. */
static struct byte_source *open_mapped(const char *path)
{
    struct error error = {0};
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    struct byte_source *source = byte_source_open(path, &error);
    if (source == NULL)
        return NULL;
    struct text_view head = text_part(byte_source_peek(source, 0, &error), 0, READER_HEAD_BYTES);
    if (byte_source_is_mapped(source) && reader_recognize(head) == reader_by_name(TEXT("folded")) &&
        !folded_head_begin(source, &error))
        return source;
    byte_source_close(source);
    return NULL;
}

static bool read_side(struct folded_difference *difference, size_t side, const char *path, size_t threads)
{
    struct error error = {0};
    struct folded_lines lines = {
        .table = &difference->table, .threads = threads, .sides.is_after = side == 1};
    difference->sources[side] = open_mapped(path);
    return difference->sources[side] != NULL &&
           folded_lines_read(&lines, difference->sources[side], &error) && lines.counts.stacks > 0 &&
           lines.counts.unknown_lines == 0;
}

struct folded_difference *folded_difference_new(char *const paths[2], size_t threads)
{
    struct folded_difference *difference = calloc(1, sizeof(*difference));
    if (difference == NULL)
        return NULL;
    bool good = folded_table_init(&difference->table, add_text, difference) &&
                read_side(difference, 0, paths[0], threads);
    difference->first_side_count = difference->text_count;
    if (good && read_side(difference, 1, paths[1], threads))
        return difference;
    folded_difference_free(difference);
    return NULL;
}

void folded_difference_free(struct folded_difference *difference)
{
    folded_table_release(&difference->table);
    free(difference->texts);
    for (size_t side = 0; side < 2; side++)
        byte_source_close(difference->sources[side]);
    free(difference);
}

static void write_side(const struct folded_difference *difference, size_t from, size_t to,
                       const struct byte_source *source, struct output *output)
{
    const char *kept = from < to ? difference->texts[from].data : NULL;
    for (size_t i = from; i < to; i++) {
        const struct folded_stack *stack = &difference->table.stacks[i];
        struct text_view text = difference->texts[i];
        if ((size_t)(text.data - kept) > DROP_BYTES) {
            byte_source_drop(source, (struct text_view){kept, (size_t)(text.data - kept)});
            kept = text.data;
        }
        if (stack->counts[0] == 0 && stack->counts[1] == 0)
            continue;
        output_text(output, text);
        for (size_t side = 0; side < 2; side++) {
            output_byte(output, ' ');
            number_text_write_digits(output, stack->counts[side]);
        }
        output_byte(output, '\n');
    }
}

void folded_difference_write(const struct folded_difference *difference, struct output *output)
{
    size_t middle = difference->first_side_count;
    write_side(difference, 0, middle, difference->sources[0], output);
    write_side(difference, middle, difference->table.size, difference->sources[1], output);
}
