#include "spark/log/log_piece.h"

#include <stdlib.h>

#include "base/array.h"
#include "input/line_reader.h"

/* Each byte of a piece may be stored several times, in several forms. */
#define TEXTS_LIMIT_BYTES ((size_t)1 << 30)

/* Views into the piece stay, others are copied. */
static bool keep(struct log_piece *piece, struct text_view *text)
{
    uintptr_t at = (uintptr_t)text->data, begin = (uintptr_t)piece->text.data;
    if (text->size == 0 || (at >= begin && at < begin + piece->text.size))
        return true;
    *text = arena_copy_text(&piece->texts, *text);
    return text->data != NULL;
}

static struct log_entry *add_entry(struct log_piece *piece)
{
    if (!array_reserve(&piece->entries, &piece->entry_capacity, piece->entry_count + 1, UINT32_MAX))
        return NULL;
    return &piece->entries[piece->entry_count++];
}

static bool take_record(void *context, const struct log_record *record, struct error *error)
{
    struct log_piece *piece = context;
    struct log_entry *entry = add_entry(piece);
    if (entry == NULL)
        return error_set_memory(error);
    *entry = (struct log_entry){.record = *record, .container = TEXT(""), .host = TEXT("")};
    struct log_head *head = &entry->record.head;
    bool good = keep(piece, &head->thread) && keep(piece, &head->logger) && keep(piece, &head->message) &&
                keep(piece, &entry->record.more) &&
                log_entry_work_out(entry, piece->options, &piece->scratch, &piece->texts);
    return good || error_set_memory(error);
}

static bool take_container(void *context, struct text_view id, struct text_view host, struct error *error)
{
    struct log_entry *entry = add_entry(context);
    if (entry == NULL)
        return error_set_memory(error);
    *entry = (struct log_entry){.container = id, .host = host};
    return true;
}

void log_piece_init(struct log_piece *piece, const struct spark_log_options *options)
{
    *piece = (struct log_piece){.options = options};
    log_reader_init(&piece->reader, &(struct log_handler){.context = piece,
                                                          .pattern = options->pattern,
                                                          .shows_secrets = options->shows_secrets,
                                                          .record = take_record,
                                                          .container = take_container});
    text_builder_init(&piece->scratch, LOG_SCRATCH_BYTES);
    arena_init(&piece->texts, TEXTS_LIMIT_BYTES);
}

void log_piece_release(struct log_piece *piece)
{
    log_reader_release(&piece->reader);
    text_builder_release(&piece->scratch);
    arena_release(&piece->texts);
    free(piece->entries);
    *piece = (struct log_piece){.entries = NULL};
}

void log_piece_prepare(struct log_piece *piece, struct text_view text)
{
    struct log_reader *reader = &piece->reader;
    size_t front_bytes = 0, last_entry_at = 0;
    piece->text = text;
    piece->entry_count = 0;
    piece->front_lines = 0;
    piece->error.code = ERROR_NONE;
    arena_reset(&piece->texts);
    log_reader_begin_inside(reader);
    while (text.size > 0) {
        size_t at = (size_t)(text.data - piece->text.data);
        if (!log_reader_take(reader, line_cut(&text), &piece->error))
            return;
        if (reader->is_inside) {
            front_bytes = (size_t)(text.data - piece->text.data);
            piece->front_lines++;
        } else if (reader->is_open && reader->first_line == reader->line)
            last_entry_at = at;
    }
    piece->front = text_part(piece->text, 0, front_bytes);
    piece->tail = text_from(piece->text, reader->is_open ? last_entry_at : piece->text.size);
    piece->lines_before_tail = reader->is_open ? reader->first_line - 1 : reader->line;
}
