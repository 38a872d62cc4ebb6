#include "jvm_agent/control/memory_shares.h"

#include "jvm_agent/control/recording_views.h"

#define PARTS 33
#define VIEWS_PARTS 4
#define MIN_VIEW_BYTES ((size_t)2 << 20)

struct memory_shares memory_shares_of(size_t limit_bytes)
{
    size_t limit = limit_bytes == 0 ? MEMORY_DEFAULT_BYTES : limit_bytes;
    if (limit < MEMORY_MIN_BYTES)
        limit = MEMORY_MIN_BYTES;
    size_t part = limit / PARTS, views = part * VIEWS_PARTS / MIN_VIEW_BYTES;
    views = views < 1 ? 1 : views > RECORDING_VIEW_LIMIT ? RECORDING_VIEW_LIMIT : views;
    return (struct memory_shares){.limit = limit,
                                  .tables = part * 7,
                                  .fixed = part * 2,
                                  .session = part * 6,
                                  .view = part * VIEWS_PARTS / views,
                                  .views = views,
                                  .output = part * 2,
                                  .thread_names = part,
                                  .tags = part,
                                  .native_names = part,
                                  .python_names = part * 2};
}
