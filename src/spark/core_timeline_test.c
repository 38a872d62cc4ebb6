#include "spark/core_timeline.h"

#include "unit_test.h"

static struct task *add_task(struct application *application, int64_t id, int64_t launch_ms,
                             int64_t finish_ms)
{
    struct task *task = application_task(application, id);
    CHECK(task != NULL);
    task->stage = 0;
    task->executor = 0;
    task->index = (uint32_t)id;
    task->launch_ms = launch_ms;
    task->finish_ms = finish_ms;
    return task;
}

/* An executor of some cores and a stage, both from 1000 to 11000. */
static void make_application(struct application *application, int64_t cores, int64_t task_count)
{
    struct error error = {0};
    CHECK(application_init(application, &error));
    application->start_ms = 1000;
    application->end_ms = 11000;
    struct executor *executor = application_executor(application, 1);
    struct stage *stage = application_stage(application, 0, 0);
    CHECK(executor != NULL && stage != NULL);
    executor->cores = cores;
    executor->added_ms = 1000;
    executor->removed_ms = NO_MS;
    stage->submitted_ms = 1000;
    stage->completed_ms = 11000;
    stage->status = STAGE_COMPLETE;
    stage->task_count = task_count;
}

static struct core_sums sums_of(const struct application *application)
{
    struct core_timeline timeline;
    struct error error = {0};
    CHECK_OK(error, core_timeline_init(&timeline, application, &error));
    struct core_sums sums = core_timeline_all(&timeline);
    core_timeline_release(&timeline);
    return sums;
}

TEST(a_task_whose_time_is_not_known_does_not_wait_for_ever)
{
    struct application application;
    make_application(&application, 2, 2);
    add_task(&application, 0, 1000, 11000);
    add_task(&application, 1, 5000, 4000);
    struct core_sums sums = sums_of(&application);
    CHECK_INT((int64_t)sums.there, 20000);
    CHECK_INT((int64_t)sums.busy, 10000);
    CHECK_INT((int64_t)sums.pending, 0);
    CHECK_INT((int64_t)sums.tail, 10000);
    application_release(&application);
}

/* Those of a later stage wait all the same. */
TEST(more_than_a_million_tasks_may_wait)
{
    struct application application;
    make_application(&application, 2, 1500000);
    add_task(&application, 0, 1000, 6000);
    application.end_ms = 21000;
    struct stage *next = application_stage(&application, 1, 0);
    CHECK(next != NULL);
    next->submitted_ms = 11000;
    next->completed_ms = 21000;
    next->status = STAGE_COMPLETE;
    next->task_count = 1;
    struct core_sums sums = sums_of(&application);
    CHECK_INT((int64_t)sums.pending, 35000);
    CHECK_INT((int64_t)sums.running, 20000);
    application_release(&application);
}

TEST(an_impossible_number_of_cores_is_cut)
{
    struct application application;
    make_application(&application, INT64_MAX, 1);
    CHECK_INT((int64_t)sums_of(&application).there, 10000 * INT64_C(1000000));
    application_release(&application);
}
