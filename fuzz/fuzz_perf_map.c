/*
 * fuzz_perf_map.c - gives libFuzzer's input to what reads /tmp/perf-PID.map.
 */
#include <stdlib.h>

#include "symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perf_map map;
    struct text_view name;
    perf_map_init(&map);
    if (!perf_map_parse(&map, (struct text_view){(const char *)data, size}))
        abort();
    for (size_t i = 0; i < map.count && i < 1000; i++) {
        uint64_t start = map.entries[i].start, last = start + map.entries[i].size - 1;
        if (i > 0 && map.entries[i - 1].start > start)
            abort();
        if (perf_map_find(&map, start, &name) && name.size == 0)
            abort();
        (void)perf_map_find(&map, last, &name);
    }
    perf_map_release(&map);
    return 0;
}
