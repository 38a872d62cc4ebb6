#include "spark/log/log_entry.h"

#include "base/hash.h"
#include "spark/log/log_chunks.h"
#include "spark/log/log_errors.h"
#include "spark/log/log_tasks.h"

static bool keep(struct text_builder *scratch, struct arena *texts, struct text_view *place)
{
    *place = arena_copy_text(texts, text_builder_view(scratch));
    return place->data != NULL;
}

bool log_entry_work_out(struct log_entry *entry, const struct spark_log_options *options,
                        struct text_builder *scratch, struct arena *texts)
{
    const struct log_record *record = &entry->record;
    entry->message_kind = LOG_TASKS_NO_KIND;
    entry->error_key = entry->chunk_text = (struct text_view){NULL, 0};
    if (log_errors_is_error(record, options->least_level)) {
        log_errors_key(record, scratch);
        if (!keep(scratch, texts, &entry->error_key))
            return false;
    }
    if (record->head.level == LOG_LEVEL_NONE)
        return true;
    entry->message_kind = log_tasks_message_kind(&record->head);
    log_chunks_text(&record->head, options->exact_chunks, scratch);
    entry->chunk_hash = hash_bytes(scratch->data, scratch->size);
    return keep(scratch, texts, &entry->chunk_text);
}
