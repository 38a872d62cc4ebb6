#include "jvm_agent/control/recording_views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/jfr/jfr_session.h"

#define VIEW_NAME_LIMIT 64

struct recording_view {
    char name[VIEW_NAME_LIMIT];
    uint32_t kinds;       /* bit set of its sample kinds */
    uint64_t deadline_ns; /* 0: none */
    struct jfr_session session;
};

static struct recording_view *views[RECORDING_VIEW_LIMIT];

static bool is_execution_event(const char *wanted, const struct recorded_events *recorded)
{
    static const char *const clocks[] = {"cpu", "cpu-clock", "ctimer", "itimer"};
    const char *event = recorded->arguments->event == NULL ? "cpu" : recorded->arguments->event;
    bool is_clock = false, wants_clock = false;
    if (recorded->plan->execution == NULL)
        return false;
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        is_clock = is_clock || strcmp(event, clocks[i]) == 0;
        wants_clock = wants_clock || strcmp(wanted, clocks[i]) == 0;
    }
    return strcmp(event, wanted) == 0 || (is_clock && wants_clock);
}

/* The sample kinds of the event; 0: it is not recorded. */
static uint32_t kinds_of(const char *event, const struct recorded_events *recorded, uint64_t *interval)
{
    const struct event_plan *plan = recorded->plan;
    *interval = 0;
    if (is_execution_event(event, recorded)) {
        *interval = plan->execution_settings.interval_ns;
        return 1u << SAMPLE_EXECUTION;
    }
    if (strcmp(event, "wall") == 0 && plan->wall != NULL) {
        *interval = plan->wall_settings.interval_ns;
        return 1u << SAMPLE_WALL;
    }
    if (strcmp(event, "alloc") == 0 && plan->allocations)
        return 1u << SAMPLE_ALLOCATION | 1u << SAMPLE_ALLOCATION_OUTSIDE;
    if (strcmp(event, "lock") == 0 && plan->locks)
        return 1u << SAMPLE_MONITOR | 1u << SAMPLE_PARK;
    if (strcmp(event, "nativemem") == 0 && plan->native_memory)
        return 1u << SAMPLE_MALLOC | 1u << SAMPLE_FREE;
    return 0;
}

static bool refuse_event(const char *event, const struct recorded_events *recorded, struct error *error)
{
    char names[256];
    const struct event_plan *plan = recorded->plan;
    const char *execution = recorded->arguments->event == NULL ? "cpu" : recorded->arguments->event;
    snprintf(names, sizeof(names), "%s%.128s%s%s%s%s", plan->execution == NULL ? "" : " ",
             plan->execution == NULL ? "" : execution, plan->wall == NULL ? "" : " wall",
             plan->allocations ? " alloc" : "", plan->locks ? " lock" : "",
             plan->native_memory ? " nativemem" : "");
    return error_set(error, ERROR_USAGE, "%s is not recorded; events of the running recording:%s", event,
                     names);
}

static struct recording_view **find(const char *name)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++)
        if (views[i] != NULL && strcmp(views[i]->name, name) == 0)
            return &views[i];
    return NULL;
}

static struct recording_view **find_wanted(const struct arguments *wanted, struct error *error)
{
    struct recording_view **place = find(wanted->view);
    if (place == NULL)
        error_set(error, ERROR_USAGE, "the recording has ended, and the view %s with it", wanted->view);
    return place;
}

static struct recording_view **find_room(const char *name, size_t limit, struct error *error)
{
    if (find(name) != NULL || name[0] == '\0' || strlen(name) >= VIEW_NAME_LIMIT) {
        error_set(error, ERROR_USAGE, "view=%s: the name is in use, empty or too long", name);
        return NULL;
    }
    for (size_t i = 0; i < limit; i++)
        if (views[i] == NULL)
            return &views[i];
    error_set(error, ERROR_USAGE, "the recording already has %zu views, the maximum for its memlimit", limit);
    return NULL;
}

bool recording_views_start(const struct arguments *wanted, const struct recorded_events *recorded,
                           struct text_builder *text, struct error *error)
{
    uint64_t interval;
    const char *event = wanted->event == NULL ? "cpu" : wanted->event;
    uint32_t kinds = kinds_of(event, recorded, &interval);
    if (kinds == 0)
        return refuse_event(event, recorded, error);
    if (wanted->file == NULL)
        return error_set(error, ERROR_USAGE, "a view needs file=");
    struct recording_view **place = find_room(wanted->view, recorded->limit, error);
    if (place == NULL)
        return false;
    struct recording_view *view = calloc(1, sizeof(*view));
    if (view == NULL)
        return error_set_memory(error);
    snprintf(view->name, sizeof(view->name), "%s", wanted->view);
    view->kinds = kinds | 1u << SAMPLE_TAG;
    if (wanted->timeout_s > 0)
        view->deadline_ns = agent_now_ns() + (uint64_t)wanted->timeout_s * 1000000000u;
    if (!jfr_session_open(&view->session, recorded->arguments, recorded->plan, wanted->file,
                          recorded->limit_bytes, recorded->tables, error)) {
        free(view);
        return false;
    }
    *place = view;
    text_builder_format(text, "interval=%llu\n", (unsigned long long)interval);
    return true;
}

bool recording_views_rotate(const struct arguments *wanted, struct jfr_ended_file *ended, struct error *error)
{
    struct recording_view **place = find_wanted(wanted, error);
    ended->disk.descriptor = -1;
    if (place == NULL)
        return false;
    if (wanted->file == NULL)
        return error_set(error, ERROR_USAGE, "rotate needs file=");
    return jfr_session_switch(&(*place)->session, wanted->file, (*place)->session.tables, ended, error);
}

static bool end(struct recording_view **place, struct error *error)
{
    struct recording_view *view = *place;
    *place = NULL;
    bool closed = jfr_session_close(&view->session, error);
    free(view);
    return closed;
}

bool recording_views_stop(const struct arguments *wanted, struct error *error)
{
    struct recording_view **place = find_wanted(wanted, error);
    return place != NULL && end(place, error);
}

static void end_and_log(struct recording_view **place)
{
    struct error error = {0};
    if (!end(place, &error))
        agent_log(LOG_WARN, "%s", error.message);
}

void recording_views_end_all(void)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++)
        if (views[i] != NULL)
            end_and_log(&views[i]);
}

bool recording_views_exist(void)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++)
        if (views[i] != NULL)
            return true;
    return false;
}

void recording_views_renew(struct recording_tables *tables)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++)
        if (views[i] != NULL)
            jfr_session_renew(&views[i]->session, tables);
}

void recording_views_add(const struct agent_sample *samples, size_t count)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++)
        for (size_t j = 0; views[i] != NULL && j < count; j++)
            if ((views[i]->kinds >> samples[j].kind & 1) != 0)
                jfr_session_add(&views[i]->session, &samples[j]);
}

void recording_views_describe(struct text_view label)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++)
        if (views[i] != NULL)
            jfr_session_describe(&views[i]->session, label);
}

/* A view whose command was killed is written until the limit that this command gave; without a limit, as long as the
 * recording runs. */
void recording_views_tick(void)
{
    for (size_t i = 0; i < RECORDING_VIEW_LIMIT; i++) {
        if (views[i] == NULL)
            continue;
        jfr_session_tick(&views[i]->session);
        if (views[i]->deadline_ns != 0 && agent_now_ns() > views[i]->deadline_ns)
            end_and_log(&views[i]);
    }
}
