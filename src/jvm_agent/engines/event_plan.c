#include "jvm_agent/engines/event_plan.h"

#include <signal.h>
#include <string.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/engines/allocations.h"
#include "jvm_agent/engines/locks.h"
#include "jvm_agent/engines/native_memory.h"
#include "jvm_agent/engines/signal_choice.h"
#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/engines/windows.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/native_names.h"

#define DEFAULT_ALLOCATION_BYTES ((uint64_t)512 * 1024)
#define MIN_INTERVAL_NS 100000
#define MIN_WALL_NS 1000000

static void plan_wall(struct event_plan *plan, int64_t interval_ns, bool batch)
{
    plan->wall = &engine_wall;
    plan->wall_settings.interval_ns =
        interval_ns > 0 ? (uint64_t)interval_ns : engine_wall.default_interval_ns;
    if (plan->wall_settings.interval_ns < MIN_WALL_NS)
        plan->wall_settings.interval_ns = MIN_WALL_NS;
    plan->wall_settings.batch_idle = batch;
}

static void plan_allocations(struct event_plan *plan, int64_t bytes)
{
    plan->allocations = true;
    plan->allocation_bytes = bytes > 0 ? (uint64_t)bytes : DEFAULT_ALLOCATION_BYTES;
}

static void plan_execution(struct event_plan *plan, const struct engine *engine, int64_t interval)
{
    plan->execution = engine;
    plan->execution_settings.interval_ns = interval > 0 ? (uint64_t)interval : engine->default_interval_ns;
    if (plan->execution_settings.interval_ns < MIN_INTERVAL_NS)
        plan->execution_settings.interval_ns = MIN_INTERVAL_NS;
}

/* A counter's interval is a number of events. */
static bool plan_perf(struct event_plan *plan, const char *event, const struct arguments *arguments,
                      struct error *error)
{
    struct perf_choice *choice = &plan->execution_settings.perf;
    if (!perf_choice_make(choice, event, error))
        return false;
    plan_execution(plan, &engine_perf, arguments->interval);
    if (!choice->is_clock)
        plan->execution_settings.interval_ns =
            arguments->interval > 0 ? (uint64_t)arguments->interval : choice->default_interval;
    plan->execution_settings.all_user = arguments->all_user;
    plan->execution_settings.kernel_frames = !arguments->all_user;
    plan->unit = choice->unit;
    return true;
}

/* "event=alloc,alloc=1": the specific option overrides the general one. */
static int64_t interval_of(const struct arguments *arguments, int64_t own)
{
    return own > 0 ? own : arguments->interval;
}

static bool plan_main_event(struct event_plan *plan, const struct arguments *arguments, struct error *error)
{
    const char *event = arguments->event;
    plan->unit = "ns";
    if (strcmp(event, "cpu") == 0) {
        plan->execution_may_fall_back = true;
        return plan_perf(plan, "cpu-clock", arguments, error);
    } else if (strcmp(event, "alloc") == 0) {
        plan_allocations(plan, interval_of(arguments, arguments->alloc_bytes));
        plan->main_kind = SAMPLE_ALLOCATION;
        plan->unit = "bytes";
    } else if (strcmp(event, "nativemem") == 0) {
        plan->native_memory = true;
        int64_t bytes = interval_of(arguments, arguments->native_bytes);
        plan->native_bytes = bytes > 0 ? (uint64_t)bytes : 0;
        plan->main_kind = SAMPLE_MALLOC;
        plan->unit = "bytes";
    } else if (strcmp(event, "lock") == 0) {
        plan->locks = true;
        int64_t threshold_ns = interval_of(arguments, arguments->lock_ns);
        plan->lock_ns = threshold_ns > 0 ? (uint64_t)threshold_ns : 0;
        plan->main_kind = SAMPLE_MONITOR;
    } else if (strcmp(event, "wall") == 0) {
        plan_wall(plan, interval_of(arguments, arguments->wall_ns), !arguments->no_batch);
        plan->main_kind = SAMPLE_WALL;
    } else {
        const struct engine *engine = engine_find(event);
        if (engine == NULL || engine == &engine_perf)
            return plan_perf(plan, event, arguments, error);
        plan_execution(plan, engine, arguments->interval);
    }
    return true;
}

static void choose_main_kind(struct event_plan *plan)
{
    if (plan->execution != NULL) {
        plan->main_kind = SAMPLE_EXECUTION;
        plan->unit =
            plan->execution == &engine_perf ? plan->execution_settings.perf.unit : plan->execution->unit;
    } else if (plan->wall != NULL) {
        plan->main_kind = SAMPLE_WALL;
        plan->unit = "ns";
    } else if (plan->allocations) {
        plan->main_kind = plan->live ? SAMPLE_LIVE_OBJECT : SAMPLE_ALLOCATION;
        plan->unit = "bytes";
    } else if (plan->native_memory) {
        plan->main_kind = SAMPLE_MALLOC;
        plan->unit = "bytes";
    } else {
        plan->main_kind = SAMPLE_MONITOR;
        plan->unit = "ns";
    }
}

/* Only perf events report their processor. */
static bool check_processors(struct event_plan *plan, const struct arguments *arguments, struct error *error)
{
    bool wanted = arguments->target_cpu >= 0 || arguments->record_cpu;
    plan->execution_settings.target_cpu = arguments->target_cpu >= 0 ? (int)arguments->target_cpu : -1;
    if (wanted && plan->execution != &engine_perf)
        return error_set(error, ERROR_USAGE, "target-cpu and record-cpu need perf events: event=cpu-clock");
    if (wanted)
        plan->execution_may_fall_back = false;
    return true;
}

bool event_plan_make(struct event_plan *plan, const struct arguments *arguments, struct error *error)
{
    memset(plan, 0, sizeof(*plan));
    plan->names_at_once = arguments_format(arguments) == FORMAT_JFR;
    plan->signal_number = arguments->signal_number > 0 ? (int)arguments->signal_number : 0;
    plan->wall_signal_number = (int)arguments->wall_signal_number;
    struct arguments chosen = *arguments;
    bool of_java = arguments->alloc_bytes >= 0 || arguments->lock_ns >= 0 ||
                   (arguments->event != NULL &&
                    (strcmp(arguments->event, "alloc") == 0 || strcmp(arguments->event, "lock") == 0));
    if (of_java && java_vm.machine == NULL)
        return error_set(error, ERROR_UNSUPPORTED,
                         "alloc and lock need a JVM; there is none in this process");
    bool nothing_chosen = arguments->alloc_bytes < 0 && arguments->lock_ns < 0 && arguments->wall_ns < 0 &&
                          arguments->native_bytes < 0;
    if (chosen.event == NULL && nothing_chosen)
        chosen.event = "cpu";
    if (chosen.event != NULL && !plan_main_event(plan, &chosen, error))
        return false;
    if (arguments->wall_ns >= 0 && plan->wall == NULL)
        plan_wall(plan, arguments->wall_ns, !arguments->no_batch);
    if (arguments->alloc_bytes >= 0 && !plan->allocations)
        plan_allocations(plan, arguments->alloc_bytes);
    plan->live = arguments->live && plan->allocations;
    plan->outside = arguments->tlab;
    plan->releases = !arguments->no_free;
    if (arguments->native_bytes >= 0 && !plan->native_memory) {
        plan->native_memory = true;
        plan->native_bytes = (uint64_t)arguments->native_bytes;
    }
    if (arguments->lock_ns >= 0 && !plan->locks) {
        plan->locks = true;
        plan->lock_ns = (uint64_t)arguments->lock_ns;
    }
    if (chosen.event == NULL || plan->live)
        choose_main_kind(plan);
    return check_processors(plan, arguments, error);
}

/* If frames are named during the recording, kernel names are read now, not while samples wait for the writer. */
static void learn_kernel(const struct event_plan *plan)
{
    if (!native_names_has_kernel())
        agent_log(LOG_WARN,
                  "Kernel symbols are unavailable, kernel frames have no names; to change that, set "
                  "kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1");
    else if (plan->names_at_once)
        native_names_read_kernel();
}

/* Its signal, or 0. */
static int process_timer_of(const struct event_plan *plan)
{
    return plan->execution == &engine_itimer ? SIGPROF : 0;
}

static bool start_execution(struct event_plan *plan, struct error *error)
{
    int process_timer = process_timer_of(plan);
    if (!signal_choose(process_timer != 0 ? process_timer : plan->signal_number, SIGPROF, process_timer,
                       sampler_handle_execution, &plan->execution_settings.signal_number, error))
        return false;
    sampler.interval_ns = plan->execution_settings.interval_ns;
    if (!plan->execution->start(&plan->execution_settings, error)) {
        if (!plan->execution_may_fall_back)
            return false;
        agent_log(LOG_INFO,
                  "Perf events unavailable (%s): sampling by CPU timers, without kernel frames; "
                  "to change that, set kernel.perf_event_paranoid=1 or grant CAP_PERFMON",
                  error->message);
        plan->execution = &engine_ctimer;
        if (!plan->execution->start(&plan->execution_settings, error))
            return false;
    }
    if (plan->execution == &engine_perf && plan->execution_settings.kernel_frames)
        learn_kernel(plan);
    thread_watch_use(plan->execution);
    return true;
}

static bool start_wall(struct event_plan *plan, struct error *error)
{
    if (!signal_choose(plan->wall_signal_number, SIGVTALRM, process_timer_of(plan), sampler_handle_wall,
                       &plan->wall_settings.signal_number, error))
        return false;
    sampler.wall_interval_ns = plan->wall_settings.interval_ns;
    return plan->wall->start(&plan->wall_settings, error);
}

void event_plan_prepare(const struct arguments *arguments)
{
    struct event_plan plan;
    struct error ignored = {0};
    bool wanted =
        arguments->action == ACTION_START &&
        (arguments->alloc_bytes >= 0 || (arguments->event != NULL && strcmp(arguments->event, "alloc") == 0));
    if (wanted && event_plan_make(&plan, arguments, &ignored) && plan.allocations &&
        !allocations_prepare(plan.allocation_bytes, &ignored))
        agent_log(LOG_DEBUG, "%s", ignored.message); /* the start will report it */
}

bool event_plan_start(struct event_plan *plan, struct error *error)
{
    if ((plan->execution != NULL && !start_execution(plan, error)) ||
        (plan->wall != NULL && !start_wall(plan, error)) ||
        (plan->allocations && !allocations_start(plan->allocation_bytes, plan->live, plan->outside, error)) ||
        (plan->native_memory && !native_memory_start(plan->native_bytes, plan->releases, error)) ||
        (plan->locks && !locks_start(plan->lock_ns, error))) {
        event_plan_stop(plan);
        return false;
    }
    return true;
}

void event_plan_stop(struct event_plan *plan)
{
    windows_stop();
    thread_watch_use(NULL);
    if (plan->execution != NULL)
        plan->execution->stop();
    if (plan->wall != NULL)
        plan->wall->stop();
    if (plan->allocations)
        allocations_stop();
    if (plan->native_memory)
        native_memory_stop();
    if (plan->locks)
        locks_stop();
    if (plan->live)
        allocations_report_live();
}
