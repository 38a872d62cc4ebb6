#include "jvm_agent/labels/tags.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/string_table.h"
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/thread_table.h"

/* Set in numbers of span texts; the next bit selects their table. */
#define OF_SPAN ((uint32_t)1 << 31)
#define SECOND_TABLE ((uint32_t)1 << 30)
#define NO_SLOT 0u

/* Number 0 is never used. */
struct tag_slot {
    char *text;
    uint32_t size, capacity;
    uint32_t next_ended; /* NO_SLOT: the last */
};

static pthread_mutex_t tags_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct string_table span_texts[2]; /* new ones are added to the table `span_table` */
static bool span_opened[2];
static unsigned span_table;
static size_t limit = TAGS_LIMIT_BYTES, slot_text_bytes;
static uint64_t refused;
static struct tag_slot *slots;
static size_t slot_count, slot_capacity;
static uint32_t first_ended, last_ended; /* in the order of their end */
static size_t ended_count;

static bool open_table(void)
{
    if (!span_opened[span_table])
        span_opened[span_table] = string_table_init(&span_texts[span_table], limit);
    return span_opened[span_table];
}

static struct text_view span_text(uint32_t number)
{
    unsigned table = (number & SECOND_TABLE) != 0;
    return span_opened[table] ? string_table_text(&span_texts[table], number & ~(OF_SPAN | SECOND_TABLE))
                              : TEXT("");
}

static size_t span_bytes(unsigned table)
{
    return span_opened[table] ? string_table_bytes(&span_texts[table]) : 0;
}

static struct text_view slot_text(uint32_t number)
{
    if (number == NO_SLOT || number >= slot_count)
        return TEXT("");
    return (struct text_view){slots[number].text, slots[number].size};
}

struct text_view tags_text(uint32_t number)
{
    pthread_mutex_lock(&tags_mutex);
    struct text_view text = (number & OF_SPAN) == 0 ? slot_text(number) : span_text(number);
    pthread_mutex_unlock(&tags_mutex);
    return text;
}

uint32_t tags_add(struct text_view text)
{
    pthread_mutex_lock(&tags_mutex);
    bool has_room = span_bytes(span_table) < limit / 4 && open_table();
    uint32_t number = has_room ? string_table_add(&span_texts[span_table], text) : NO_STRING;
    uint32_t bits = OF_SPAN | (span_table == 1 ? SECOND_TABLE : 0);
    refused += number == NO_STRING;
    pthread_mutex_unlock(&tags_mutex);
    return number == NO_STRING ? 0 : number | bits;
}

void tags_limit(size_t limit_bytes)
{
    pthread_mutex_lock(&tags_mutex);
    limit = limit_bytes;
    pthread_mutex_unlock(&tags_mutex);
}

uint64_t tags_refused(void)
{
    pthread_mutex_lock(&tags_mutex);
    uint64_t count = refused;
    pthread_mutex_unlock(&tags_mutex);
    return count;
}

void tags_renew(void)
{
    pthread_mutex_lock(&tags_mutex);
    span_table ^= 1;
    if (span_opened[span_table])
        string_table_release(&span_texts[span_table]);
    span_opened[span_table] = false;
    pthread_mutex_unlock(&tags_mutex);
}

bool tags_must_renew(void)
{
    pthread_mutex_lock(&tags_mutex);
    bool must = span_bytes(span_table) >= limit / 16 * 3;
    pthread_mutex_unlock(&tags_mutex);
    return must;
}

static size_t slots_bytes(void)
{
    return slot_text_bytes + slot_capacity * sizeof(*slots);
}

size_t tags_bytes(void)
{
    pthread_mutex_lock(&tags_mutex);
    size_t bytes = slots_bytes() + span_bytes(0) + span_bytes(1);
    pthread_mutex_unlock(&tags_mutex);
    return bytes;
}

static uint32_t new_slot(void)
{
    size_t wanted = slot_count == 0 ? 2 : slot_count + 1;
    if (!array_reserve(&slots, &slot_capacity, wanted, TAGS_LIMIT))
        return NO_SLOT;
    memset(&slots[slot_count], 0, (wanted - slot_count) * sizeof(*slots));
    slot_count = wanted;
    return (uint32_t)(wanted - 1);
}

static uint32_t take_slot(void)
{
    size_t kept = slots_bytes() < limit / 2 ? TAGS_KEPT : TAGS_LEAST_KEPT;
    uint32_t number = ended_count > kept ? NO_SLOT : new_slot();
    if (number != NO_SLOT || ended_count == 0)
        return number;
    number = first_ended;
    first_ended = slots[number].next_ended;
    ended_count--;
    return number;
}

static bool set_text(struct tag_slot *slot, struct text_view text)
{
    if (text.size > slot->capacity) {
        char *larger = slots_bytes() + text.size > limit ? NULL : realloc(slot->text, text.size);
        if (larger == NULL)
            return false;
        slot_text_bytes += text.size - slot->capacity;
        slot->text = larger;
        slot->capacity = (uint32_t)text.size;
    }
    memcpy(slot->text, text.data, text.size);
    slot->size = (uint32_t)text.size;
    return true;
}

static void end_slot(uint32_t number)
{
    if (number == NO_SLOT || number >= slot_count)
        return;
    slots[number].next_ended = NO_SLOT;
    if (ended_count++ == 0)
        first_ended = number;
    else
        slots[last_ended].next_ended = number;
    last_ended = number;
}

static uint32_t begin(struct text_view text)
{
    if (text.size == 0)
        return NO_SLOT;
    pthread_mutex_lock(&tags_mutex);
    uint32_t number = take_slot();
    if (number != NO_SLOT && !set_text(&slots[number], text)) {
        end_slot(number);
        number = NO_SLOT;
    }
    refused += number == NO_SLOT;
    pthread_mutex_unlock(&tags_mutex);
    return number;
}

static void end(uint32_t number)
{
    pthread_mutex_lock(&tags_mutex);
    end_slot(number);
    pthread_mutex_unlock(&tags_mutex);
}

/* Recorded in the order of the thread's own samples. */
static void announce(struct thread_record *record, uint32_t before, uint64_t since_ns)
{
    struct agent_sample sample = {.kind = SAMPLE_TAG, .time_ns = agent_now_ns(), .weight = 1};
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    sample.class_number = before;
    sample.detail = since_ns;
    sampler_put(&sample);
}

void tags_set_of(int32_t tid, struct text_view text)
{
    struct thread_record *record = thread_table_add(tid);
    if (record == NULL)
        return;
    uint32_t number = begin(text);
    uint64_t since_ns = record->tag_since_ns;
    record->tag_since_ns = agent_now_ns();
    uint32_t before = atomic_exchange(&record->tag, number);
    announce(record, before, since_ns);
    if (before != NO_SLOT)
        end(before);
}

void tags_set(struct text_view text)
{
    tags_set_of(thread_own_id(), text);
}
