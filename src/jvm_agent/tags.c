#include "jvm_agent/tags.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/string_table.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_table.h"

/* Numbers of texts that are kept for good have this bit. */
#define FOR_GOOD ((uint32_t)1 << 31)
#define NO_SLOT 0u

/* Number 0 is never used. */
struct tag_slot {
    char *text;
    uint32_t size, capacity;
    uint32_t next_ended; /* NO_SLOT: the last */
};

static pthread_mutex_t tags_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct string_table texts; /* those for good */
static bool opened;
static struct tag_slot *slots;
static size_t slot_count, slot_capacity;
static uint32_t first_ended, last_ended; /* in the order in which they ended */
static size_t ended_count;

static bool open_table(void)
{
    if (!opened)
        opened = string_table_init(&texts, TAGS_LIMIT_BYTES);
    return opened;
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
    struct text_view text = (number & FOR_GOOD) == 0 ? slot_text(number)
                            : open_table()           ? string_table_text(&texts, number & ~FOR_GOOD)
                                                     : TEXT("");
    pthread_mutex_unlock(&tags_mutex);
    return text;
}

uint32_t tags_add(struct text_view text)
{
    pthread_mutex_lock(&tags_mutex);
    uint32_t number = open_table() ? string_table_add(&texts, text) : NO_STRING;
    pthread_mutex_unlock(&tags_mutex);
    return number == NO_STRING ? 0 : number | FOR_GOOD;
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
    uint32_t number = ended_count > TAGS_KEPT ? NO_SLOT : new_slot();
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
        char *larger = realloc(slot->text, text.size);
        if (larger == NULL)
            return false;
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
    pthread_mutex_unlock(&tags_mutex);
    return number;
}

static void end(uint32_t number)
{
    pthread_mutex_lock(&tags_mutex);
    end_slot(number);
    pthread_mutex_unlock(&tags_mutex);
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

void tags_set_of(int32_t tid, struct text_view text)
{
    struct thread_record *record = thread_table_add(tid);
    if (record == NULL)
        return;
    uint32_t number = begin(text);
    uint64_t since_ns = record->tag_since_ns;
    record->tag_since_ns = sampler_now_ns();
    uint32_t before = atomic_exchange(&record->tag, number);
    announce(record, before, since_ns);
    if (before != NO_SLOT)
        end(before);
}

void tags_set(struct text_view text)
{
    tags_set_of(thread_own_id(), text);
}
