#include "jvm_agent/thread_names.h"

#include <stdio.h>
#include <string.h>

#include "failing_memory.h"
#include "jvm_agent/thread_table.h"
#include "unit_test.h"

TEST(a_thread_that_leaves_keeps_its_name_of_java)
{
    int32_t tid = thread_own_id();
    struct thread_name name;
    thread_names_set(tid, "worker", 7);
    thread_names_leave(tid);
    thread_names_learn_native(tid);
    CHECK(thread_names_get(tid, &name));
    CHECK_TEXT(name.text, "worker");
    CHECK_INT(name.java_id, 7);
}

TEST(another_thread_of_the_same_number_has_its_own_name)
{
    int32_t tid = thread_own_id();
    struct thread_name name;
    thread_names_set(tid, "worker", 7);
    thread_names_leave(tid);
    thread_names_set(tid, "next", 8);
    CHECK(thread_names_get(tid, &name));
    CHECK_TEXT(name.text, "next");
    thread_names_learn_native(tid);
    CHECK(thread_names_get(tid, &name));
    CHECK_INT(name.java_id, 0);
}

static void check_own_name(int32_t tid, const char *own)
{
    struct thread_name name;
    if (thread_names_get(tid, &name) && strcmp(name.text, own) != 0)
        unit_test_fail(__FILE__, __LINE__, "thread %d has the name %s", (int)tid, name.text);
}

TEST(a_thread_without_room_for_its_name_has_not_that_of_another)
{
    FAIL_EACH_ALLOCATION
    {
        char text[32];
        for (int32_t tid = 1; tid <= 100; tid++) {
            snprintf(text, sizeof(text), "thread %d", (int)tid);
            thread_names_set(tid, text, 0);
        }
        for (int32_t tid = 1; tid <= 100; tid++) {
            snprintf(text, sizeof(text), "thread %d", (int)tid);
            check_own_name(tid, text);
        }
        thread_names_clear();
    }
}

TEST(names_keep_to_their_limit_and_those_of_ended_threads_go)
{
    char text[64];
    struct thread_name name;
    thread_names_limit((size_t)1 << 20);
    int32_t own = thread_own_id();
    CHECK(thread_table_add(own) != NULL);
    thread_names_set(own, "own", 1);
    for (int32_t tid = 5000000; tid < 5100000; tid++) {
        snprintf(text, sizeof(text), "a thread of many, %d", (int)tid);
        thread_names_set(tid, text, 0);
        check_own_name(tid, text);
    }
    CHECK(thread_names_refused() > 0);
    CHECK(thread_names_bytes() < (size_t)2 << 20);
    thread_names_renew();
    CHECK(thread_names_get(5000000, &name)); /* a sample may be on its way */
    thread_names_renew();
    CHECK(!thread_names_get(5000000, &name));
    CHECK(thread_names_get(own, &name) && strcmp(name.text, "own") == 0 && name.java_id == 1);
    CHECK(thread_names_bytes() < (size_t)64 << 10);
    thread_table_remove(own);
}
