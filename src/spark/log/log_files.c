#include "spark/log/log_files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/ordered_work.h"
#include "input/line_reader.h"
#include "spark/log/log_piece.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define DROP_BYTES ((size_t)8 << 20)
#define PIECES_PER_THREAD 4
#define MOST_THREADS (ORDERED_WORK_SLOTS / PIECES_PER_THREAD)
#define SCRATCH_TEXTS_BYTES ((size_t)16 << 20)

/* A file whose pieces are under way. */
struct open_file {
    struct byte_source *source;
    bool is_mapped;
    struct text_view left;  /* of a mapped source */
    struct text_view taken; /* of it, to be dropped */
    struct line_reader lines;
};

struct file_slot {
    struct log_piece piece;
    struct text_view text;
    struct text_builder copy; /* of the text, when the source cannot keep it */
    struct open_file *file;   /* NULL: it could not be opened */
    const char *begins;       /* the path of the file that begins here */
    bool ends;
    struct error failure; /* of the file that ends here; its code is ERROR_NONE when it was read whole */
};

struct file_work {
    const struct log_files *files;
    struct error *error;
    size_t begun;           /* files */
    struct open_file *file; /* whose pieces are handed out; NULL: none */
    struct log_reader open; /* of entries that lie in two pieces or more */
    struct text_builder scratch;
    struct arena texts;
    uint64_t lines; /* of the file at hand */
    struct file_slot slots[ORDERED_WORK_SLOTS];
};

/* ---- handing out pieces ---- */

static struct open_file *open_file_new(const struct log_files *files, const char *path, struct error *error)
{
    struct open_file *file = calloc(1, sizeof(*file));
    if (file == NULL) {
        error_set_memory(error);
        return NULL;
    }
    file->source = files->source != NULL ? files->source : byte_source_open(path, error);
    if (file->source == NULL) {
        free(file);
        return NULL;
    }
    file->lines.source = file->source;
    file->is_mapped =
        byte_source_is_mapped(file->source) && byte_source_all(file->source, SIZE_MAX, &file->left, error);
    return file;
}

static void open_file_free(const struct log_files *files, struct open_file *file)
{
    if (file != NULL && files->source == NULL)
        byte_source_close(file->source);
    free(file);
}

/* Lines may have any length: LOG_RECORD_LIMIT_BYTES of one are read. */
static void take_mapped(const struct spark_log_options *options, struct file_slot *slot)
{
    struct open_file *file = slot->file;
    slot->text =
        line_reader_front(file->left, options->piece_bytes == 0 ? PIECE_BYTES : options->piece_bytes);
    file->left = text_from(file->left, slot->text.size);
    slot->ends = file->left.size == 0;
}

static void take_streamed(struct file_slot *slot)
{
    struct open_file *file = slot->file;
    slot->ends = !line_reader_next(&file->lines, &slot->text, &slot->failure);
    if (slot->ends && !file->lines.failed && !byte_source_failed(file->source))
        slot->failure.code = ERROR_NONE;
    text_builder_clear(&slot->copy);
    text_builder_add(&slot->copy, slot->text);
    if (slot->copy.failed) {
        error_set_memory(&slot->failure);
        slot->ends = true;
    }
    slot->text = text_builder_view(&slot->copy);
}

static const char *begin_file(struct file_work *work, struct file_slot *slot)
{
    const struct log_files *files = work->files;
    const char *path = files->source != NULL ? byte_source_name(files->source) : files->paths[work->begun];
    work->begun++;
    work->file = open_file_new(files, path, &slot->failure);
    return path;
}

static bool next_piece(void *context, size_t number)
{
    struct file_work *work = context;
    struct file_slot *slot = &work->slots[number];
    slot->begins = NULL;
    slot->text = (struct text_view){"", 0};
    slot->failure.code = ERROR_NONE;
    if (work->file == NULL) {
        if (work->begun == work->files->count)
            return false;
        slot->begins = begin_file(work, slot);
    }
    slot->file = work->file;
    if (slot->file == NULL)
        slot->ends = true;
    else if (slot->file->is_mapped)
        take_mapped(work->files->options, slot);
    else
        take_streamed(slot);
    if (slot->ends)
        work->file = NULL;
    return true;
}

static void prepare_piece(void *context, size_t number)
{
    struct file_slot *slot = &((struct file_work *)context)->slots[number];
    log_piece_prepare(&slot->piece, slot->text);
}

/* ---- taking them ---- */

static bool take_open_record(void *context, const struct log_record *record, struct error *error)
{
    struct file_work *work = context;
    struct log_entry entry = {.record = *record, .container = TEXT(""), .host = TEXT("")};
    arena_reset(&work->texts);
    if (!log_entry_work_out(&entry, work->files->options, &work->scratch, &work->texts))
        return error_set_memory(error);
    return work->files->entry(work->files->context, &entry, error);
}

static bool take_open_container(void *context, struct text_view id, struct text_view host,
                                struct error *error)
{
    struct file_work *work = context;
    struct log_entry entry = {.container = id, .host = host};
    return work->files->entry(work->files->context, &entry, error);
}

static bool take_front(struct file_work *work, struct text_view front)
{
    while (front.size > 0)
        if (!log_reader_go_on(&work->open, line_cut(&front), work->error))
            return false;
    return true;
}

static bool take_tail(struct file_work *work, struct text_view tail)
{
    while (tail.size > 0)
        if (!log_reader_take(&work->open, line_cut(&tail), work->error))
            return false;
    return true;
}

static bool take_entries(struct file_work *work, struct log_piece *piece)
{
    uint64_t before = work->lines;
    if (piece->front.size == piece->text.size)
        return true;
    if (!log_reader_finish(&work->open, work->error))
        return false;
    for (size_t i = 0; i < piece->entry_count; i++) {
        piece->entries[i].record.line += before;
        if (!work->files->entry(work->files->context, &piece->entries[i], work->error))
            return false;
    }
    work->open.line = before + piece->lines_before_tail;
    return true;
}

static bool end_file(struct file_work *work, struct file_slot *slot)
{
    const struct error *failure = slot->failure.code == ERROR_NONE ? NULL : &slot->failure;
    bool good = log_reader_finish(&work->open, work->error) &&
                work->files->end(work->files->context, work->lines, failure, work->error);
    open_file_free(work->files, slot->file);
    slot->file = NULL;
    work->lines = work->open.line = 0;
    return good;
}

static void tell_progress(const struct file_work *work, const struct file_slot *slot)
{
    const struct spark_log_options *options = work->files->options;
    if (slot->begins != NULL && options->begun != NULL)
        options->begun(options->progress_context, slot->begins);
    if (options->progress != NULL)
        options->progress(options->progress_context, slot->text.size);
}

static bool take_piece(void *context, size_t number)
{
    struct file_work *work = context;
    struct file_slot *slot = &work->slots[number];
    struct log_piece *piece = &slot->piece;
    if (piece->error.code != ERROR_NONE)
        return error_set(work->error, piece->error.code, "%s", piece->error.message);
    tell_progress(work, slot);
    if (slot->begins != NULL && !work->files->begin(work->files->context, slot->begins, work->error))
        return false;
    if (!take_front(work, piece->front) || !take_entries(work, piece) || !take_tail(work, piece->tail))
        return false;
    work->lines = work->open.line;
    if (slot->file != NULL && slot->file->is_mapped)
        byte_source_drop_later(slot->file->source, &slot->file->taken, slot->text, DROP_BYTES);
    return !slot->ends || end_file(work, slot);
}

/* ---- all of it ---- */

/* Below this size, starting another thread does not pay off. Input without a size may be long. */
static bool is_little(const struct log_files *files)
{
    size_t size = 0;
    for (size_t i = 0; i < files->count && files->source == NULL; i++) {
        struct stat status;
        if (stat(files->paths[i], &status) != 0 || !S_ISREG(status.st_mode))
            return false;
        size += (size_t)status.st_size;
        if (size > PIECE_BYTES / 2)
            return false;
    }
    return files->source == NULL;
}

static size_t threads_for(const struct log_files *files)
{
    if (is_little(files))
        return 1;
    size_t threads = files->options->threads < MOST_THREADS ? files->options->threads : MOST_THREADS;
    return threads == 0 ? 1 : threads;
}

static bool run(struct file_work *work)
{
    size_t threads = threads_for(work->files);
    struct ordered_work ordered = {
        .context = work,
        .threads = threads,
        .slots = threads * PIECES_PER_THREAD,
        .next = next_piece,
        .prepare = prepare_piece,
        .take = take_piece,
    };
    for (size_t i = 0; i < ordered.slots; i++) {
        log_piece_init(&work->slots[i].piece, work->files->options);
        text_builder_init(&work->slots[i].copy, 2 * LINE_LIMIT_BYTES);
    }
    bool good = ordered_work_run(&ordered);
    for (size_t i = 0; i < ordered.slots; i++) {
        if (work->slots[i].file != NULL && work->slots[i].ends)
            open_file_free(work->files, work->slots[i].file);
        log_piece_release(&work->slots[i].piece);
        text_builder_release(&work->slots[i].copy);
    }
    open_file_free(work->files, work->file);
    return good;
}

bool log_files_read(const struct log_files *files, struct error *error)
{
    struct file_work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return error_set_memory(error);
    work->files = files;
    work->error = error;
    log_reader_init(&work->open, &(struct log_handler){.context = work,
                                                       .pattern = files->options->pattern,
                                                       .shows_secrets = files->options->shows_secrets,
                                                       .record = take_open_record,
                                                       .container = take_open_container});
    work->open.copies_lines = true;
    text_builder_init(&work->scratch, LOG_SCRATCH_BYTES);
    arena_init(&work->texts, SCRATCH_TEXTS_BYTES);
    bool good = run(work);
    log_reader_release(&work->open);
    text_builder_release(&work->scratch);
    arena_release(&work->texts);
    free(work);
    return good;
}
