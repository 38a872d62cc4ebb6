#include "jvm_agent/jfr/jfr_wall.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "jvm_agent/jfr/jfr_pools.h"

#define SECOND_NS UINT64_C(1000000000)
/* Samples of a task are assigned to what its Python worker does at the time, so their span is shorter. */
#define LONGEST_NS (10 * SECOND_NS)
#define LONGEST_TAGGED_NS SECOND_NS
#define THREADS_LIMIT ((size_t)1 << 22)

void jfr_wall_init(struct jfr_wall *wall)
{
    memset(wall, 0, sizeof(*wall));
    id_map_init(&wall->threads);
}

void jfr_wall_release(struct jfr_wall *wall)
{
    id_map_release(&wall->threads);
    free(wall->samples);
    memset(wall, 0, sizeof(*wall));
}

/* NULL: no space. A thread is added only together with its entry. */
static struct agent_sample *place_of(struct jfr_wall *wall, int32_t tid)
{
    uint32_t index = id_map_get(&wall->threads, (uint64_t)(uint32_t)tid);
    if (index != NO_ID)
        return &wall->samples[index];
    index = (uint32_t)wall->count;
    if (!array_reserve(&wall->samples, &wall->capacity, wall->count + 1, THREADS_LIMIT) ||
        !id_map_set(&wall->threads, (uint64_t)(uint32_t)tid, index))
        return NULL;
    wall->samples[wall->count++] = (struct agent_sample){.weight = 0};
    return &wall->samples[index];
}

static void put(const struct jfr_wall_writer *writer, struct agent_sample *sample)
{
    if (sample->weight > 0)
        writer->put(writer->file, sample);
    sample->weight = 0;
}

static uint64_t longest_ns(const struct agent_sample *sample)
{
    return sample->tag != 0 ? LONGEST_TAGGED_NS : LONGEST_NS;
}

/* `detail`: time from the first sample to the last. */
void jfr_wall_add(struct jfr_wall *wall, const struct jfr_wall_writer *writer,
                  const struct agent_sample *sample)
{
    struct agent_sample *waiting = place_of(wall, sample->tid);
    if (waiting == NULL) {
        writer->put(writer->file, sample);
        return;
    }
    uint64_t end_ns = sample->time_ns + sample->detail;
    if (waiting->weight > 0 && waiting->state == sample->state && waiting->tag == sample->tag &&
        end_ns >= waiting->time_ns && end_ns - waiting->time_ns <= longest_ns(waiting) &&
        jfr_pool_trace_number(writer->pools, waiting->trace) ==
            jfr_pool_trace_number(writer->pools, sample->trace)) {
        waiting->weight += sample->weight;
        waiting->detail = end_ns - waiting->time_ns;
        return;
    }
    put(writer, waiting);
    *waiting = *sample;
}

void jfr_wall_end(struct jfr_wall *wall, const struct jfr_wall_writer *writer, int32_t tid)
{
    uint32_t place = id_map_get(&wall->threads, (uint64_t)(uint32_t)tid);
    if (place != NO_ID && place < wall->count)
        put(writer, &wall->samples[place]);
}

void jfr_wall_end_old(struct jfr_wall *wall, const struct jfr_wall_writer *writer, uint64_t now_ns)
{
    for (size_t i = 0; i < wall->count; i++)
        if (wall->samples[i].state != THREAD_STATE_SLEEPING ||
            now_ns - wall->samples[i].time_ns > longest_ns(&wall->samples[i]))
            put(writer, &wall->samples[i]);
}

void jfr_wall_end_all(struct jfr_wall *wall, const struct jfr_wall_writer *writer)
{
    for (size_t i = 0; i < wall->count; i++)
        put(writer, &wall->samples[i]);
    wall->count = 0;
    id_map_clear(&wall->threads);
}
