#include "processes/process_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static char folder[] = "/tmp/process_list_testXXXXXX";

static void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL);
    CHECK(fwrite(bytes, 1, size, stream) == size);
    fclose(stream);
}

static void add_process(int pid, int parent, const char *command, size_t command_size,
                        const char *environment, size_t environment_size)
{
    char path[512], status[256];
    snprintf(path, sizeof(path), "%s/%d", folder, pid);
    CHECK(mkdir(path, 0755) == 0);
    int size = snprintf(status, sizeof(status),
                        "Name:\tx\nState:\tS (sleeping)\nPPid:\t%d\nUid:\t1\t1\t1\t1\n", parent);
    snprintf(path, sizeof(path), "%s/%d/status", folder, pid);
    write_bytes(path, status, (size_t)size);
    snprintf(path, sizeof(path), "%s/%d/cmdline", folder, pid);
    write_bytes(path, command, command_size);
    snprintf(path, sizeof(path), "%s/%d/environ", folder, pid);
    write_bytes(path, environment, environment_size);
}

#define PROCESS(pid, parent, command, environment) \
    add_process(pid, parent, command, sizeof(command), environment, sizeof(environment))

static const struct process *find(const struct process_list *list, int pid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->processes[i].pid == pid)
            return &list->processes[i];
    return NULL;
}

static void check_process(const struct process_list *list, int pid, enum spark_role role,
                          const char *application, const char *executor, const char *name)
{
    const struct process *process = find(list, pid);
    if (process == NULL)
        unit_test_fail(__FILE__, __LINE__, "no process %d", pid);
    CHECK_TEXT(spark_role_name(process->role), spark_role_name(role));
    CHECK_TEXT(process->application, application);
    CHECK_TEXT(process->executor, executor);
    CHECK_TEXT(process->name, name);
}

TEST(knows_what_processes_are_to_spark)
{
    struct error error = {0};
    struct process_list list;
    CHECK(mkdtemp(folder) != NULL);
    PROCESS(
        100, 1,
        "/jdk/bin/java\0-cp\0x\0org.apache.spark.executor.YarnCoarseGrainedExecutorBackend\0--driver-url\0"
        "spark://a\0--executor-id\0"
        "7\0--app-id\0application_1_2",
        "");
    PROCESS(90, 100, "python3\0-m\0pyspark.daemon\0pyspark.worker", ""); /* numbers may wrap around */
    PROCESS(80, 90, "python3\0-m\0pyspark.daemon\0pyspark.worker", "");
    PROCESS(200, 1,
            "java\0-cp\0x\0org.apache.spark.deploy.yarn.ApplicationMaster\0--class\0com.x.Job\0--jar\0j",
            "A=b\0CONTAINER_ID=container_e1_55_0003_01_000001");
    PROCESS(300, 1, "python3\0/home/me/job.py", "");
    PROCESS(301, 300, "java\0-cp\0x\0org.apache.spark.deploy.SparkSubmit\0--name\0n\0pyspark-shell", "");
    PROCESS(400, 1, "java\0-jar\0/opt/tool.jar", "");
    PROCESS(500, 1, "/bin/bash\0-c\0java", "");
    PROCESS(600, 1,
            "java\0-cp\0x\0org.apache.spark.deploy.SparkSubmit\0--class\0"
            "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
            "");
    process_list_init(&list);
    CHECK_OK(error, process_list_read(&list, folder, &error));
    check_process(&list, 100, SPARK_ROLE_EXECUTOR, "application_1_2", "7",
                  "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend");
    check_process(&list, 90, SPARK_ROLE_PYTHON_DAEMON, "application_1_2", "7", "pyspark.daemon");
    check_process(&list, 80, SPARK_ROLE_PYTHON_WORKER, "application_1_2", "7", "pyspark.daemon");
    check_process(&list, 200, SPARK_ROLE_DRIVER, "application_55_0003", "driver", "com.x.Job");
    check_process(&list, 300, SPARK_ROLE_PYTHON_DRIVER, "", "driver", "job.py");
    check_process(&list, 301, SPARK_ROLE_DRIVER, "", "driver", "org.apache.spark.deploy.SparkSubmit");
    check_process(&list, 400, SPARK_ROLE_NONE, "", "", "/opt/tool.jar");
    check_process(&list, 600, SPARK_ROLE_SERVER, "", "driver",
                  "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2");
    CHECK(find(&list, 500) == NULL);
    CHECK_INT(list.count, 8);
    CHECK(process_matches(find(&list, 100), "application_1_2"));
    CHECK(process_matches(find(&list, 100), "executor"));
    CHECK(process_matches(find(&list, 100), "executor 7"));
    CHECK(!process_matches(find(&list, 100), "executor 8"));
    CHECK(process_matches(find(&list, 100), "100"));
    CHECK(process_matches(find(&list, 200), "Job"));
    CHECK(process_matches(find(&list, 200), "com.x.Job"));
    CHECK(process_matches(find(&list, 400), "tool.jar"));
    CHECK(!process_matches(find(&list, 400), ""));
    process_list_release(&list);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
}

TEST(says_when_the_folder_is_missing)
{
    struct error error = {0};
    struct process_list list;
    process_list_init(&list);
    CHECK(!process_list_read(&list, "/nonexistent", &error));
    process_list_release(&list);
}
