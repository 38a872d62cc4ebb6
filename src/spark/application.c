#include "spark/application.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STRING_LIMIT_BYTES ((size_t)4 << 30)
#define TEXT_LIMIT_BYTES ((size_t)1 << 30)
#define MOST_ITEMS ((size_t)UINT32_MAX - 1)

bool application_init(struct application *application, struct error *error)
{
    *application = (struct application){.start_ms = NO_MS, .end_ms = NO_MS};
    text_builder_init(&application->redacted, TEXT_LIMIT_BYTES);
    id_map_init(&application->stage_numbers);
    id_map_init(&application->task_numbers);
    id_map_init(&application->executor_numbers);
    id_map_init(&application->job_numbers);
    id_map_init(&application->sql_numbers);
    id_map_init(&application->file_counters);
    sql_plans_init(&application->plans);
    return string_table_init(&application->strings, STRING_LIMIT_BYTES) || error_set_memory(error);
}

void application_release(struct application *application)
{
    string_table_release(&application->strings);
    text_builder_release(&application->redacted);
    free(application->executors);
    free(application->jobs);
    free(application->job_stages);
    free(application->stages);
    free(application->stage_inputs);
    free(application->tasks);
    free(application->sqls);
    free(application->properties);
    id_map_release(&application->stage_numbers);
    id_map_release(&application->task_numbers);
    id_map_release(&application->executor_numbers);
    id_map_release(&application->job_numbers);
    id_map_release(&application->sql_numbers);
    id_map_release(&application->file_counters);
    sql_plans_release(&application->plans);
    *application = (struct application){.tasks = NULL};
}

/* The place of `key`, which is new when *place is NO_ID: then there is room for one more item. */
#define FIND_OR_GROW(application, map, key, items, count, capacity)                               \
    uint32_t *place = id_map_place(&(application)->map, key);                                     \
    if (place == NULL)                                                                            \
        return NULL;                                                                              \
    if (*place != NO_ID)                                                                          \
        return &(application)->items[*place];                                                     \
    if (!array_reserve(&(application)->items, &(application)->capacity, (application)->count + 1, \
                       MOST_ITEMS))                                                               \
        return NULL;                                                                              \
    *place = (uint32_t)(application)->count++

struct executor *application_executor(struct application *application, uint32_t id)
{
    FIND_OR_GROW(application, executor_numbers, id, executors, executor_count, executor_capacity);
    struct executor *executor = &application->executors[*place];
    *executor = (struct executor){.id = id, .added_ms = NO_MS, .removed_ms = NO_MS};
    return executor;
}

struct job *application_job(struct application *application, int64_t id)
{
    FIND_OR_GROW(application, job_numbers, (uint64_t)id, jobs, job_count, job_capacity);
    struct job *job = &application->jobs[*place];
    *job = (struct job){.id = id, .submitted_ms = NO_MS, .completed_ms = NO_MS, .sql_execution = -1};
    return job;
}

struct stage *application_stage(struct application *application, int64_t id, int64_t attempt)
{
    uint64_t key = application_stage_key(id, attempt);
    FIND_OR_GROW(application, stage_numbers, key, stages, stage_count, stage_capacity);
    struct stage *stage = &application->stages[*place];
    *stage = (struct stage){.id = id,
                            .attempt = attempt,
                            .job = -1,
                            .data_set = -1,
                            .submitted_ms = NO_MS,
                            .completed_ms = NO_MS};
    return stage;
}

struct task *application_task(struct application *application, int64_t id)
{
    FIND_OR_GROW(application, task_numbers, (uint64_t)id, tasks, task_count, task_capacity);
    struct task *task = &application->tasks[*place];
    *task = (struct task){
        .id = id, .executor = NO_EXECUTOR, .launch_ms = NO_MS, .finish_ms = NO_MS, .partition = -1};
    return task;
}

struct sql_execution *application_sql(struct application *application, int64_t id)
{
    FIND_OR_GROW(application, sql_numbers, (uint64_t)id, sqls, sql_count, sql_capacity);
    struct sql_execution *sql = &application->sqls[*place];
    *sql = (struct sql_execution){.id = id, .start_ms = NO_MS, .end_ms = NO_MS};
    return sql;
}

static struct stage *find_stage(struct application *application, int64_t id, int64_t attempt)
{
    uint32_t number = id_map_get(&application->stage_numbers, application_stage_key(id, attempt));
    return number == NO_ID ? NULL : &application->stages[number];
}

/* All attempts of a stage, for the job that it ran for. */
static void count_stage(struct application *application, struct job *job, int64_t id)
{
    const struct stage *stage = find_stage(application, id, 0);
    if (stage == NULL)
        return;
    bool is_skipped = stage->status == STAGE_SKIPPED || stage->job != job->id;
    job->task_count = (int64_t)((uint64_t)job->task_count + (uint64_t)stage->task_count);
    if (is_skipped)
        job->skipped = (int64_t)((uint64_t)job->skipped + (uint64_t)stage->task_count);
    for (int64_t attempt = 0; !is_skipped && stage != NULL; stage = find_stage(application, id, ++attempt)) {
        job->succeeded += stage->succeeded;
        job->failed += stage->failed;
        job->killed += stage->killed;
        job->active += stage->active;
    }
}

bool application_finish(struct application *application)
{
    for (size_t i = 0; i < application->job_count; i++) {
        struct job *job = &application->jobs[i];
        job->task_count = job->skipped = 0;
        job->succeeded = job->failed = job->killed = job->active = 0;
        for (uint32_t j = 0; j < job->stage_count; j++) {
            int64_t id = application->job_stages[job->first_stage + j];
            struct stage *stage = find_stage(application, id, 0);
            if (stage != NULL && stage->status == STAGE_PENDING && job->status != JOB_RUNNING)
                stage->status = STAGE_SKIPPED;
            count_stage(application, job, id);
        }
    }
    return sql_plans_finish(&application->plans);
}

static void keep_later(int64_t *last_ms, int64_t ms)
{
    *last_ms = ms > *last_ms ? ms : *last_ms;
}

int64_t application_last_ms(const struct application *application)
{
    int64_t last_ms = application->end_ms;
    if (last_ms != NO_MS)
        return last_ms;
    for (size_t i = 0; i < application->task_count; i++) {
        keep_later(&last_ms, application->tasks[i].launch_ms);
        keep_later(&last_ms, application->tasks[i].finish_ms);
    }
    for (size_t i = 0; i < application->stage_count; i++) {
        keep_later(&last_ms, application->stages[i].submitted_ms);
        keep_later(&last_ms, application->stages[i].completed_ms);
    }
    for (size_t i = 0; i < application->job_count; i++) {
        keep_later(&last_ms, application->jobs[i].submitted_ms);
        keep_later(&last_ms, application->jobs[i].completed_ms);
    }
    return last_ms;
}

int64_t application_task_cores(const struct application *application)
{
    int64_t cores;
    bool is_set = text_to_i64(application_property(application, "spark.task.cpus"), &cores);
    return is_set && cores >= 1 && cores <= 1024 ? cores : 1;
}

struct text_view application_property(const struct application *application, const char *key)
{
    for (size_t i = 0; i < application->property_count; i++)
        if (text_equal(application_text(application, application->properties[i].key), text_of(key)))
            return application_text(application, application->properties[i].value);
    return TEXT("");
}

int64_t memory_setting_bytes(struct text_view text)
{
    static const char letters[] = "bkmgtp";
    uint64_t number;
    size_t digits = 0;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    if (digits > 12 || !text_to_u64(text_part(text, 0, digits), &number))
        return -1;
    if (digits == text.size)
        return (int64_t)(number << 20);
    const char *letter = strchr(letters, text.data[digits] | 0x20);
    if (letter == NULL || text.size > digits + 2 || number >> (62 - 10 * (letter - letters)) != 0)
        return -1;
    return (int64_t)(number << 10 * (letter - letters));
}

void executor_peaks_raise(struct executor_peaks *peaks, const struct executor_peaks *other)
{
#define EXECUTOR_METRIC(field, key) peaks->field = peaks->field > other->field ? peaks->field : other->field;
#include "spark/executor_metrics.def"
}

void task_metrics_add(struct task_metrics *sum, const struct task_metrics *metrics)
{
/* A hostile log may overflow a sum; it wraps. */
#define TASK_METRIC(field, key) sum->field = (int64_t)((uint64_t)sum->field + (uint64_t)metrics->field);
#include "spark/task_metrics.def"
}

int64_t span_ms(int64_t start_ms, int64_t end_ms)
{
    int64_t span;
    if (start_ms == NO_MS || end_ms == NO_MS || __builtin_sub_overflow(end_ms, start_ms, &span) || span < 0)
        return NO_MS;
    return span;
}

int64_t task_duration_ms(const struct task *task)
{
    return span_ms(task->launch_ms, task->finish_ms);
}
