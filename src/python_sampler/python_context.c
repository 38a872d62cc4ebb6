#include "python_sampler/python_context.h"

#include <stdio.h>

#define SEARCH_AGAIN_NS INT64_C(1000000000)
/* Maximum number of keys checked with the hash of a thread's id: more than one is rare. */
#define MOST_MATCHES 8

struct thread_search {
    const struct python_reader *reader;
    uint64_t thread_id;
    uint64_t thread; /* the Thread object found */
    unsigned matches;
};

static bool match_thread(void *context, uint64_t hash, uint64_t key, uint64_t value)
{
    struct thread_search *search = context;
    int64_t ident;
    /* The hash of a number of this size is the number. Thread ids are addresses and may need three digits of 30
     * bits; two hold all of user space except its top. */
    if (hash != search->thread_id)
        return true;
    if (search->matches++ == MOST_MATCHES)
        return false;
    if (!python_object_read_int(search->reader, key, &ident) || (uint64_t)ident != search->thread_id)
        return true;
    search->thread = value;
    return false;
}

static bool find_active_threads(struct python_context *context, const struct python_reader *reader,
                                uint64_t interpreter, int64_t now_ns)
{
    uint64_t module;
    if (context->active_threads != 0)
        return true;
    if (now_ns < context->next_search_ns)
        return false;
    context->next_search_ns = now_ns + SEARCH_AGAIN_NS;
    return python_find_module(reader, interpreter, "threading", &module) &&
           python_dict_get(reader, module, "_active", &context->active_threads);
}

bool python_context_thread_name(struct python_context *context, const struct python_reader *reader,
                                uint64_t interpreter, uint64_t thread_id, int64_t now_ns, char *name,
                                size_t name_bytes)
{
    struct thread_search search = {.reader = reader, .thread_id = thread_id};
    struct text_builder text;
    uint64_t string;
    if (!find_active_threads(context, reader, interpreter, now_ns))
        return false;
    if (!python_dict_visit(reader, context->active_threads, match_thread, &search)) {
        context->active_threads = 0;
        return false;
    }
    if (search.thread == 0 || !python_object_attribute(reader, search.thread, "_name", &string))
        return false;
    text_builder_init(&text, 16 * PYTHON_STRING_LIMIT);
    bool good = python_object_read_string(reader, string, &text) && text.size > 0;
    if (good)
        snprintf(name, name_bytes, "%s", text_builder_c_string(&text));
    text_builder_release(&text);
    return good;
}

static bool find_task_class(struct python_context *context, const struct python_reader *reader,
                            uint64_t interpreter, int64_t now_ns)
{
    uint64_t module, type;
    if (context->task_class_dict != 0)
        return true;
    if (now_ns < context->next_task_search_ns)
        return false;
    context->next_task_search_ns = now_ns + SEARCH_AGAIN_NS / 10;
    return python_find_module(reader, interpreter, "pyspark.taskcontext", &module) &&
           python_dict_get(reader, module, "TaskContext", &type) &&
           python_class_dict(reader, type, &context->task_class_dict);
}

static bool read_field(const struct python_reader *reader, uint64_t object, const char *name, int64_t *number)
{
    uint64_t value;
    return python_object_attribute(reader, object, name, &value) &&
           python_object_read_int(reader, value, number);
}

static bool read_task(const struct python_context *context, const struct python_reader *reader,
                      struct python_task *task)
{
    uint64_t object;
    return python_dict_get(reader, context->task_class_dict, "_taskContext", &object) &&
           read_field(reader, object, "_taskAttemptId", &task->task_id) &&
           read_field(reader, object, "_stageId", &task->stage) &&
           read_field(reader, object, "_partitionId", &task->partition) &&
           read_field(reader, object, "_attemptNumber", &task->attempt);
}

/* The worker reuses one object for all tasks and sets the id last, so that until then other fields may belong to the
 * next task. */
static bool is_whole(const struct python_task *task, const struct python_task *before)
{
    return !before->known || task->task_id != before->task_id ||
           (task->stage == before->stage && task->partition == before->partition &&
            task->attempt == before->attempt);
}

const struct python_task *python_context_task(struct python_context *context,
                                              const struct python_reader *reader, uint64_t interpreter,
                                              int64_t now_ns)
{
    if (now_ns < context->next_task_ns)
        return &context->task;
    context->next_task_ns = now_ns + PYTHON_TASK_TRUST_NS;
    struct python_task task = {.known = false};
    if (find_task_class(context, reader, interpreter, now_ns))
        task.known = read_task(context, reader, &task) && is_whole(&task, &context->last_known);
    context->task = task.known ? task : (struct python_task){.known = false};
    if (task.known)
        context->last_known = task;
    return &context->task;
}
