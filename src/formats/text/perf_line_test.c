#include "formats/text/perf_line.h"

#include <string.h>

#include "model/profile.h"
#include "unit_test.h"

/* "command|process|thread|event|time|period|rest" */
static void check_header(const char *line, const char *expected)
{
    struct perf_header header;
    struct text_builder text;
    CHECK(perf_header_parse(text_of(line), &header));
    text_builder_init(&text, 4096);
    text_builder_format(&text, "%.*s|%.*s|%.*s|%.*s|", TEXT_FORMAT(header.command),
                        TEXT_FORMAT(header.process), TEXT_FORMAT(header.thread), TEXT_FORMAT(header.event));
    if (header.time_ns != NO_TIME)
        text_builder_add_i64(&text, header.time_ns);
    text_builder_format(&text, "|%llu|%.*s", (unsigned long long)header.period,
                        TEXT_FORMAT(text_trim(header.rest)));
    CHECK_TEXT(text_builder_c_string(&text), expected);
    text_builder_release(&text);
}

TEST(takes_all_forms_of_the_first_line)
{
    check_header("java 25607 4794564.109216: 1 cycles:", "java||25607|cycles|4794564109216000|1|");
    check_header("java 12688 [002] 6544038.708352: 235 cpu-clock: ",
                 "java||12688|cpu-clock|6544038708352000|235|");
    check_header("V8 WorkerThread 25607 4794564.109216: 104345 cycles:",
                 "V8 WorkerThread||25607|cycles|4794564109216000|104345|");
    check_header("java 24636/25607 [000] 4794564.109216: cycles:u:",
                 "java|24636|25607|cycles:u|4794564109216000|1|");
    check_header("func_ab 15294 cpu-clock: ", "func_ab||15294|cpu-clock||1|");
    check_header("func_ab 15294", "func_ab||15294|||1|");
    check_header("GC Thread 12 345/678 [003] 1.5: 9 cycles:", "GC Thread 12|345|678|cycles|1500000000|9|");
    check_header("   false 39654 19115.489713:  1 cycles:u:  ff9b [unknown] ([unknown])",
                 "false||39654|cycles:u|19115489713000|1|ff9b [unknown] ([unknown])");
    check_header("a 1 [0] 2.0: sched:sched_switch: prev_comm=a ==> x",
                 "a||1|sched:sched_switch|2000000000|1|prev_comm=a ==> x");
    check_header("a 1 99999999999999.000000001: 0 cycles:", "a||1|cycles||1|");
}

TEST(refuses_lines_that_begin_no_sample)
{
    struct perf_header header;
    CHECK(!perf_header_parse(TEXT(""), &header));
    CHECK(!perf_header_parse(TEXT("word"), &header));
    CHECK(!perf_header_parse(TEXT("123"), &header));
    CHECK(!perf_header_parse(TEXT("two words"), &header));
}

static void check_frame(const char *line, const char *address, const char *function, const char *module)
{
    struct perf_frame frame;
    CHECK(perf_frame_parse(text_of(line), &frame));
    CHECK(text_equal(frame.address, text_of(address)));
    CHECK(text_equal(frame.function, text_of(function)));
    CHECK(text_equal(frame.module, text_of(module)));
}

TEST(takes_frames_apart)
{
    check_frame("\t    7f53 _dl_map+0x597 (/usr/lib/ld.so)", "7f53", "_dl_map", "/usr/lib/ld.so");
    check_frame(" 0 [unknown] ([unknown])", "0", "[unknown]", "[unknown]");
    check_frame("7f1e  (/lib/libc.so)", "7f1e", " ", "/lib/libc.so");
    check_frame(" 7f1e f(int) const+0xf (/a b/x.so)", "7f1e", "f(int) const", "/a b/x.so");
    check_frame(" 7f1e f (/tmp/x.so (deleted))", "7f1e", "f", "/tmp/x.so (deleted)");
    check_frame(" 7f1e only_symbol+0x1", "7f1e", "only_symbol", "");
    struct perf_frame frame;
    CHECK(!perf_frame_parse(TEXT("  THIS_IS_WEIRD"), &frame));
    CHECK(!perf_frame_parse(TEXT("  7f1e"), &frame));
    CHECK(!perf_frame_parse(TEXT(""), &frame));
}

static void check_function(const char *function, const char *module, bool is_java, const char *expected)
{
    struct text_builder text;
    struct perf_frame frame = {TEXT("7f"), text_of(function), text_of(module)};
    text_builder_init(&text, 4096);
    perf_function_add(&text, &frame, frame.function, false, is_java);
    CHECK_TEXT(text_builder_c_string(&text), expected);
    text_builder_release(&text);
}

TEST(tidies_names)
{
    check_function("Lorg/a/Context;.call(Lorg/a/Action;)Ljava/lang/Object;", "", true, "org/a/Context:.call");
    check_function("LBusy;::main", "", true, "LBusy:::main");
    check_function("net/http.(*Client).Do", "", false, "net/http.(*Client).Do");
    check_function("(anonymous namespace)::f(int)", "", false, "(anonymous namespace)::f");
    check_function("std::function<void (int)>::call(int)", "", false, "std::function<void (int)>::call");
    check_function("RegExp:[&<>\"']", "", false, "RegExp:[&<>]");
    check_function("[unknown]", "/usr/lib/libjvm.so", false, "[libjvm.so]");
    check_function("[unknown]", "[unknown]", false, "[unknown]");
    check_function("[unknown]", "", false, "[unknown]");
    check_function("_$LT$F$u20$as$u20$a..B$GT$::call::h8612a2a83552fc2d", "", false, "<F as a::B>::call");
    check_function("a::b$bad$::h8612a2a83552fc2d", "", false, "a::b$bad$");
}

TEST(knows_modules)
{
    CHECK(perf_module_is_kernel(TEXT("[kernel.kallsyms]")));
    CHECK(perf_module_is_kernel(TEXT("/usr/lib/debug/boot/vmlinux-5.4.14-x")));
    CHECK(perf_module_is_kernel(TEXT("/lib/modules/5/kernel/mlx5.ko")));
    CHECK(!perf_module_is_kernel(TEXT("[unknown]")));
    CHECK(!perf_module_is_kernel(TEXT("/home/vmlinux/a.out")));
    CHECK(!perf_module_is_kernel(TEXT("")));
    CHECK(perf_module_is_jit(TEXT("/tmp/perf-1.map")));
    CHECK(perf_module_is_jit(TEXT("/tmp/jitted-1-2.so")));
    CHECK(!perf_module_is_jit(TEXT("/tmp/x.so")));
}
