#include "commands/record/python_targets.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* Maximum delay until a new process of an application is sampled; workers are found at once, as children. */
#define PART_NS INT64_C(500000000)
#define MOST_AT_ONCE 256

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Skips unreadable processes as long as others can be read. */
static bool add_application(struct python_targets *targets, struct python_sampler *sampler,
                            struct error *error)
{
    pid_t pids[MOST_AT_ONCE];
    size_t added = 0;
    size_t count = spark_targets_take(targets->spark, pids, MOST_AT_ONCE);
    for (size_t i = 0; i < count; i++)
        added += python_sampler_add(sampler, pids[i], error);
    return added > 0;
}

bool python_targets_init(struct python_targets *targets, const struct target_selection *selection,
                         struct python_sampler *sampler, struct error *error)
{
    *targets = (struct python_targets){.selection = selection};
    for (size_t i = 0; i < selection->pid_count; i++) {
        if (!python_sampler_add(sampler, selection->pids[i], error))
            return false;
    }
    if (selection->spark_application != NULL) {
        targets->spark = spark_targets_new(selection->spark_application, error);
        if (targets->spark == NULL || !add_application(targets, sampler, error))
            return false;
    }
    if (selection->program == NULL)
        return true;
    return started_command_start(&targets->started, selection->program, &selection->watch, error) &&
           python_sampler_add(sampler, targets->started, error);
}

/* True: the program was still running and was ended. */
static bool end_program(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0)
        return false;
    kill(pid, SIGKILL);
    return true;
}

int python_targets_release(struct python_targets *targets)
{
    spark_targets_free(targets->spark);
    if (targets->started > 0 && targets->selection->ends_program && end_program(targets->started)) {
        (void)started_command_wait(targets->started);
        return 0;
    }
    return targets->started > 0 ? started_command_wait(targets->started) : 0;
}

void python_targets_sample(struct python_targets *targets, struct python_sampler *sampler,
                           int64_t duration_ns, const atomic_bool *stop)
{
    if (targets->spark == NULL) {
        python_sampler_run(sampler, duration_ns, stop);
        return;
    }
    int64_t end = duration_ns == 0 ? INT64_MAX : now_ns() + duration_ns;
    for (int64_t left; (left = end - now_ns()) > 0 && !atomic_load(stop);) {
        (void)add_application(targets, sampler, NULL);
        if (python_sampler_statistics(sampler).live == 0)
            return;
        python_sampler_run(sampler, left < PART_NS ? left : PART_NS, stop);
    }
}
