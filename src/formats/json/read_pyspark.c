/* Stack records of PySpark profilers: one JSON object per line, frames "file:function:line", innermost first. */
#include "formats/reader.h"
#include "formats/json/stack_records.h"

static int recognizes(struct text_view head)
{
    return stack_records_look_like_python(head) ? 85 : 0;
}

const struct reader reader_pyspark = {
    .name = "pyspark",
    .summary = "PySpark profiler stack records",
    .is_in_logs = true,
    .recognizes = recognizes,
    .read = stack_records_read,
};
