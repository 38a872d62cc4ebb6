#include <stdlib.h>

#include "formats/format_test.h"

TEST(pairs_counts_with_amounts)
{
    struct profile profile;
    format_test_read_data(&profile, "pprof/heap.pb.gz");
    CHECK_TEXT(
        format_test_dump(&profile),
        "alloc 4096/4 main.main (/src/main.go:12);main.fill (/src/fill.go:7);main.fill (/src/fill.go:9);"
        "bytes.Repeat (/usr/lib/go/bytes.go:554) bytes=1024\n"
        "live 1024/1 main.main (/src/main.go:12);main.fill (/src/fill.go:7);main.fill (/src/fill.go:9);"
        "bytes.Repeat (/usr/lib/go/bytes.go:554) bytes=1024\n"
        "alloc 64/2 main.main (/src/main.go:12);main.fill (/src/fill.go:7)\n"
        "alloc 16/1 main.main (/src/main.go:12);0x4a0f10\n"
        "live 16/1 main.main (/src/main.go:12);0x4a0f10\n");
    CHECK(profile.times_are_absolute);
    CHECK_INT(profile.start_ns, 1700000000000000000);
    CHECK_INT(profile.end_ns, 1700000005000000000);
    profile_release(&profile);
}

TEST(reads_labels_units_and_kernel_frames)
{
    struct profile profile;
    format_test_read_data(&profile, "pprof/cpu.pb");
    CHECK_TEXT(
        format_test_dump(&profile),
        "cpu 50000000/5 demo/Job.main (Job.java:3);vfs_read_[k] state=running stage=3 task=17 colour=red\n"
        "cpu 10000000/1 demo/Job.main (Job.java:3) task=0\n");
    CHECK_INT(profile.events[0].unit, UNIT_NANOSECONDS);
    profile_release(&profile);
}

TEST(refuses_the_old_formats)
{
    const char *advice =
        "this is one of pprof's formats from before 2014; `pprof -proto FILE > NEW` makes a new one";
    CHECK_TEXT(format_test_error("pprof", TEXT("heap profile:  3:  1024 [ 10:  4096] @ heapprofile\n")),
               advice);
    CHECK_TEXT(format_test_error("pprof", TEXT("--- contention:\ncycles/second=1\n")), advice);
    CHECK(text_equal(text_of(reader_recognize(TEXT("heap profile: 1: 2 [3: 4] @ heap\n"))->name),
                     TEXT("pprof")));
}

TEST(refuses_broken_messages)
{
    CHECK_TEXT(format_test_error("pprof", TEXT("")), "the profile has no sample types");
    CHECK_TEXT(format_test_error("pprof", TEXT("\x0a\x04\x08\x01")),
               "offset 2: a field is longer than what is left");
    CHECK_TEXT(format_test_error("pprof", TEXT("\x48\xff\xff\xff")), "offset 1: a number is cut off");
    CHECK_TEXT(format_test_error("pprof", TEXT("\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
               "offset 1: a number is too long");
    CHECK_TEXT(format_test_error("pprof", TEXT("\x48")), "offset 1: a field is cut off");
    CHECK_TEXT(format_test_error("pprof", TEXT("\x0f\x01")), "offset 1: a field of an unknown kind");
    CHECK_TEXT(format_test_error("pprof", TEXT("\x01\x01")), "offset 1: a field with an impossible number");
}

/* One sample type; then what follows. */
#define TYPE "\x0a\x04\x08\x00\x10\x00"

TEST(refuses_references_to_nothing)
{
    CHECK_TEXT(format_test_error("pprof", TEXT(TYPE "\x12\x06\x0a\x01\x05\x12\x01\x01")),
               "offset 8: a sample with a location that is not there");
    CHECK_TEXT(format_test_error("pprof", TEXT(TYPE "\x12\x04\x12\x02\x01\x01")),
               "offset 8: a sample with more values than sample types");
    CHECK_TEXT(format_test_error("pprof", TEXT(TYPE "\x12\x00")),
               "offset 8: a sample with fewer values than sample types");
    CHECK_TEXT(format_test_error("pprof", TEXT(TYPE "\x22\x06\x08\x01\x22\x02\x08\x07")),
               "offset 8: a location with a function that is not there");
}

TEST(cuts_of_a_file_never_crash)
{
    struct byte_source *source;
    struct error error = {0};
    struct text_view all;
    source = byte_source_open(unit_test_data("pprof/heap.pb.gz"), &error);
    CHECK(source != NULL);
    CHECK_OK(error, byte_source_all(source, 1 << 20, &all, &error));
    for (size_t size = 0; size < all.size; size++) {
        struct profile profile;
        CHECK_OK(error, profile_init(&profile, false, &error));
        (void)!format_test_try(&profile, "pprof", text_part(all, 0, size), &error);
        profile_release(&profile);
    }
    byte_source_close(source);
}

static const char *again(const struct profile *profile)
{
    struct profile copy;
    format_test_read(&copy, "pprof", format_test_write(profile, "pprof"));
    const char *dump = format_test_sorted_dump(&copy);
    profile_release(&copy);
    return dump;
}

TEST(reads_what_it_writes)
{
    static const char *const names[] = {"pprof/heap.pb.gz", "pprof/cpu.pb", "uber/Stacktrace.json",
                                        "pyspark/s_1_stack.json", "async_html/version_4.html"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct profile profile;
        format_test_read_data(&profile, names[i]);
        const char *expected = format_test_sorted_dump(&profile);
        CHECK_TEXT(again(&profile), expected);
        profile_release(&profile);
    }
}

TEST(sums_up_what_differs_only_in_time)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, true, &error));
    uint32_t frame = profile_frame(&profile, TEXT("f"), TEXT(""), 0, FRAME_NATIVE);
    struct sample sample = {.count = 1, .value = 8};
    sample.stack = stack_tree_child(&profile.stacks, STACK_ROOT, frame);
    for (int i = 0; i < 10; i++) {
        sample.event = profile_event(&profile, i % 2 ? TEXT("cpu") : TEXT("alloc"),
                                     i % 2 ? UNIT_NANOSECONDS : UNIT_BYTES, true);
        sample.time_ns = i;
        CHECK(profile_add_sample(&profile, &sample));
    }
    CHECK_TEXT(again(&profile), "alloc 40/5 f\ncpu 40/5 f\n");
    profile_release(&profile);
}

TEST(writes_nothing_as_an_empty_profile)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(profile_event(&profile, TEXT("cpu"), UNIT_NANOSECONDS, true) == 0);
    CHECK_TEXT(again(&profile), "");
    profile_release(&profile);
}
