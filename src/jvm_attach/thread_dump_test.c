#include "jvm_attach/thread_dump.h"

#include "unit_test.h"

static const char dump[] =
    "2026-01-31 14:05:00\n"
    "Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):\n\n"
    "\"a \"quoted\" name\" #12 daemon prio=5 os_prio=0 cpu=27.52ms elapsed=0.61s tid=0x00007f43 nid=0x7c76 "
    "runnable  [0x1]\n"
    "   java.lang.Thread.State: TIMED_WAITING (on object monitor)\n"
    "\tat java.lang.Object.wait(java.base@17.0.15/Native Method)\n"
    "\t- waiting on <0x00000000ffd181c8> (a java.lang.Class for Spin)\n"
    "\tat Spin.main(Spin.java:7)\n\n"
    "   Locked ownable synchronizers:\n"
    "\t- None\n\n"
    "\"GC Thread#0\" os_prio=0 cpu=0.50ms elapsed=0.6s tid=0x00007f nid=31862 runnable\n\n"
    "JNI global refs: 6, weak refs: 0\n\n"
    "Found one Java-level deadlock:\n=============================\n"
    "\"A\":\n  waiting to lock monitor 0x1,\n  which is held by \"B\"\n\n"
    "Java stack information for the threads listed above:\n\"A\":\n\tat X.y(X.java:1)\n\nFound 1 deadlock.\n";

TEST(writes_threads_frames_and_locks)
{
    struct error error = {0};
    struct text_builder text;
    struct output output;
    text_builder_init(&text, 1 << 20);
    CHECK_OK(error, output_open_memory(&output, &text, &error));
    thread_dump_write_json(&output, text_of(dump));
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    CHECK_TEXT(
        text_builder_c_string(&text),
        "{\"vm\":\"OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing)\",\"threads\":[\n"
        "{\"name\":\"a \\\"quoted\\\" name\",\"id\":12,\"os_id\":31862,\"daemon\":true,\"cpu_ms\":27.52,"
        "\"state\":\"TIMED_WAITING\",\"frames\":[{\"method\":\"java.lang.Object.wait\",\"native\":true},"
        "{\"method\":\"Spin.main\",\"file\":\"Spin.java\",\"line\":7}],"
        "\"locks\":[\"waiting on \\u003c0x00000000ffd181c8> (a java.lang.Class for Spin)\"]},\n"
        "{\"name\":\"GC "
        "Thread#0\",\"os_id\":31862,\"daemon\":false,\"cpu_ms\":0.50,\"frames\":[],\"locks\":[]}"
        "],\"deadlocks\":1}");
    text_builder_release(&text);
}
