#include "formats/folded/folded_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ordered_work.h"
#include "input/line_reader.h"

/* Records at a time when one thread does all, so that they stay close to the processor. */
#define BATCH_RECORDS 256
/* What a thread takes apart at a time. */
#define PIECE_BYTES ((size_t)256 << 10)
/* Less than this is not worth a thread. */
#define SMALL_BYTES ((size_t)2 << 20)
#define MOST_THREADS 16
#define PIECES_PER_THREAD 4
/* Pages are given back so many bytes at a time. */
#define DROP_BYTES ((size_t)2 << 20)

struct folded_piece {
    struct text_view text;
    struct folded_batch batch;
};

/* Adds the content of a batch; *error has the place in the whole text. */
static bool take_batch(struct folded_lines *lines, const struct folded_batch *batch, struct error *error)
{
    if (!folded_table_add(lines->table, batch->records, batch->size))
        return error_set_memory(error);
    folded_counts_add(&lines->counts, &batch->counts);
    if (!batch->failed)
        return true;
    *error = batch->error;
    return error_prefix(error, "line %" PRIu64, lines->counts.lines);
}

static bool read_in_order(struct folded_lines *lines, struct byte_source *source, struct error *error)
{
    struct line_reader reader = {.source = source};
    struct folded_batch batch = {.records = NULL};
    struct text_view block;
    bool good = true;
    while (good && line_reader_next(&reader, &block, error)) {
        while (good && block.size > 0) {
            folded_batch_fill(&batch, &block, BATCH_RECORDS, lines->sides);
            good = take_batch(lines, &batch, error);
        }
    }
    folded_batch_release(&batch);
    if (!reader.failed)
        return good;
    lines->counts.lines++;
    return error_prefix(error, "line %" PRIu64, lines->counts.lines);
}

/* The next piece of the mapped text; not one with a line that is too long. */
static bool next_piece(void *context, size_t slot)
{
    struct folded_lines *lines = context;
    struct text_view front = line_reader_front(lines->rest, PIECE_BYTES);
    if (front.size == 0 || front.size > LINE_LIMIT_BYTES)
        return false;
    lines->pieces[slot].text = front;
    lines->rest = text_from(lines->rest, front.size);
    return true;
}

static void prepare_piece(void *context, size_t slot)
{
    struct folded_lines *lines = context;
    struct text_view text = lines->pieces[slot].text;
    folded_batch_fill(&lines->pieces[slot].batch, &text, SIZE_MAX, lines->sides);
}

static bool take_piece(void *context, size_t slot)
{
    struct folded_lines *lines = context;
    bool good = take_batch(lines, &lines->pieces[slot].batch, lines->error);
    byte_source_drop_later(lines->source, &lines->taken, lines->pieces[slot].text, DROP_BYTES);
    return good;
}

static bool read_in_pieces(struct folded_lines *lines, struct byte_source *source, size_t threads,
                           struct error *error)
{
    size_t slots = threads * PIECES_PER_THREAD;
    lines->pieces = calloc(slots, sizeof(*lines->pieces));
    if (lines->pieces == NULL)
        return error_set_memory(error);
    struct ordered_work work = {.context = lines,
                                .threads = threads,
                                .slots = slots,
                                .next = next_piece,
                                .prepare = prepare_piece,
                                .take = take_piece};
    lines->source = source;
    lines->error = error;
    lines->rest = byte_source_peek(source, 0, error);
    lines->taken = TEXT("");
    size_t size = lines->rest.size;
    bool good = ordered_work_run(&work);
    byte_source_drop(source, lines->taken);
    for (size_t i = 0; i < slots; i++)
        folded_batch_release(&lines->pieces[i].batch);
    free(lines->pieces);
    byte_source_skip(source, size - lines->rest.size);
    return good;
}

bool folded_lines_read(struct folded_lines *lines, struct byte_source *source, struct error *error)
{
    size_t threads = lines->threads < MOST_THREADS ? lines->threads : MOST_THREADS;
    bool several =
        threads > 1 && byte_source_is_mapped(source) && byte_source_peek(source, 0, error).size > SMALL_BYTES;
    return (!several || read_in_pieces(lines, source, threads, error)) && read_in_order(lines, source, error);
}
