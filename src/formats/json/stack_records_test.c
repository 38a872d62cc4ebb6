#include "formats/json/stack_records.h"

#include <stdlib.h>

#include "formats/format_test.h"

TEST(reads_records_of_the_jvm_profiler)
{
    struct profile profile;
    format_test_read_data(&profile, "uber/Stacktrace.json");
    CHECK_TEXT(format_test_dump(&profile),
               "wall 10/10 java/lang/ref/Finalizer$FinalizerThread.run;java/lang/ref/ReferenceQueue.remove;"
               "java/lang/Object.wait thread=Finalizer state=WAITING process=4711@node1\n"
               "wall 10/10 java/lang/Thread.run;org/apache/spark/executor/Executor$TaskRunner.run;"
               "org/apache/spark/scheduler/Task.run;org/apache/spark/api/python/PythonRunner$$anon$1.read;"
               "java/net/SocketInputStream.read;java/net/SocketInputStream.socketRead0 "
               "thread=Executor task launch worker for task 0 state=RUNNABLE process=4711@node1 "
               "application=application_1700000000000_0001\n"
               "wall 1/1 [no Java frames] thread=Signal Dispatcher state=RUNNABLE process=4711@node1\n");
    CHECK(profile.times_are_absolute);
    CHECK_INT(profile.start_ns, 1700000000000000000);
    CHECK_INT(profile.end_ns, 1700000002000000000);
    CHECK_TEXT(format_test_notices, "");
    profile_release(&profile);
}

TEST(reads_records_inside_a_log_and_of_mixed_kinds)
{
    struct profile profile;
    format_test_read_data(&profile, "uber/stdout.log");
    CHECK_TEXT(format_test_dump(&profile),
               "wall 4/4 demo/Job.main;demo/Job$.$anonfun$main$1;scala/collection/Iterator$$anon$10.next "
               "thread=main state=RUNNABLE process=99@node1 executor=driver\n"
               "wall 5/5 <module> (/opt/job.py:40);work (/opt/job.py:12) rdd=8\n");
    CHECK(strstr(format_test_notices,
                 "/uber/stdout.log: 1 broken stack record skipped, the first in line 6\n") != NULL);
    profile_release(&profile);
}

TEST(reads_records_of_pyspark)
{
    format_test_check_data(
        "pyspark/s_1_stack.json",
        "wall 1008/1008 main (/opt/spark/python/pyspark/worker.py:370);"
        "<genexpr> (/opt/spark/python/pyspark/rdd.py:1055);process (/home/u/job.py:20) rdd=1\n"
        "wall 448/448 main (/opt/spark/python/pyspark/worker.py:370);"
        "<genexpr> (/opt/spark/python/pyspark/rdd.py:1055);process (/home/u/job.py:19) rdd=1\n"
        "wall 19/19 main (/opt/spark/python/pyspark/worker.py:370);"
        "<lambda> (C:\\jobs\\t\xc3\xa4glich.py:3) rdd=1\n");
}

TEST(passes_over_broken_records)
{
    format_test_check("uber",
                      TEXT("{\"stacktrace\":[\"A.a\"],\"count\":-1}\n"
                           "{\"stacktrace\":[\"A.a\"],\"count\":\"x\"}\n"
                           "{\"stacktrace\":[7],\"count\":1}\n"
                           "{\"stacktrace\":\"A.a\",\"count\":1}\n"
                           "{\"stacktrace\":[\"A.a\"],\"count\":1e999}\n"
                           "{\"stacktrace\":[\"A.a\"],\"count\":0}\n"
                           "{\"stacktrace\":[\"A.a\"],\"count\":2,\"startEpoch\":-5,\"endEpoch\":9e99}\n"),
                      "wall 2/2 A.a\n");
    CHECK_TEXT(format_test_notices, "5 broken stack records skipped, the first in line 1\n");
}

TEST(fails_when_nothing_is_whole)
{
    CHECK_TEXT(format_test_error("pyspark", TEXT("\n{\"stacktrace\":[\"A.a\"")),
               "line 2: a broken stack record, and no whole one in the file");
}

TEST(says_when_there_are_no_stacks)
{
    format_test_check("uber", TEXT("{\"processUuid\":\"1\",\"host\":\"h\"}\n"), "");
    CHECK_TEXT(format_test_notices, "there are no stack records in it\n");
}

TEST(keeps_names_that_only_look_special)
{
    format_test_check(
        "uber",
        TEXT("{\"stacktrace\":[\"_stack_._trimmed_\",\"plain\",\"a:b\",\"a.b$$Lambda$1/0x1.run\",\"f:g:x\"],"
             "\"count\":1}"),
        "wall 1/1 f:g:x;a/b$$Lambda$1/0x1.run;a:b;plain;_stack_._trimmed_\n");
}
