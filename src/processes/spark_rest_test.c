#include "processes/spark_rest.h"

#include "unit_test.h"

TEST(reads_applications_and_executors)
{
    struct error error = {0};
    struct spark_rest rest;
    spark_rest_init(&rest);
    CHECK_OK(error,
             spark_rest_add_applications(
                 &rest,
                 TEXT("[{\"id\":\"app-1\",\"name\":\"Word count\",\"attempts\":[{\"completed\":true,"
                      "\"sparkUser\":\"me\",\"x\":[1,{}]},{\"completed\":false,\"sparkUser\":\"you\"}]}]"),
                 &error));
    CHECK_INT(rest.application_count, 1);
    CHECK_TEXT(rest.applications[0].id, "app-1");
    CHECK_TEXT(rest.applications[0].name, "Word count");
    CHECK_TEXT(rest.applications[0].user, "you");
    CHECK(!rest.applications[0].completed);
    CHECK_OK(error, spark_rest_add_executors(
                        &rest, "app-1",
                        TEXT("[{\"id\":\"driver\",\"hostPort\":\"a:1\",\"isActive\":true,\"totalCores\":4,"
                             "\"executorLogs\":{\"stdout\":\"http://\"},\"activeTasks\":2},"
                             "{\"id\":\"1\",\"isActive\":false,\"completedTasks\":9,\"failedTasks\":1}]"),
                        &error));
    CHECK_INT(rest.executor_count, 2);
    CHECK_TEXT(rest.executors[0].host, "a:1");
    CHECK_INT(rest.executors[0].cores, 4);
    CHECK_INT(rest.executors[0].active_tasks, 2);
    CHECK(rest.executors[0].is_active && !rest.executors[1].is_active);
    CHECK_INT(rest.executors[1].failed_tasks, 1);
    CHECK_TEXT(rest.executors[1].application, "app-1");
    spark_rest_release(&rest);
}

TEST(refuses_other_json)
{
    static const char *const texts[] = {"", "{}", "[1]", "[{\"id\":", "<html>", "[{\"attempts\":[}]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error error = {0};
        struct spark_rest rest;
        spark_rest_init(&rest);
        CHECK(!spark_rest_add_applications(&rest, text_of(texts[i]), &error));
        CHECK(error.message[0] != '\0');
        spark_rest_release(&rest);
    }
}
