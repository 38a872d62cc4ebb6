#include "spark/event_log/event_log_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/ordered_work.h"
#include "base/text_builder.h"
#include "input/json_reader.h"
#include "input/line_reader.h"
#include "spark/event_log/event_log_events.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define DROP_BYTES ((size_t)8 << 20)
#define PIECES_PER_THREAD 4
#define MOST_THREADS (ORDERED_WORK_SLOTS / PIECES_PER_THREAD)
#define TEXT_LIMIT_BYTES ((size_t)1 << 20)
#define NO_TASK UINT32_MAX

struct line_record {
    struct text_view line;
    uint32_t task; /* number in piece.tasks; NO_TASK: the line is read when it is stored */
};

/* Some lines. */
struct event_piece {
    struct text_view text;
    struct text_builder copy; /* of the text, when the source cannot keep it */
    struct line_record *records;
    size_t record_count, record_capacity;
    struct task_event *tasks;
    size_t task_count, task_capacity;
    struct task_counters counters; /* of the tasks */
    struct json_reader json;
    bool failed; /* out of memory */
};

struct line_work {
    const struct event_log_options *options;
    struct application *application;
    struct event_log_counts *counts;
    struct error *error;
    struct byte_source *source;
    bool is_mapped;
    struct text_view left;  /* of a mapped source */
    struct text_view taken; /* of it, to be dropped */
    struct line_reader lines;
    uint64_t number;   /* of the last line stored */
    uint64_t bad_line; /* 0: none */
    struct error bad;
    struct event_piece pieces[ORDERED_WORK_SLOTS];
};

static bool next_piece(void *context, size_t slot)
{
    struct line_work *work = context;
    struct event_piece *piece = &work->pieces[slot];
    if (work->is_mapped) {
        piece->text = line_reader_front(work->left, PIECE_BYTES);
        work->left = text_from(work->left, piece->text.size);
        return piece->text.size > 0;
    }
    if (!line_reader_next(&work->lines, &piece->text, work->error))
        return false;
    text_builder_clear(&piece->copy);
    text_builder_add(&piece->copy, piece->text);
    piece->failed = piece->copy.failed;
    piece->text = text_builder_view(&piece->copy);
    return true;
}

static bool add_record(struct event_piece *piece, struct text_view line)
{
    if (!array_reserve(&piece->records, &piece->record_capacity, piece->record_count + 1, UINT32_MAX) ||
        !array_reserve(&piece->tasks, &piece->task_capacity, piece->task_count + 1, UINT32_MAX))
        return false;
    bool is_task =
        event_log_read_task(line, &piece->json, &piece->counters, &piece->tasks[piece->task_count]);
    piece->records[piece->record_count++] =
        (struct line_record){line, is_task ? (uint32_t)piece->task_count : NO_TASK};
    piece->task_count += is_task;
    return true;
}

static void prepare_piece(void *context, size_t slot)
{
    struct event_piece *piece = &((struct line_work *)context)->pieces[slot];
    struct text_view text = piece->text;
    piece->record_count = piece->task_count = piece->counters.size = 0;
    while (text.size > 0 && !piece->failed)
        piece->failed = !add_record(piece, line_cut(&text));
}

static bool store(struct line_work *work, const struct event_piece *piece, const struct line_record *record)
{
    if (record->task != NO_TASK)
        return task_event_store(&piece->tasks[record->task], work->application, &work->bad);
    return event_log_read_line(work->application, record->line, &work->bad);
}

static bool take_line(struct line_work *work, const struct event_piece *piece,
                      const struct line_record *record)
{
    work->number++;
    if (work->bad_line != 0)
        return error_set(work->error, work->bad.code, "line %" PRIu64 ": %s", work->bad_line,
                         work->bad.message);
    if (record->line.size == 0)
        return true;
    work->counts->lines++;
    if (store(work, piece, record))
        work->counts->events++;
    else if (work->bad.code == ERROR_MEMORY)
        return error_set_memory(work->error);
    else
        work->bad_line = work->number;
    return true;
}

static bool take_piece(void *context, size_t slot)
{
    struct line_work *work = context;
    struct event_piece *piece = &work->pieces[slot];
    bool good = !piece->failed || error_set_memory(work->error);
    for (size_t i = 0; i < piece->record_count && good; i++)
        good = take_line(work, piece, &piece->records[i]);
    if (work->is_mapped)
        byte_source_drop_later(work->source, &work->taken, piece->text, DROP_BYTES);
    if (work->options->progress != NULL)
        work->options->progress(work->options->progress_context, piece->text.size);
    return good;
}

static bool run(struct line_work *work)
{
    size_t threads = work->options->threads < MOST_THREADS ? work->options->threads : MOST_THREADS;
    if (threads == 0 || (work->is_mapped && work->left.size <= PIECE_BYTES))
        threads = 1;
    struct ordered_work ordered = {
        .context = work,
        .threads = threads,
        .slots = threads * PIECES_PER_THREAD,
        .next = next_piece,
        .prepare = prepare_piece,
        .take = take_piece,
    };
    for (size_t i = 0; i < ordered.slots; i++) {
        json_reader_init_memory(&work->pieces[i].json, TEXT(""), 0, TEXT_LIMIT_BYTES);
        text_builder_init(&work->pieces[i].copy, 2 * LINE_LIMIT_BYTES);
    }
    bool good = ordered_work_run(&ordered);
    for (size_t i = 0; i < ordered.slots; i++) {
        json_reader_release(&work->pieces[i].json);
        text_builder_release(&work->pieces[i].copy);
        free(work->pieces[i].records);
        free(work->pieces[i].tasks);
        task_counters_release(&work->pieces[i].counters);
    }
    return good;
}

bool event_log_read_lines(struct byte_source *source, const struct event_log_options *options,
                          struct application *application, struct event_log_counts *counts,
                          struct error *error)
{
    struct line_work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return error_set_memory(error);
    work->options = options;
    work->application = application;
    work->counts = counts;
    work->error = error;
    work->source = source;
    work->lines.source = source;
    work->is_mapped = byte_source_is_mapped(source);
    bool good = (!work->is_mapped || byte_source_all(source, SIZE_MAX, &work->left, error)) && run(work);
    counts->last_line_is_cut = counts->last_line_is_cut || (good && work->bad_line != 0);
    good = good && !work->lines.failed && !byte_source_failed(source);
    free(work);
    return good;
}
