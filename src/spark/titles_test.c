#include "spark/titles.h"

#include "unit_test.h"

TEST(the_first_line_of_the_user_counts)
{
    char text[100];
    CHECK(title_of_stack(TEXT("org.apache.spark.sql.Dataset.$anonfun$collect$1(Dataset.scala:3)\n"
                              "org.apache.spark.sql.Dataset.collect(Dataset.scala:1)\n"
                              "org.apache.spark.sql.Dataset.withAction(Dataset.scala:2)\n"
                              "shop.Orders$.main(Orders.scala:42)\nshop.Orders.main(Orders.scala)"),
                         text, sizeof(text)));
    CHECK_TEXT(text, "collect at Orders.scala:42");
    CHECK(title_of_stack(TEXT("shop.Orders$.main(Orders.scala:42)"), text, sizeof(text)));
    CHECK_TEXT(text, "main at Orders.scala:42");
    CHECK(
        !title_of_stack(TEXT("java.lang.Thread.run(Thread.java:840)\npy4j.Gateway.invoke(Gateway.java:282)"),
                        text, sizeof(text)));
    CHECK(!title_of_stack(TEXT(")x.y(\n\n()\nno stack"), text, sizeof(text)));
    CHECK(!title_of_stack(TEXT(""), text, sizeof(text)));
}

static uint32_t text_in(struct application *application, const char *text)
{
    return string_table_add(&application->strings, text_of(text));
}

static bool is_title(const struct application *application, const char *expected)
{
    return text_equal(application_text(application, application->stages[0].title), text_of(expected));
}

TEST(a_stage_of_adaptive_execution_is_named_after_its_job_or_query)
{
    struct application application;
    struct error error = {0};
    CHECK(application_init(&application, &error));
    struct sql_execution *sql = application_sql(&application, 7);
    struct job *job = application_job(&application, 1);
    struct stage *stage = application_stage(&application, 3, 0);
    CHECK(sql != NULL && job != NULL && stage != NULL);
    sql->description = text_in(&application, "count at NativeMethodAccessorImpl.java:0");
    job->sql_execution = 7;
    stage->job = 1;
    stage->name = text_in(&application, "$anonfun$withThreadLocalCaptured$2 at CompletableFuture.java:1768");
    CHECK(titles_set(&application));
    CHECK(is_title(&application, "count of query 7"));
    sql->description = text_in(&application, "collect at /job/shop.py:12");
    CHECK(titles_set(&application) && is_title(&application, "collect at /job/shop.py:12"));
    job->description = text_in(&application, "monthly totals");
    CHECK(titles_set(&application) && is_title(&application, "monthly totals"));
    stage->name = text_in(&application, "count at Shop.scala:3");
    CHECK(titles_set(&application) && is_title(&application, "count at Shop.scala:3"));
    application_release(&application);
}
