#include "native_sampler/process_table.h"

#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

static pid_t exited_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
    return pid;
}

/* Its last samples may still be read; later, its number may be that of another process. */
TEST(a_process_that_exited_is_forgotten_after_a_while)
{
    struct error error = {0};
    struct profile profile;
    struct process_table table;
    CHECK_OK(error, profile_init(&profile, false, &error));
    process_table_init(&table, &profile);
    pid_t pid = exited_process();
    CHECK(process_table_add_target(&table, pid) && process_table_add_target(&table, getpid()));
    CHECK(process_table_image(&table, pid, 1) != NULL);
    CHECK_INT(process_table_live(&table), 1);
    struct perf_record ended = {.kind = PERF_KIND_EXIT, .time_ns = 1, .pid = pid, .tid = pid};
    CHECK(process_table_apply(&table, &ended, 1));
    process_table_sweep(&table, 1000000001);
    CHECK(process_table_is_target(&table, pid));
    process_table_sweep(&table, 3000000001);
    CHECK(!process_table_is_target(&table, pid) && process_table_is_target(&table, getpid()));
    struct process_image *image = process_table_image(&table, pid, 4000000001);
    CHECK(image != NULL && !image->was_swept && image->exited_ns == 0);
    process_table_release(&table);
    profile_release(&profile);
}
