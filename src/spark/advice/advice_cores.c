/*
 * advice_cores.c - rules that look at cores without work.
 */
#include <inttypes.h>
#include <stdio.h>

#include "spark/advice/advice_rule.h"

#define MIN_IDLE_MS 120000 /* core time */
#define MIN_DRIVER_MS 30000

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* From the first job to the end of the last; false: there is none. */
static bool span_of_jobs(const struct application *application, int64_t *from_ms, int64_t *to_ms)
{
    *from_ms = *to_ms = NO_MS;
    for (size_t i = 0; i < application->job_count; i++) {
        const struct job *job = &application->jobs[i];
        if (job->submitted_ms == NO_MS || job->completed_ms == NO_MS)
            continue;
        *from_ms = *from_ms == NO_MS || job->submitted_ms < *from_ms ? job->submitted_ms : *from_ms;
        *to_ms = job->completed_ms > *to_ms ? job->completed_ms : *to_ms;
    }
    return *from_ms != NO_MS && *to_ms > *from_ms;
}

/* Time between the first job and the end of the last without a task, in milliseconds. */
static double gaps_ms(const struct advice_case *it, int64_t *from_ms, int64_t *to_ms)
{
    if (!span_of_jobs(it->application, from_ms, to_ms))
        return 0;
    double running = core_timeline_between(it->sources->cores, *from_ms, *to_ms).running;
    return (double)(*to_ms - *from_ms) - running;
}

/* What fewer executors would have cost less; each waits for the first job as long as it did. What is idle while the
 * driver works is a reason to look at the driver first. */
static void save_idle(const struct advice_case *it, struct advice_item *item, const struct core_sums *sums)
{
    int64_t from_ms, to_ms;
    struct core_sums jobs = *sums;
    if (span_of_jobs(it->application, &from_ms, &to_ms))
        jobs = core_timeline_between(it->sources->cores, from_ms, to_ms);
    double idle = jobs.there - jobs.busy, saved = idle - jobs.busy / 4;
    advice_save_cores(item, jobs.driver >= 0.5 * idle ? CERTAINTY_LOW : CERTAINTY_MEDIUM,
                      saved > 0 ? (int64_t)saved : 0,
                      "the idle core time during jobs beyond a quarter of what tasks use");
}

bool advice_find_idle_cores(const struct advice_case *it, struct advice_item *item)
{
    struct core_sums sums = core_timeline_all(it->sources->cores);
    double idle = sums.there - sums.busy;
    if (it->number > 0 || idle < 0.5 * sums.there || idle < MIN_IDLE_MS ||
        !advice_has_executors(it->application))
        return false;
    bool is_driver = sums.driver >= 0.5 * idle, is_tail = sums.tail >= 0.5 * idle;
    save_idle(it, item, &sums);
    advice_say(item,
               "%.0f %% of the executors' core time was idle: %.0f %% while no task ran or waited, %.0f %% "
               "while too "
               "few tasks were left, %.0f %% while tasks waited to be started",
               100 * share(idle, sums.there), 100 * share(sums.driver, sums.there),
               100 * share(sums.tail, sums.there), 100 * share(sums.pending, sums.there));
    advice_propose(item,
                   is_driver ? "fewer executors, or spark.dynamicAllocation.enabled, which gives idle ones "
                               "back; then see what the driver does between jobs"
                   : is_tail ? "fewer executors (see the table of times by executors), or more and even "
                               "partitions; dynamic allocation gives idle ones back"
                             : "see why tasks did not start: locality waits (spark.locality.wait), a driver "
                               "that is busy, executors that register late");
    return true;
}

bool advice_find_driver_bound(const struct advice_case *it, struct advice_item *item)
{
    int64_t from_ms = 0, to_ms = 0;
    double gaps = it->number > 0 ? 0 : gaps_ms(it, &from_ms, &to_ms);
    /* In local mode, the driver gets as little of a CPU as its tasks. */
    double alone = gaps * (advice_has_executors(it->application) ? 1 : it->cpu_share);
    if (alone < MIN_DRIVER_MS || gaps < 0.3 * (double)(to_ms - from_ms))
        return false;
    advice_save(it, item, CERTAINTY_LOW, (int64_t)(gaps / 2), "estimated: half of the time without tasks");
    advice_say(
        item,
        "between the first job and the last, no task ran or waited for %.1f of %.1f s (%.0f %%): the driver "
        "worked, or waited, alone",
        gaps / 1000, (double)(to_ms - from_ms) / 1000, 100 * gaps / (double)(to_ms - from_ms));
    advice_propose(
        item, "record the driver (-e wall) and look at its flame graph in those times: planning, listing "
              "of files, collect() and pandas code, calls of other services; start independent jobs "
              "from several threads");
    return true;
}
