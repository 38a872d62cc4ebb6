#include "jvm_agent/labels/spark_names.h"

#include "unit_test.h"

TEST(reads_the_task_from_a_thread_name)
{
    char tag[128];
    CHECK(spark_names_parse(TEXT("Executor task launch worker for task 3.1 in stage 7.2 (TID 41)"), tag,
                            sizeof(tag)));
    CHECK_TEXT(tag, "stage=7;stage_attempt=2;partition=3;attempt=1;task=41");
}

TEST(leaves_other_names_alone)
{
    char tag[128];
    CHECK(!spark_names_parse(TEXT("Executor task launch worker-0"), tag, sizeof(tag)));
    CHECK(!spark_names_parse(TEXT("Executor task launch worker for task x"), tag, sizeof(tag)));
    CHECK(!spark_names_parse(TEXT("main"), tag, sizeof(tag)));
    CHECK(
        !spark_names_parse(TEXT("Executor task launch worker for task 3.1 in stage 7.2 (TID 41)"), tag, 10));
}
