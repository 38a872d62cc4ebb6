/*
 * fuzz_memory_map.c - gives libFuzzer's input to what reads /proc/PID/maps, whose paths are the process's to choose.
 */
#include <stdlib.h>

#include "symbols/memory_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view text = {(const char *)data, size};
    struct memory_mapping mapping;
    const char *end = text.data + size;
    while (memory_map_next(&text, &mapping)) {
        if (mapping.start >= mapping.end)
            abort();
        if (mapping.path.size > 0 &&
            (mapping.path.data < (const char *)data || mapping.path.data + mapping.path.size > end))
            abort();
    }
    return 0;
}
