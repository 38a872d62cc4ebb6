#include "jvm_agent/jfr/jfr_shape.h"

#define COMPACT_TICK_NS 100000

struct jfr_shape jfr_shape = {.tick_ns = 1};

/* Readers use the clock of the first chunk, also for concatenated recordings. */
void jfr_shape_choose(bool compact, bool signatures, uint64_t now_ns)
{
    static uint64_t first_ns;
    if (first_ns == 0)
        first_ns = now_ns;
    jfr_shape = (struct jfr_shape){.compact = compact,
                                   .signatures = signatures || !compact,
                                   .tick_ns = compact ? COMPACT_TICK_NS : 1,
                                   .begin_ns = compact ? first_ns : 0};
}
