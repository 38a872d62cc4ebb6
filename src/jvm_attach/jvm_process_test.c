#include "jvm_attach/jvm_process.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "jvm_attach/attach.h"
#include "unit_test.h"

static void on_quit(int number) {}

TEST(reads_this_process)
{
    struct error error = {0};
    struct jvm_process process;
    CHECK_OK(error, jvm_process_read(&process, getpid(), &error));
    CHECK_INT(process.uid, geteuid());
    CHECK_INT(process.gid, getegid());
    CHECK(process.maps_readable);
    CHECK_INT(process.kind, JVM_NONE);
    CHECK(!process.handles_quit);
    CHECK(process.command_line.size > 0);
    CHECK(!attach_check(&process, &error));
    CHECK(strstr(error.message, "is not a JVM") != NULL);
    jvm_process_release(&process);
    CHECK(signal(SIGQUIT, on_quit) != SIG_ERR);
    CHECK_OK(error, jvm_process_read(&process, getpid(), &error));
    CHECK(process.handles_quit);
    jvm_process_release(&process);
    CHECK(!jvm_process_read(&process, 0x7ffffffe, &error));
    jvm_process_release(&process);
}

TEST(knows_options_of_command_line_and_environment)
{
    struct jvm_process process = {.pid = 1};
    text_builder_init(&process.command_line, 1 << 16);
    text_builder_init(&process.environment, 1 << 16);
    text_builder_add(&process.command_line, TEXT("java\0-XX:+UsePerfData\0-XX:-UsePerfData\0-Xrs\0Main\0"));
    text_builder_add(&process.environment,
                     TEXT("A=-XX:+Wrong\0JAVA_TOOL_OPTIONS=-Dx=y -XX:+DebugNonSafepoints\0Z=\0"));
    CHECK(!jvm_process_flag(&process, "UsePerfData", true));
    CHECK(jvm_process_flag(&process, "DebugNonSafepoints", false));
    CHECK(!jvm_process_flag(&process, "Wrong", false));
    CHECK(jvm_process_flag(&process, "Absent", true));
    jvm_process_release(&process);
}
