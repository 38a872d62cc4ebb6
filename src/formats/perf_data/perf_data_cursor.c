#include "formats/perf_data/perf_data_file.h"

struct text_view perf_data_take(struct perf_data_cursor *cursor, uint64_t size)
{
    if (cursor->failed || size > cursor->rest.size) {
        cursor->failed = true;
        return (struct text_view){"", 0};
    }
    struct text_view taken = text_part(cursor->rest, 0, size);
    cursor->rest = text_from(cursor->rest, size);
    return taken;
}

uint64_t perf_data_take_u64(struct perf_data_cursor *cursor)
{
    uint64_t value = 0;
    struct text_view bytes = perf_data_take(cursor, sizeof(value));
    if (bytes.size == sizeof(value))
        memcpy(&value, bytes.data, sizeof(value));
    return value;
}

uint32_t perf_data_take_u32(struct perf_data_cursor *cursor)
{
    uint32_t value = 0;
    struct text_view bytes = perf_data_take(cursor, sizeof(value));
    if (bytes.size == sizeof(value))
        memcpy(&value, bytes.data, sizeof(value));
    return value;
}

struct text_view perf_data_take_text(struct perf_data_cursor *cursor)
{
    struct text_view all = perf_data_take(cursor, cursor->rest.size);
    return text_part(all, 0, strnlen(all.data, all.size));
}
