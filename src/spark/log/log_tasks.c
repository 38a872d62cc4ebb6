#include "spark/log/log_tasks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/lower_bound.h"
#include "spark/log/log_match.h"

/* The last stage of a job; the stages of a job have numbers up to it, from that of the job before it on. */
struct job_final_stage {
    int64_t stage;
    int64_t job;
};

struct task_line {
    struct log_tasks *tasks;
    const struct log_record *record;
    uint32_t *executor;
    bool *is_driver;
    struct log_match match;
};

void log_tasks_init(struct log_tasks *tasks, struct application *application)
{
    *tasks = (struct log_tasks){.application = application, .last_job = -1};
}

void log_tasks_release(struct log_tasks *tasks)
{
    free(tasks->finals);
    *tasks = (struct log_tasks){.application = NULL};
}

static bool keep_text(struct task_line *line, struct text_view text, uint32_t *place)
{
    uint32_t number = string_table_add(&line->tasks->application->strings, text_trim(text));
    if (number == NO_STRING)
        return false;
    *place = number;
    return true;
}

static struct executor *executor_named(struct task_line *line, struct text_view id)
{
    uint32_t number;
    return keep_text(line, id, &number) ? application_executor(line->tasks->application, number) : NULL;
}

static int64_t now_ms(const struct task_line *line)
{
    return line->record->head.time_ms;
}

static void widen(int64_t *start_ms, int64_t *end_ms, int64_t time_ms)
{
    if (time_ms == NO_MS)
        return;
    if (*start_ms == NO_MS || time_ms < *start_ms)
        *start_ms = time_ms;
    if (*end_ms == NO_MS || time_ms > *end_ms)
        *end_ms = time_ms;
}

/* ---- the application ---- */

static bool on_version(struct task_line *line)
{
    *line->is_driver = true;
    return keep_text(line, line->match.rest, &line->tasks->application->spark_version);
}

static bool on_name(struct task_line *line)
{
    *line->is_driver = true;
    return keep_text(line, line->match.rest, &line->tasks->application->name);
}

/* "Connected to Spark cluster with app ID app-1", "Application report for application_1_2 (state: RUNNING)" */
static bool on_id(struct task_line *line)
{
    struct text_view id = line->match.rest;
    return keep_text(line, text_cut(&id, ' '), &line->tasks->application->id);
}

/* ---- executors ---- */

static bool on_executor_start(struct task_line *line)
{
    struct executor *executor = executor_named(line, line->match.texts[0]);
    if (executor == NULL)
        return false;
    *line->executor = executor->id;
    if (executor->added_ms == NO_MS)
        executor->added_ms = now_ms(line);
    return keep_text(line, line->match.rest, &executor->host);
}

/* "Registered executor NettyRpcEndpointRef(…) (10.0.0.1:5000) with ID 1,  ResourceProfileId 0" */
static bool on_executor_registered(struct task_line *line)
{
    struct text_view rest = line->match.rest;
    struct executor *executor = executor_named(line, text_cut(&rest, ','));
    if (executor != NULL)
        executor->added_ms = now_ms(line);
    return executor != NULL;
}

static bool on_executor_lost(struct task_line *line)
{
    struct executor *executor = executor_named(line, line->match.texts[0]);
    if (executor == NULL)
        return false;
    executor->removed_ms = now_ms(line);
    return keep_text(line, line->match.rest, &executor->removed_reason);
}

/* ---- jobs and stages ---- */

static bool on_job(struct task_line *line)
{
    struct job *job = application_job(line->tasks->application, line->match.numbers[0]);
    if (job == NULL)
        return false;
    *line->is_driver = true;
    job->submitted_ms = now_ms(line);
    line->tasks->last_job = job->id;
    return keep_text(line, line->match.texts[0], &job->name);
}

static bool on_job_end(struct task_line *line, enum job_status status)
{
    struct job *job = application_job(line->tasks->application, line->match.numbers[0]);
    if (job == NULL)
        return false;
    job->completed_ms = now_ms(line);
    job->status = status;
    return status == JOB_SUCCEEDED || keep_text(line, line->match.rest, &job->exception);
}

static bool on_job_finished(struct task_line *line)
{
    return on_job_end(line, JOB_SUCCEEDED);
}

static bool on_job_failed(struct task_line *line)
{
    return on_job_end(line, JOB_FAILED);
}

static bool on_final_stage(struct task_line *line)
{
    struct log_tasks *tasks = line->tasks;
    if (tasks->last_job < 0)
        return true;
    if (!array_reserve(&tasks->finals, &tasks->final_capacity, tasks->final_count + 1, UINT32_MAX))
        return false;
    tasks->finals[tasks->final_count++] = (struct job_final_stage){line->match.numbers[0], tasks->last_job};
    return true;
}

/* The newest known attempt of a stage; the first one if none is known. */
static struct stage *newest_attempt(struct task_line *line, int64_t id)
{
    struct application *application = line->tasks->application;
    int64_t attempt = 0;
    while (id_map_get(&application->stage_numbers, application_stage_key(id, attempt + 1)) != NO_ID)
        attempt++;
    return application_stage(application, id, attempt);
}

/* "PythonRDD[1] at count at job.py:54": the place is the name */
static struct text_view stage_name(struct text_view text)
{
    size_t at = text_find(text, TEXT("] at "));
    return at == TEXT_NOT_FOUND ? text : text_from(text, at + 5);
}

static bool on_stage(struct task_line *line)
{
    struct stage *stage = newest_attempt(line, line->match.numbers[0]);
    if (stage == NULL)
        return false;
    if (stage->submitted_ms == NO_MS)
        stage->submitted_ms = now_ms(line);
    stage->status = STAGE_ACTIVE;
    return stage->name != 0 || keep_text(line, stage_name(line->match.texts[0]), &stage->name);
}

static bool on_task_set(struct task_line *line)
{
    const int64_t *numbers = line->match.numbers;
    struct stage *stage = application_stage(line->tasks->application, numbers[0], numbers[1]);
    if (stage == NULL)
        return false;
    if (stage->submitted_ms == NO_MS)
        stage->submitted_ms = now_ms(line);
    stage->status = STAGE_ACTIVE;
    stage->task_count = numbers[2];
    return true;
}

static bool on_stage_end(struct task_line *line, enum stage_status status)
{
    struct stage *stage = newest_attempt(line, line->match.numbers[0]);
    if (stage == NULL)
        return false;
    stage->completed_ms = now_ms(line);
    stage->status = status;
    return true;
}

static bool on_stage_finished(struct task_line *line)
{
    return on_stage_end(line, STAGE_COMPLETE);
}

static bool on_stage_failed(struct task_line *line)
{
    struct text_view why = line->match.rest;
    size_t due = text_find(why, TEXT(" due to "));
    if (!on_stage_end(line, STAGE_FAILED))
        return false;
    struct stage *stage = newest_attempt(line, line->match.numbers[0]);
    return stage != NULL &&
           (due == TEXT_NOT_FOUND || keep_text(line, text_from(why, due + 8), &stage->failure));
}

/* ---- tasks: numbers are index, attempt, stage, stage attempt, task id ---- */

static struct task *task_of_line(struct task_line *line)
{
    struct application *application = line->tasks->application;
    const int64_t *numbers = line->match.numbers;
    struct stage *stage = application_stage(application, numbers[2], numbers[3]);
    if (stage == NULL)
        return NULL;
    uint32_t stage_number = (uint32_t)(stage - application->stages);
    struct task *task = application_task(application, numbers[4]);
    if (task == NULL)
        return NULL;
    task->stage = stage_number;
    task->index = (uint32_t)numbers[0];
    task->attempt = (uint32_t)numbers[1];
    return task;
}

static bool set_executor(struct task_line *line, struct task *task, struct text_view id)
{
    struct application *application = line->tasks->application;
    size_t number = (size_t)(task - application->tasks);
    struct executor *executor = executor_named(line, id);
    if (executor != NULL)
        application->tasks[number].executor = (uint32_t)(executor - application->executors);
    return executor != NULL;
}

/* "… (TID 0, localhost, executor driver, partition 0, PROCESS_LOCAL, 7934 bytes)", since 3.0
 * "… (TID 0) (10.0.0.1, executor driver, partition 0, PROCESS_LOCAL, 4337 bytes)" */
static bool on_task_start(struct task_line *line)
{
    struct log_match where;
    struct task *task = task_of_line(line);
    if (task == NULL)
        return false;
    *line->is_driver = true;
    task->launch_ms = now_ms(line);
    struct text_view rest = line->match.rest;
    size_t executor = text_find(rest, TEXT("executor "));
    if (executor == TEXT_NOT_FOUND ||
        !log_match(text_from(rest, executor), "executor *, partition #, *,", &where))
        return true;
    task->partition = (int32_t)where.numbers[0];
    return keep_text(line, where.texts[1], &task->locality) && set_executor(line, task, where.texts[0]);
}

/* What the executor itself says; the driver knows better. */
static bool on_task_running(struct task_line *line)
{
    struct task *task = task_of_line(line);
    if (task == NULL || task->launch_ms != NO_MS)
        return task != NULL;
    task->launch_ms = now_ms(line);
    struct application *application = line->tasks->application;
    return *line->executor == 0 || set_executor(line, task, application_text(application, *line->executor));
}

static bool on_task_end(struct task_line *line, enum task_status status)
{
    struct task *task = task_of_line(line);
    if (task == NULL)
        return false;
    task->finish_ms = now_ms(line);
    task->status = (uint8_t)status;
    return true;
}

static bool on_task_finished(struct task_line *line)
{
    return on_task_end(line, TASK_SUCCEEDED);
}

static bool on_task_result_sent(struct task_line *line)
{
    struct task *task = task_of_line(line);
    return task != NULL && (task->status != TASK_RUNNING || on_task_end(line, TASK_SUCCEEDED));
}

/* "Lost task 0.0 in stage 0.0 (TID 0) (host executor 1): java.lang.X: …" */
static bool on_task_lost(struct task_line *line)
{
    if (!on_task_end(line, TASK_FAILED))
        return false;
    struct task *task = task_of_line(line);
    size_t colon = text_find(line->match.rest, TEXT("): "));
    return task != NULL && (colon == TEXT_NOT_FOUND ||
                            keep_text(line, text_from(line->match.rest, colon + 3), &task->reason));
}

static bool on_task_killed(struct task_line *line)
{
    struct task *task = task_of_line(line);
    return task != NULL && (task->status != TASK_RUNNING || on_task_end(line, TASK_KILLED));
}

static const struct {
    const char *logger; /* the logger's name ends so; NULL: any */
    const char *pattern;
    bool (*take)(struct task_line *line);
} message_kinds[] = {
    {"SparkContext", "Running Spark version ", on_version},
    {"SparkContext", "Submitted application: ", on_name},
    {NULL, "Connected to Spark cluster with app ID ", on_id},
    {"Client", "Submitted application ", on_id},
    {"Client", "Application report for ", on_id},
    {"Executor", "Starting executor ID * on host ", on_executor_start},
    {NULL, "Registered executor * with ID ", on_executor_registered},
    {"TaskSchedulerImpl", "Lost executor * on *: ", on_executor_lost},
    {"YarnScheduler", "Lost executor * on *: ", on_executor_lost},
    {"YarnClusterScheduler", "Lost executor * on *: ", on_executor_lost},
    {"DAGScheduler", "Got job # (*) with ", on_job},
    {"DAGScheduler", "Got map stage job # (*) with ", on_job},
    {"DAGScheduler", "Job # finished: ", on_job_finished},
    {"DAGScheduler", "Job # failed: ", on_job_failed},
    {"DAGScheduler", "Final stage: ResultStage # ", on_final_stage},
    {"DAGScheduler", "Final stage: ShuffleMapStage # ", on_final_stage},
    {"DAGScheduler", "Submitting ResultStage # (*), which ", on_stage},
    {"DAGScheduler", "Submitting ShuffleMapStage # (*), which ", on_stage},
    {"DAGScheduler", "ResultStage # (*) finished in ", on_stage_finished},
    {"DAGScheduler", "ShuffleMapStage # (*) finished in ", on_stage_finished},
    {"DAGScheduler", "ResultStage # (*) failed in ", on_stage_failed},
    {"DAGScheduler", "ShuffleMapStage # (*) failed in ", on_stage_failed},
    {NULL, "Adding task set #.# with # tasks", on_task_set},
    {"TaskSetManager", "Starting task #.# in stage #.# (TID #", on_task_start},
    {"TaskSetManager", "Finished task #.# in stage #.# (TID #) in ", on_task_finished},
    {"TaskSetManager", "Lost task #.# in stage #.# (TID #", on_task_lost},
    {"Executor", "Running task #.# in stage #.# (TID #)", on_task_running},
    {"Executor", "Finished task #.# in stage #.# (TID #).", on_task_result_sent},
    {"Executor", "Executor killed task #.# in stage #.# (TID #)", on_task_killed},
};

int log_tasks_message_kind(const struct log_head *head)
{
    struct log_match match;
    for (size_t i = 0; i < COUNT_OF(message_kinds) && head->message.size > 0; i++) {
        if (message_kinds[i].pattern[0] != head->message.data[0] ||
            (message_kinds[i].logger != NULL &&
             !text_ends_with(head->logger, text_of(message_kinds[i].logger))))
            continue;
        if (log_match(head->message, message_kinds[i].pattern, &match))
            return (int)i;
    }
    return LOG_TASKS_NO_KIND;
}

bool log_tasks_take(struct log_tasks *tasks, const struct log_record *record, int message_kind,
                    uint32_t *executor, bool *is_driver, struct error *error)
{
    struct task_line line = {.tasks = tasks, .record = record, .executor = executor, .is_driver = is_driver};
    struct application *application = tasks->application;
    widen(&application->start_ms, &application->end_ms, record->head.time_ms);
    if (message_kind == LOG_TASKS_NO_KIND ||
        !log_match(record->head.message, message_kinds[message_kind].pattern, &line.match))
        return true;
    return message_kinds[message_kind].take(&line) || error_set_memory(error);
}

/* ---- the end ---- */

static int compare_finals(const void *left, const void *right)
{
    const struct job_final_stage *a = left, *b = right;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* The job with the smallest final stage that is not before this one. */
static int64_t job_of_stage(const struct log_tasks *tasks, int64_t stage)
{
    size_t at = LOWER_BOUND(tasks->finals, tasks->final_count, stage, stage);
    return at < tasks->final_count ? tasks->finals[at].job : -1;
}

static void count_task(struct stage *stage, const struct task *task)
{
    stage->succeeded += task->status == TASK_SUCCEEDED;
    stage->failed += task->status == TASK_FAILED;
    stage->killed += task->status == TASK_KILLED;
    stage->active += task->status == TASK_RUNNING;
    if (stage->submitted_ms == NO_MS)
        stage->submitted_ms = task->launch_ms;
}

static struct job *job_that_owns(struct application *application, const struct stage *stage)
{
    uint32_t number = id_map_get(&application->job_numbers, (uint64_t)stage->job);
    return stage->attempt != 0 || number == NO_ID ? NULL : &application->jobs[number];
}

static bool give_stages_to_jobs(struct application *application)
{
    for (size_t i = 0; i < application->stage_count; i++) {
        struct job *job = job_that_owns(application, &application->stages[i]);
        if (job != NULL)
            job->stage_count++;
    }
    size_t total = 0;
    for (size_t i = 0; i < application->job_count; i++) {
        application->jobs[i].first_stage = (uint32_t)total;
        total += application->jobs[i].stage_count;
        application->jobs[i].stage_count = 0;
    }
    if (!array_reserve(&application->job_stages, &application->job_stage_capacity, total, UINT32_MAX))
        return false;
    application->job_stage_count = total;
    for (size_t i = 0; i < application->stage_count; i++) {
        struct job *job = job_that_owns(application, &application->stages[i]);
        if (job != NULL)
            application->job_stages[job->first_stage + job->stage_count++] = application->stages[i].id;
    }
    return true;
}

/* The end of a map stage's job is not logged; it ends with its final stage. */
static void finish_jobs(struct log_tasks *tasks)
{
    struct application *application = tasks->application;
    for (size_t i = 0; i < tasks->final_count; i++) {
        uint32_t job_number = id_map_get(&application->job_numbers, (uint64_t)tasks->finals[i].job);
        uint64_t key = application_stage_key(tasks->finals[i].stage, 0);
        uint32_t stage_number = id_map_get(&application->stage_numbers, key);
        if (job_number == NO_ID || stage_number == NO_ID)
            continue;
        struct job *job = &application->jobs[job_number];
        const struct stage *stage = &application->stages[stage_number];
        if (job->status == JOB_RUNNING && stage->status == STAGE_COMPLETE) {
            job->status = JOB_SUCCEEDED;
            job->completed_ms = stage->completed_ms;
        }
    }
}

bool log_tasks_finish(struct log_tasks *tasks, struct error *error)
{
    struct application *application = tasks->application;
    if (tasks->final_count > 0)
        qsort(tasks->finals, tasks->final_count, sizeof(*tasks->finals), compare_finals);
    for (size_t i = 0; i < application->task_count; i++)
        count_task(&application->stages[application->tasks[i].stage], &application->tasks[i]);
    for (size_t i = 0; i < application->stage_count; i++) {
        struct stage *stage = &application->stages[i];
        stage->job = job_of_stage(tasks, stage->id);
        int64_t seen = (int64_t)stage->succeeded + stage->active;
        if (stage->task_count < seen)
            stage->task_count = seen;
    }
    finish_jobs(tasks);
    return give_stages_to_jobs(application) || error_set_memory(error);
}
