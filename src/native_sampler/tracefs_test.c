#include "native_sampler/tracefs.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

static const char format[] = "name: sched_waking\nID: 311\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                             "\tfield:int far;\toffset:999999;\tsize:4;\tsigned:1;\n";

TEST(fields_of_a_tracepoint)
{
    size_t offset = 0;
    CHECK(tracefs_find_field(format, "pid", 4, &offset) && offset == 24);
    CHECK(tracefs_find_field(format, "common_pid", 4, &offset) && offset == 4);
    CHECK(tracefs_find_field(format, "common_flags", 1, &offset) && offset == 2);
    CHECK(!tracefs_find_field(format, "pid", 8, &offset));
    CHECK(!tracefs_find_field(format, "id", 4, &offset));
    CHECK(!tracefs_find_field(format, "far", 4, &offset));
    CHECK(!tracefs_find_field("", "pid", 4, &offset) &&
          !tracefs_find_field("field:;offset:;size:", "", 0, &offset));
}

TEST(what_is_not_there_is_an_error)
{
    char text[64];
    CHECK(tracefs_read("events/no/such/id", text, sizeof(text)) != 0);
}
