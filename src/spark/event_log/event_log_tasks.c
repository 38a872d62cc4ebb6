#include "spark/event_log/event_log_tasks.h"

#include "base/text_builder.h"
#include "spark/event_log/event_log_details.h"
#include "base/redaction.h"

#define TEXT_LIMIT_BYTES ((size_t)256 << 20)

#define AT(field) offsetof(struct task_event, field)

/* ---- reading ---- */

static const struct json_field info_fields[] = {
    {FIELD_KEY("Task ID"), FIELD_INTEGER, AT(id)},
    {FIELD_KEY("Index"), FIELD_INTEGER, AT(index)},
    {FIELD_KEY("Attempt"), FIELD_INTEGER, AT(attempt)},
    {FIELD_KEY("Partition ID"), FIELD_INTEGER, AT(partition)},
    {FIELD_KEY("Launch Time"), FIELD_INTEGER, AT(launch_ms)},
    {FIELD_KEY("Executor ID"), FIELD_VIEW, AT(executor)},
    {FIELD_KEY("Host"), FIELD_VIEW, AT(host)},
    {FIELD_KEY("Locality"), FIELD_VIEW, AT(locality)},
    {FIELD_KEY("Speculative"), FIELD_BOOL, AT(speculative)},
    {FIELD_KEY("Getting Result Time"), FIELD_INTEGER, AT(getting_result_ms)},
    {FIELD_KEY("Finish Time"), FIELD_INTEGER, AT(finish_ms)},
    {FIELD_KEY("Failed"), FIELD_BOOL, AT(failed)},
    {FIELD_KEY("Killed"), FIELD_BOOL, AT(killed)},
    {FIELD_KEY("Accumulables"), FIELD_OTHER, AT(counters), NULL, task_counters_read},
    {{NULL, 0}},
};

static const struct json_field end_reason_fields[] = {
    {FIELD_KEY("Reason"), FIELD_VIEW, AT(reason)},
    {FIELD_KEY("Class Name"), FIELD_TEXT, AT(class_name)},
    {FIELD_KEY("Description"), FIELD_TEXT, AT(description)},
    {FIELD_KEY("Message"), FIELD_TEXT, AT(description)},
    {FIELD_KEY("Full Stack Trace"), FIELD_TEXT, AT(stack_trace)},
    {FIELD_KEY("Loss Reason"), FIELD_TEXT, AT(loss_reason)},
    {FIELD_KEY("Kill Reason"), FIELD_TEXT, AT(kill_reason)},
    {{NULL, 0}},
};

static const struct json_field shuffle_read_fields[] = {
#define SHUFFLE_READ_METRIC(field, key) {FIELD_KEY(key), FIELD_INTEGER, AT(metrics.field)},
#include "spark/task_metrics.def"
    {{NULL, 0}},
};

static const struct json_field shuffle_write_fields[] = {
#define SHUFFLE_WRITE_METRIC(field, key) {FIELD_KEY(key), FIELD_INTEGER, AT(metrics.field)},
#include "spark/task_metrics.def"
    {{NULL, 0}},
};

static const struct json_field input_fields[] = {
#define INPUT_METRIC(field, key) {FIELD_KEY(key), FIELD_INTEGER, AT(metrics.field)},
#include "spark/task_metrics.def"
    {{NULL, 0}},
};

static const struct json_field output_fields[] = {
#define OUTPUT_METRIC(field, key) {FIELD_KEY(key), FIELD_INTEGER, AT(metrics.field)},
#include "spark/task_metrics.def"
    {{NULL, 0}},
};

static const struct json_field metric_fields[] = {
#define PASSED_METRIC(key) {FIELD_KEY(key), FIELD_NOTHING},
#define OWN_METRIC(field, key) {FIELD_KEY(key), FIELD_INTEGER, AT(metrics.field)},
#include "spark/task_metrics.def"
    {FIELD_KEY("Shuffle Read Metrics"), FIELD_OBJECT, 0, shuffle_read_fields},
    {FIELD_KEY("Shuffle Write Metrics"), FIELD_OBJECT, 0, shuffle_write_fields},
    {FIELD_KEY("Input Metrics"), FIELD_OBJECT, 0, input_fields},
    {FIELD_KEY("Output Metrics"), FIELD_OBJECT, 0, output_fields},
    {{NULL, 0}},
};

static bool read_metrics(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct task_event *event = place;
    if (first != JSON_OBJECT_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    event->has_metrics = true;
    return json_fields_read(fields, metric_fields, event);
}

bool task_event_read(struct task_event *event, bool is_end, struct task_counters *counters,
                     struct json_fields_reader *fields)
{
    static const struct json_field task_fields[] = {
        {FIELD_KEY("Event"), FIELD_NOTHING},
        {FIELD_KEY("Stage ID"), FIELD_INTEGER, AT(stage)},
        {FIELD_KEY("Stage Attempt ID"), FIELD_INTEGER, AT(stage_attempt)},
        {FIELD_KEY("Task Type"), FIELD_NOTHING},
        {FIELD_KEY("Task End Reason"), FIELD_OBJECT, 0, end_reason_fields},
        {FIELD_KEY("Task Info"), FIELD_OBJECT, 0, info_fields},
        {FIELD_KEY("Task Executor Metrics"), FIELD_OTHER, AT(peaks), NULL, event_log_read_peaks},
        {FIELD_KEY("Task Metrics"), FIELD_OTHER, 0, NULL, read_metrics},
        {{NULL, 0}},
    };
    *event = (struct task_event){.is_end = is_end, .partition = -1, .launch_ms = NO_MS};
    event->counters.counters = is_end ? counters : NULL;
    return json_fields_read(fields, task_fields, event);
}

/* ---- storing ---- */

/* The text's number; `last` is that of the event before, which mostly has the same. */
static uint32_t number_of(struct application *application, struct text_view text, uint32_t *last)
{
    if (text_equal(application_text(application, *last), text))
        return *last;
    struct text_builder *redacted = &application->redacted;
    if (!application->shows_secrets && redaction_apply(text, redacted))
        text = redacted->failed ? TEXT("") : text_builder_view(redacted);
    uint32_t number = string_table_add(&application->strings, text);
    if (number != NO_STRING)
        *last = number;
    return number;
}

static bool store_common(const struct task_event *event, struct application *application, struct task **task,
                         struct stage **stage)
{
    struct task_texts *last = &application->last_texts;
    uint32_t executor_id = number_of(application, event->executor, &last->executor);
    uint32_t host = number_of(application, event->host, &last->host);
    uint32_t locality = number_of(application, event->locality, &last->locality);
    if (executor_id == NO_STRING || host == NO_STRING || locality == NO_STRING)
        return false;
    struct executor *executor = application_executor(application, executor_id);
    *stage = application_stage(application, event->stage, event->stage_attempt);
    *task = application_task(application, event->id);
    if (executor == NULL || *stage == NULL || *task == NULL)
        return false;
    if (executor->host == 0)
        executor->host = host;
    executor_peaks_raise(&executor->peaks, &event->peaks);
    (*task)->stage = (uint32_t)(*stage - application->stages);
    (*task)->executor = (uint32_t)(executor - application->executors);
    (*task)->index = (uint32_t)event->index;
    (*task)->attempt = (uint32_t)event->attempt;
    (*task)->partition = (int32_t)event->partition;
    (*task)->launch_ms = event->launch_ms;
    (*task)->locality = locality;
    (*task)->speculative = event->speculative;
    return true;
}

static enum task_status end_status(const struct task_event *event)
{
    if (text_equal(event->reason, TEXT("Success")))
        return TASK_SUCCEEDED;
    return text_equal(event->reason, TEXT("TaskKilled")) ? TASK_KILLED : TASK_FAILED;
}

static void count_end(struct stage *stage, enum task_status status)
{
    stage->active -= stage->active > 0;
    stage->succeeded += status == TASK_SUCCEEDED;
    stage->failed += status == TASK_FAILED;
    stage->killed += status == TASK_KILLED;
}

/* "java.io.IOException: No space left", "ExecutorLostFailure: …" */
static bool describe_failure(struct application *application, const struct task_event *event,
                             uint32_t *reason)
{
    uint32_t detail = event->description != 0   ? event->description
                      : event->loss_reason != 0 ? event->loss_reason
                                                : event->kill_reason;
    struct text_builder text;
    text_builder_init(&text, TEXT_LIMIT_BYTES);
    text_builder_add(&text, event->class_name != 0 ? application_text(application, event->class_name)
                                                   : event->reason);
    if (detail != 0) {
        text_builder_add(&text, TEXT(": "));
        text_builder_add(&text, application_text(application, detail));
    }
    *reason = text.failed ? NO_STRING : string_table_add(&application->strings, text_builder_view(&text));
    text_builder_release(&text);
    return *reason != NO_STRING;
}

static bool store_counters(const struct task_event *event, struct application *application)
{
    const struct task_counter_range *range = &event->counters;
    for (size_t i = 0; i < range->count; i++) {
        const struct task_counter *counter = &range->counters->items[range->first + i];
        if (!sql_plans_add_task(&application->plans, counter->id, event->id, counter->value))
            return false;
    }
    return true;
}

bool task_event_store(const struct task_event *event, struct application *application, struct error *error)
{
    struct task *task;
    struct stage *stage;
    if (!store_common(event, application, &task, &stage))
        return error_set_memory(error);
    if (!event->is_end) {
        stage->active++;
        return true;
    }
    task->status = (uint8_t)end_status(event);
    task->finish_ms = event->finish_ms == 0 ? NO_MS : event->finish_ms;
    task->getting_result_ms = event->getting_result_ms;
    task->has_metrics = event->has_metrics;
    task->metrics = event->metrics;
    task->stack_trace = event->stack_trace;
    count_end(stage, task->status);
    task_metrics_add(&stage->totals, &event->metrics);
    bool good = task->status == TASK_SUCCEEDED ? store_counters(event, application)
                                               : describe_failure(application, event, &task->reason);
    return good || error_set_memory(error);
}
