#include "jvm_agent/tags.h"

#include <pthread.h>

#include "base/string_table.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_table.h"

static pthread_mutex_t tags_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct string_table texts;
static bool opened;

static bool open_table(void)
{
    if (!opened)
        opened = string_table_init(&texts, TAGS_LIMIT_BYTES);
    return opened;
}

struct text_view tags_text(uint32_t number)
{
    pthread_mutex_lock(&tags_mutex);
    struct text_view text = open_table() ? string_table_text(&texts, number) : TEXT("");
    pthread_mutex_unlock(&tags_mutex);
    return text;
}

/* In the order in which the thread changes it, between its samples. */
static void announce(struct thread_record *record, uint32_t before, uint64_t since_ns)
{
    struct sample sample = {.kind = SAMPLE_TAG, .time_ns = sampler_now_ns(), .weight = 1};
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    sample.class_number = before;
    sample.detail = since_ns;
    sampler_put(&sample);
}

uint32_t tags_add(struct text_view text)
{
    pthread_mutex_lock(&tags_mutex);
    uint32_t number = open_table() ? string_table_add(&texts, text) : NO_STRING;
    pthread_mutex_unlock(&tags_mutex);
    return number == NO_STRING ? 0 : number;
}

void tags_set(struct text_view text)
{
    uint32_t number = tags_add(text);
    struct thread_record *record = thread_table_add(thread_own_id());
    if (record == NULL)
        return;
    uint64_t since_ns = record->tag_since_ns;
    record->tag_since_ns = sampler_now_ns();
    uint32_t before = atomic_exchange(&record->tag, number);
    announce(record, before, since_ns);
}
