#include "jvm_agent/thread_names.h"

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
