#include "spark/report/task_columns.h"

#define MOST ((int64_t)1 << 51)
#define VARINT_BYTES 10

void task_columns_write_json(const struct application *application, struct json_out *out)
{
    json_out_key(out, "tasks");
    output_c_string(out->output, "{\"count\":");
    output_u64(out->output, application->task_count);
    output_c_string(out->output, ",\"columns\":");
    char separator = '[';
#define TASK_COLUMN(name, expression)              \
    output_byte(out->output, separator);           \
    output_c_string(out->output, "\"" #name "\""); \
    separator = ',';
#include "spark/report/task_columns.def"
#undef TASK_COLUMN
    output_c_string(out->output, "]}");
    out->is_first = false;
}

/* Writes the distance from *last, which becomes the number. */
static void put(struct output *output, int64_t *last, int64_t number)
{
    char bytes[VARINT_BYTES];
    size_t size = 0;
    number = number > MOST ? MOST : number < -MOST ? -MOST : number;
    int64_t distance = number - *last;
    uint64_t rest = (uint64_t)distance << 1 ^ (distance < 0 ? UINT64_MAX : 0);
    *last = number;
    for (; rest > 127; rest >>= 7)
        bytes[size++] = (char)(rest | 128);
    bytes[size++] = (char)rest;
    output_write(output, bytes, size);
}

#define TASK_COLUMN(name, expression)                                                      \
    static void write_##name(const struct application *application, struct output *output) \
    {                                                                                      \
        int64_t last = 0;                                                                  \
        for (size_t i = 0; i < application->task_count; i++) {                             \
            const struct task *task = &application->tasks[i];                              \
            put(output, &last, expression);                                                \
        }                                                                                  \
    }
#include "spark/report/task_columns.def"
#undef TASK_COLUMN

void task_columns_write(const struct application *application, struct output *output)
{
#define TASK_COLUMN(name, expression) write_##name(application, output);
#include "spark/report/task_columns.def"
#undef TASK_COLUMN
}
