#include "jvm_agent/handler/recording_tables.h"

#define RESERVED_BYTES SAFE_HUGE_PAGE_BYTES /* all tables, and their first items */
#define COPIED_FRAMES_LIMIT 2064
#define CLASS_NAMES_PART 8 /* part of the limit */

size_t recording_tables_fixed_bytes(void)
{
    size_t tables = METHOD_BUCKETS * sizeof(uint32_t) + TRACE_BUCKETS * sizeof(uint32_t) +
                    PLACE_CACHE_PLACES * sizeof(struct place) + SAMPLE_COUNT_BUCKETS * sizeof(uint32_t);
    return tables > RESERVED_BYTES ? tables : RESERVED_BYTES;
}

bool recording_tables_open(struct recording_tables *tables, size_t limit_bytes, bool by_thread)
{
    size_t fixed_bytes = recording_tables_fixed_bytes();
    size_t pieces_bytes = limit_bytes - limit_bytes / CLASS_NAMES_PART;
    pieces_bytes = pieces_bytes > fixed_bytes ? pieces_bytes - fixed_bytes : 0;
    safe_arena_init(&tables->arena, pieces_bytes);
    safe_arena_reserve(&tables->arena, RESERVED_BYTES);
    class_names_init(&tables->classes, limit_bytes / CLASS_NAMES_PART);
    tables->opened = true;
    if (!method_table_init(&tables->methods, &tables->arena) ||
        !trace_table_init(&tables->traces, &tables->arena) ||
        !place_cache_init(&tables->places, &tables->arena) ||
        !sample_counts_init(&tables->counts, &tables->arena, by_thread)) {
        recording_tables_close(tables);
        return false;
    }
    safe_arena_provide(&tables->arena);
    return true;
}

void recording_tables_close(struct recording_tables *tables)
{
    if (!tables->opened)
        return;
    tables->opened = false;
    method_table_release(&tables->methods);
    trace_table_release(&tables->traces);
    place_cache_release(&tables->places);
    sample_counts_release(&tables->counts);
    safe_arena_release(&tables->arena);
    class_names_release(&tables->classes);
}

size_t recording_tables_bytes(const struct recording_tables *tables)
{
    return !tables->opened
               ? 0
               : safe_arena_bytes(&tables->arena) + METHOD_BUCKETS * sizeof(uint32_t) +
                     TRACE_BUCKETS * sizeof(uint32_t) + PLACE_CACHE_PLACES * sizeof(struct place) +
                     SAMPLE_COUNT_BUCKETS * sizeof(uint32_t) + class_names_bytes(&tables->classes);
}

bool recording_tables_are_nearly_full(struct recording_tables *tables)
{
    return atomic_load(&tables->arena.mapped_bytes) >= safe_arena_mark(&tables->arena) ||
           safe_items_count(&tables->traces.traces) >= TRACE_NUMBER_MASK / 4 * 3 ||
           class_names_bytes(&tables->classes) >= tables->classes.limit_bytes / 4 * 3;
}

uint32_t recording_tables_copy_trace(struct recording_tables *tables, const struct recording_tables *from,
                                     uint32_t reference)
{
    const struct trace *trace = recording_tables_trace(from, reference);
    frame_word frames[COPIED_FRAMES_LIMIT];
    if (trace->depth > COPIED_FRAMES_LIMIT)
        return 0;
    for (uint32_t i = 0; i < trace->depth; i++) {
        frame_word frame = frames[i] = trace->frames[i];
        if (!frame_is_java(frame) && frame_kind_of(frame) != AGENT_FRAME_CLASS)
            continue;
        uint32_t number =
            method_table_copy(&tables->methods, method_table_at(&from->methods, frame_low(frame)));
        if (number == 0)
            return 0;
        frames[i] = (frame & ~(frame_word)UINT32_MAX) | number;
    }
    return trace_reference(tables, trace_table_add(&tables->traces, frames, trace->depth));
}
