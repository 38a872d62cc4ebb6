#include "formats/format_test.h"
#include "formats/pprof/protobuf_writer.h"

TEST(reads_a_service)
{
    format_test_check_data(
        "otlp/service.otlp",
        "cpu 30000000/3 demo/Job.main:3_[j];demo/Job.fill:7_[j];demo/Row.hash:9_[j] thread=main thread_id=17 "
        "process=17 service.name=shop service.version=1.2 host.name=node-1\n"
        "cpu 20000000/2 demo/Job.main:3_[j];libc.so.6+0x1f0 thread=pool-1 thread_id=18 process=17 "
        "service.name=shop service.version=1.2 host.name=node-1 cached=true\n"
        "offcpu 1200/2 demo/Job.main:3_[j];do_futex_[k] thread=main process=17 service.name=shop "
        "service.version=1.2 host.name=node-1\n");
}

TEST(reads_each_process_of_a_host)
{
#define LINE(process, step, line)                                                                            \
    "cpu 100000000/2 main (work.py:1);work" process "_" step " (work.py:" line ") thread=t process=" process \
    " process.executable.name=program" process " host.name=node-1 ratio=0.5\n"
    format_test_check_data("otlp/host.otlp.gz",
                           LINE("1", "0", "1") LINE("1", "1", "2") LINE("2", "0", "1") LINE("2", "1", "2")
                               LINE("3", "0", "1") LINE("3", "1", "2"));
#undef LINE
}

TEST(keeps_times)
{
    struct profile profile;
    struct error error = {0};
    struct read_options options = {.threads = 1};
    CHECK_OK(error, profile_init(&profile, true, &error));
    CHECK_OK(error, read_profile(unit_test_data("otlp/service.otlp"), NULL, &options, &profile, &error));
    CHECK_INT(profile.sample_count, 5);
    CHECK_INT(profile.samples[0].time_ns, NO_TIME);
    CHECK_INT(profile.samples[2].time_ns, 1700000000002000000);
    CHECK_INT(profile.samples[4].time_ns, 1700000000004000000);
    CHECK_INT(profile.samples[4].value, 700);
    CHECK_INT(profile.start_ns, 1700000000000000000);
    CHECK_INT(profile.end_ns, 1700000010000000000);
    CHECK(profile.times_are_absolute);
    profile_release(&profile);
}

/* The field with that number and content; lives until the test ends. */
static struct text_view wrap(uint32_t number, struct text_view content)
{
    struct text_builder *text = format_test_keep(calloc(1, sizeof(*text)));
    text_builder_init(text, (size_t)1 << 20);
    protobuf_add_bytes(text, number, content);
    format_test_keep(text->data);
    return text_builder_view(text);
}

static struct text_view joined(struct text_view first, struct text_view second)
{
    struct text_builder *text = format_test_keep(calloc(1, sizeof(*text)));
    text_builder_init(text, (size_t)1 << 20);
    text_builder_add(text, first);
    text_builder_add(text, second);
    format_test_keep(text->data);
    return text_builder_view(text);
}

/* A request with one sample. */
static struct text_view request_of(struct text_view sample, struct text_view dictionary)
{
    return joined(wrap(1, wrap(2, wrap(2, wrap(2, sample)))), wrap(2, dictionary));
}

static void check_error(struct text_view sample, struct text_view dictionary, const char *expected)
{
    const char *message = format_test_error("otlp", request_of(sample, dictionary));
    if (strstr(message, expected) == NULL)
        CHECK_TEXT(message, expected);
}

TEST(refuses_references_to_nothing)
{
    check_error(TEXT("\x08\x05\x22\x01\x01"), TEXT(""), "a sample with a stack that is not there");
    check_error(TEXT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x22\x01\x01"), TEXT("\x3a\x00\x3a\x00"),
                "a sample with a stack that is not there");
    check_error(TEXT("\x12\x01\x04\x22\x01\x01"), TEXT(""), "an attribute that is not there");
    check_error(TEXT("\x08\x01\x22\x01\x01"), TEXT("\x3a\x00\x3a\x03\x0a\x01\x07"),
                "a stack with a location that is not there");
    check_error(TEXT("\x22\x01\x01"), TEXT("\x12\x00\x12\x04\x1a\x02\x08\x09"),
                "a location with a function that is not there");
    check_error(TEXT("\x22\x01\x01"), TEXT("\x12\x00\x12\x02\x08\x09"),
                "a location with a mapping that is not there");
    check_error(TEXT("\x22\x01\x01"), TEXT("\x12\x00\x12\x03\x22\x01\x09"),
                "a location with an attribute that is not there");
    check_error(TEXT("\x22\x01\x01"), TEXT("\x12\x00\x12\x04\x1a\x02\x08\x01\x1a\x00\x1a\x02\x08\x09"),
                "a string that is not there");
    check_error(TEXT("\x22\x01\x01"), TEXT("\x2a\x01x"), "the first string is not empty");
}

TEST(refuses_samples_that_make_no_sense)
{
    check_error(TEXT("\x08\x00"), TEXT(""), "a sample without values and times");
    check_error(TEXT("\x22\x02\x01\x02\x2a\x08\x01\x01\x01\x01\x01\x01\x01\x01"), TEXT(""),
                "a sample with another number of values than of times");
    check_error(TEXT("\x2a\x07\x01\x01\x01\x01\x01\x01\x01"), TEXT(""), "a list of numbers is cut off");
    check_error(TEXT("\x22\x01\xff"), TEXT(""), "a number is cut off");
    check_error(TEXT("\x22\x05\x01"), TEXT(""), "a field is longer than what is left");
}

TEST(refuses_what_older_releases_sent)
{
    check_error(TEXT("\x12\x01\x01\x1a\x01\x01"), TEXT(""), "before release 1.10");
    check_error(TEXT("\x12\x01\x01\x20\x01"), TEXT(""), "before release 1.10");
}

TEST(a_sample_may_have_no_stack)
{
    format_test_check("otlp", request_of(TEXT("\x22\x01\x05"), TEXT("")), "samples 5/5 \n");
}

TEST(location_0_is_none)
{
    static const char dictionary[] = "\x3a\x00\x3a\x03\x0a\x01\x00";
    struct text_view sample = TEXT("\x08\x01\x22\x01\x05");
    format_test_check("otlp", request_of(sample, (struct text_view){dictionary, sizeof(dictionary) - 1}),
                      "samples 5/5 \n");
}

/* Not ERROR_MEMORY, which would end a query over many recordings. */
TEST(more_events_than_a_profile_may_have)
{
    struct text_builder profiles, strings;
    struct profile profile;
    struct error error = {0};
    text_builder_init(&profiles, 1 << 20);
    text_builder_init(&strings, 1 << 20);
    protobuf_add_bytes(&strings, 5, TEXT(""));
    for (int i = 1; i <= EVENT_LIMIT + 1; i++) {
        char name[16];
        const char type[] = {0x08, (char)i};
        snprintf(name, sizeof(name), "event%d", i);
        protobuf_add_bytes(&strings, 5, text_of(name));
        protobuf_add_bytes(&profiles, 2, wrap(1, (struct text_view){type, sizeof(type)}));
    }
    struct text_view request =
        joined(wrap(1, wrap(2, text_builder_view(&profiles))), wrap(2, text_builder_view(&strings)));
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(!format_test_try(&profile, "otlp", request, &error));
    CHECK_TEXT(error.message, "more than 64 events");
    CHECK_INT(error.code, ERROR_BAD_INPUT);
    profile_release(&profile);
    text_builder_release(&profiles);
    text_builder_release(&strings);
}

TEST(leaves_keys_to_the_labels_of_a_recording)
{
    struct text_builder attributes, strings;
    struct profile profile;
    char numbers[LABEL_KEY_LIMIT];
    text_builder_init(&attributes, 1 << 20);
    text_builder_init(&strings, 1 << 20);
    protobuf_add_bytes(&strings, 5, TEXT(""));
    protobuf_add_bytes(&attributes, 6, TEXT(""));
    for (int i = 0; i < LABEL_KEY_LIMIT; i++) {
        char name[16];
        const char attribute[] = {0x08, (char)(i + 1), 0x12, 0x03, 0x0a, 0x01, 'x'};
        snprintf(name, sizeof(name), "name%d", i);
        protobuf_add_bytes(&strings, 5, text_of(name));
        protobuf_add_bytes(&attributes, 6, (struct text_view){attribute, sizeof(attribute)});
        numbers[i] = (char)(i + 1);
    }
    struct text_view sample =
        joined(wrap(2, (struct text_view){numbers, sizeof(numbers)}), TEXT("\x22\x01\x05"));
    format_test_read(&profile, "otlp",
                     request_of(sample, joined(text_builder_view(&strings), text_builder_view(&attributes))));
    CHECK_INT(profile.sample_count, 1);
    CHECK_INT(profile.contexts.key_count, LABEL_KEY_LIMIT - 18);
    profile_release(&profile);
    text_builder_release(&attributes);
    text_builder_release(&strings);
}

TEST(recognizes_only_its_own)
{
    static const char *const others[] = {"pprof/cpu.pb", "pprof/heap.pb.gz"};
    struct text_view request = request_of(TEXT("\x22\x01\x05"), TEXT("\x2a\x00"));
    CHECK(reader_recognize(request) == reader_by_name(TEXT("otlp")));
    CHECK(reader_recognize(text_part(request, 0, 9)) == reader_by_name(TEXT("otlp")));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct error error = {0};
        struct byte_source *source = byte_source_open(unit_test_data(others[i]), &error);
        struct text_view all;
        CHECK(source != NULL);
        CHECK_OK(error, byte_source_all(source, 1 << 20, &all, &error));
        CHECK(reader_recognize(all) == reader_by_name(TEXT("pprof")));
        byte_source_close(source);
    }
    CHECK(reader_by_name(TEXT("otlp"))->recognizes(TEXT("\n#\n#\n#\n#\n#\n#\n")) == 0);
    CHECK(reader_by_name(TEXT("otlp"))->recognizes(TEXT("")) == 0);
}

TEST(cuts_and_wrong_bytes_never_crash)
{
    struct byte_source *source;
    struct error error = {0};
    struct text_view all;
    char bytes[4096];
    source = byte_source_open(unit_test_data("otlp/service.otlp"), &error);
    CHECK(source != NULL);
    CHECK_OK(error, byte_source_all(source, sizeof(bytes), &all, &error));
    for (size_t size = 0; size < all.size * 2; size++) {
        struct profile profile;
        memcpy(bytes, all.data, all.size);
        if (size >= all.size)
            bytes[size - all.size] = (char)~bytes[size - all.size];
        CHECK_OK(error, profile_init(&profile, size % 2 == 0, &error));
        struct text_view part = {bytes, size < all.size ? size : all.size};
        (void)!format_test_try(&profile, "otlp", part, &error);
        profile_release(&profile);
    }
    byte_source_close(source);
}
