#include "spark/titles.h"

#include <inttypes.h>
#include <stdio.h>

#define TITLE_BYTES 300

bool title_is_of_spark(struct text_view name)
{
    static const char *const words[] = {
        "$anonfun$",       "NativeMethodAccessorImpl", "DirectMethodHandleAccessor",
        "<unknown>",       "CompletableFuture.java",   "ThreadPoolExecutor.java",
        "FutureTask.java", " at Thread.java"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (text_find(name, text_of(words[i])) != TEXT_NOT_FOUND)
            return true;
    return name.size == 0;
}

/* ---- the user's line ---- */

static bool is_library(struct text_view line)
{
    static const char *const starts[] = {
        "org.apache.spark.",  "scala.",   "java.", "javax.",   "jdk.", "sun.", "py4j.",
        "org.apache.hadoop.", "com.sun.", "<jdk",  "app//java"};
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        if (text_starts_with(line, text_of(starts[i])))
            return true;
    return false;
}

/* "collect" of "org.apache.spark.rdd.RDD.collect(RDD.scala:1049)". */
static struct text_view method_of(struct text_view line)
{
    struct text_view name = text_part(line, 0, text_find_byte(line, '('));
    size_t dot = text_find_last_byte(name, '.');
    return dot == TEXT_NOT_FOUND ? name : text_from(name, dot + 1);
}

bool title_of_stack(struct text_view stack, char *text, size_t size)
{
    struct text_view caller = TEXT("");
    while (stack.size > 0) {
        struct text_view line = text_trim(text_cut(&stack, '\n'));
        size_t open = text_find_byte(line, '('), close = text_find_last_byte(line, ')');
        if (open == TEXT_NOT_FOUND || close == TEXT_NOT_FOUND || close < open)
            continue;
        struct text_view place = text_part(line, open + 1, close - open - 1);
        if (!is_library(line) && text_find_byte(place, ':') != TEXT_NOT_FOUND) {
            struct text_view method = text_part(caller.size > 0 ? caller : method_of(line), 0, 100);
            place = text_part(place, 0, 150);
            snprintf(text, size, "%.*s at %.*s", TEXT_FORMAT(method), TEXT_FORMAT(place));
            return true;
        }
        struct text_view method = method_of(line);
        bool is_generated =
            text_find_byte(method, '$') != TEXT_NOT_FOUND || text_starts_with(method, TEXT("with"));
        caller = is_generated ? caller : method;
    }
    return false;
}

/* ---- titles ---- */

static bool add(struct application *application, const char *text, uint32_t *title)
{
    *title = string_table_add(&application->strings, text_of(text));
    return *title != NO_STRING;
}

static bool set_query_title(struct application *application, struct sql_execution *sql)
{
    char text[TITLE_BYTES];
    struct text_view description = application_text(application, sql->description);
    sql->title = sql->description;
    if (!title_is_of_spark(description))
        return true;
    if (title_of_stack(application_text(application, sql->details), text, sizeof(text)))
        return add(application, text, &sql->title);
    size_t end = text_find(description, TEXT(" at "));
    struct text_view method = text_part(description, 0, end == TEXT_NOT_FOUND ? 0 : end);
    if (method.size == 0 || method.size > 60 || text_find_byte(method, '$') != TEXT_NOT_FOUND)
        return true;
    snprintf(text, sizeof(text), "%.*s of query %" PRId64, TEXT_FORMAT(method), sql->id);
    return add(application, text, &sql->title);
}

/* What is known of a job without its stages; 0: nothing. */
static uint32_t job_description(const struct application *application, const struct job *job)
{
    if (job->description != 0)
        return job->description;
    uint32_t number =
        job->sql_execution < 0 ? NO_ID : id_map_get(&application->sql_numbers, (uint64_t)job->sql_execution);
    if (number != NO_ID && application->sqls[number].title != 0)
        return application->sqls[number].title;
    return job->group;
}

static bool set_stage_title(struct application *application, struct stage *stage)
{
    char text[TITLE_BYTES];
    stage->title = stage->name;
    if (!title_is_of_spark(application_text(application, stage->name)))
        return true;
    uint32_t number = id_map_get(&application->job_numbers, (uint64_t)stage->job);
    uint32_t description = number == NO_ID ? 0 : job_description(application, &application->jobs[number]);
    bool is_of_user = description != 0 && !title_is_of_spark(application_text(application, description));
    if (!is_of_user && title_of_stack(application_text(application, stage->details), text, sizeof(text)))
        return add(application, text, &stage->title);
    stage->title = description != 0 ? description : stage->name;
    return true;
}

bool titles_set(struct application *application)
{
    for (size_t i = 0; i < application->sql_count; i++)
        if (!set_query_title(application, &application->sqls[i]))
            return false;
    for (size_t i = 0; i < application->stage_count; i++)
        if (!set_stage_title(application, &application->stages[i]))
            return false;
    for (size_t i = 0; i < application->job_count; i++) {
        struct job *job = &application->jobs[i];
        uint32_t description = job_description(application, job);
        bool is_of_spark = title_is_of_spark(application_text(application, job->name));
        job->title = is_of_spark && description != 0 ? description : job->name;
    }
    return true;
}
