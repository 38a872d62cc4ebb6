/* Uber's JVM profiler: its Stacktrace records, raw or inside the log that its console reporter writes to. */
#include "formats/reader.h"
#include "formats/json/stack_records.h"

static int recognizes(struct text_view head)
{
    return stack_records_look_like_java(head) ? 85 : 0;
}

const struct reader reader_uber = {
    .name = "uber",
    .summary = "Uber JVM profiler stack records, raw or inside logs",
    .is_in_logs = true,
    .recognizes = recognizes,
    .read = stack_records_read,
};
