#include "python_sampler/process_denial.h"

#include <string.h>
#include <unistd.h>

#include "unit_test.h"

static bool says(const struct process_denial *denial, const char *text)
{
    struct error error = {0};
    return !process_denial_explain(denial, &error) && strstr(error.message, text) != NULL;
}

TEST(other_users_are_named)
{
    struct process_denial denial = {
        .pid = 7, .target_is_known = true, .target_user = 1000, .own_user = 65534};
    denial.trace_scope = -1;
    CHECK(
        says(&denial, "process 7 may not be read: it belongs to user 1000, this command runs as user 65534"));
    CHECK(says(&denial, "sudo -u '#1000' sparkflame"));
    CHECK(says(&denial, "--cap-add SYS_PTRACE"));
    CHECK(says(&denial, "securityContext: {capabilities: {add: [SYS_PTRACE]}}"));
}

TEST(each_level_of_yama_has_its_fix)
{
    struct process_denial denial = {.pid = 7, .target_is_known = true, .trace_scope = 1};
    CHECK(says(&denial, "ptrace_scope is 1, so only its parents and root may"));
    CHECK(says(&denial, "sparkflame record -- PROGRAM"));
    CHECK(says(&denial, "sysctl -w kernel.yama.ptrace_scope=0"));
    denial.trace_scope = 2;
    CHECK(says(&denial, "so only root may"));
    CHECK(!says(&denial, "record -- PROGRAM"));
    denial.trace_scope = 3;
    CHECK(says(&denial, "until the machine is rebooted"));
    CHECK(!says(&denial, "sysctl"));
}

TEST(what_else_forbids_it_is_told)
{
    struct process_denial denial = {.pid = 7, .target_is_known = true, .trace_scope = 0};
    CHECK(says(&denial, "a seccomp profile"));
    denial.has_other_rights = true;
    CHECK(says(&denial, "capabilities that this command lacks"));
    denial.may_trace = true;
    CHECK(says(&denial, "although this command has CAP_SYS_PTRACE"));
}

TEST(finds_who_owns_a_process)
{
    struct process_denial denial;
    process_denial_find(&denial, getpid());
    CHECK(denial.target_is_known);
    CHECK(denial.target_user == getuid());
    CHECK(!denial.has_other_rights);
}
