#include "spark/event_log/event_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit_test.h"

#define TASKS 20000

static struct error error;

/* A few megabytes: several pieces for each thread. */
static void write_log(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    for (int i = 0; i < TASKS; i++)
        fprintf(
            file,
            "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Task End Reason\":"
            "{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":%d,\"Index\":%d,\"Executor ID\":\"%d\","
            "\"Host\":\"host%d\"},\"Task Metrics\":{\"Executor Run Time\":%d}}\n",
            i % 3, i, i, i % 5, i % 7, i);
    fclose(file);
}

TEST(threads_do_not_change_the_result)
{
    char path[] = "/tmp/event_log_lines_XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    close(descriptor);
    write_log(path);
    for (size_t threads = 1; threads <= 4; threads += 3) {
        struct application application;
        struct event_log_counts counts = {0};
        struct event_log_options options = {.threads = threads};
        CHECK_OK(error, application_init(&application, &error));
        CHECK_OK(error, event_log_read(path, &options, &application, &counts, &error));
        CHECK_INT(counts.events, TASKS);
        CHECK_INT(application.task_count, TASKS);
        CHECK_INT(application.executor_count, 5);
        for (size_t i = 0; i < TASKS; i++) {
            CHECK_INT(application.tasks[i].id, i);
            CHECK_INT(application.tasks[i].metrics.run_ms, i);
            CHECK_INT(application.tasks[i].executor, i % 5);
        }
        application_release(&application);
    }
    unlink(path);
}
