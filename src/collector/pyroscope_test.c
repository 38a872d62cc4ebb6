#include "collector/pyroscope.h"

#include <string.h>

#include "collector/sender_names.h"
#include "formats/pprof/protobuf_writer.h"
#include "unit_test.h"

#define MESSAGE_BYTES ((size_t)1 << 20)

TEST(names_of_ingest)
{
    static const struct {
        const char *name, *application, *executor, *labels;
    } cases[] = {
        {"app", "app", "0", ""},
        {"my/app.cpu{region=eu,pod = p-1, host=h}", "my_app.cpu", "p-1", "region=eu\npod=p-1\nhost=h\n"},
        {"a{b-c=d e}", "a", "0", "b_c=d e\n"},
        {"...{executor=..,__session_id__=7,pid=3}", "_..", "_.", "executor=..\npid=3\n"},
        {"a{=x,b=,c,1=2,d=1,d=2}", "a", "0", "d=1\n"},
        {"a{b=x}y}", "a", "0", "b=x}y\n"},
        {"a{service_name=s,b=c", "s", "0", "b=c\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stored_recording recording = {.number = 0};
        struct error error = {0};
        CHECK_OK(error, pyroscope_read_name(&recording, text_of(cases[i].name), &error));
        CHECK_TEXT(recording.application, cases[i].application);
        CHECK_TEXT(recording.executor, cases[i].executor);
        CHECK_TEXT(recording.labels, cases[i].labels);
    }
    struct stored_recording recording = {.number = 0};
    struct error error = {0};
    CHECK(!pyroscope_read_name(&recording, TEXT("{a=b}"), &error) && error.message[0] != '\0');
}

TEST(the_number_stands_for_all_that_was_sent)
{
    struct stored_recording first = {.labels = "a=b\n"}, other = {.labels = "a=c\n"};
    sender_number(&first, TEXT("1 2"), TEXT("main 1"));
    uint64_t number = first.sequence;
    CHECK(number < UINT64_C(1) << 53);
    sender_number(&first, TEXT("1 2"), TEXT("main 1"));
    CHECK_INT(first.sequence, number);
    sender_number(&other, TEXT("1 2"), TEXT("main 1"));
    CHECK(other.sequence != number);
    sender_number(&first, TEXT("2 3"), TEXT("main 1"));
    CHECK(first.sequence != number);
    sender_number(&first, TEXT("1 2"), TEXT("main 2"));
    CHECK(first.sequence != number);
}

static void add_label(struct text_builder *series, const char *name, const char *value)
{
    struct text_builder pair;
    text_builder_init(&pair, MESSAGE_BYTES);
    protobuf_add_bytes(&pair, 1, text_of(name));
    protobuf_add_bytes(&pair, 2, text_of(value));
    protobuf_add_bytes(series, 1, text_builder_view(&pair));
    text_builder_release(&pair);
}

static void add_sample(struct text_builder *series, const char *profile, const char *id)
{
    struct text_builder sample;
    text_builder_init(&sample, MESSAGE_BYTES);
    protobuf_add_bytes(&sample, 1, text_of(profile));
    protobuf_add_bytes(&sample, 2, text_of(id));
    protobuf_add_bytes(series, 2, text_builder_view(&sample));
    text_builder_release(&sample);
}

static bool list_profile(void *context, const struct stored_recording *recording, struct text_view profile)
{
    text_builder_format(context, "%s/%s %.*s %s", recording->application, recording->executor,
                        TEXT_FORMAT(profile), recording->labels);
    return true;
}

static bool read_message(const struct text_builder *message, struct text_builder *list, struct error *error)
{
    text_builder_clear(list);
    return pyroscope_each_profile(text_builder_view(message), list_profile, list, error);
}

TEST(profiles_of_a_message)
{
    struct text_builder message, series, list;
    struct error error = {0};
    text_builder_init(&message, MESSAGE_BYTES);
    text_builder_init(&series, MESSAGE_BYTES);
    text_builder_init(&list, MESSAGE_BYTES);
    add_sample(&series, "one", "id"); /* labels may follow */
    add_label(&series, "service_name", "app");
    add_label(&series, "__name__", "process_cpu");
    add_label(&series, "hostname", "h");
    add_sample(&series, "two", "");
    protobuf_add_bytes(&message, 1, text_builder_view(&series));
    text_builder_clear(&series);
    add_label(&series, "service_name", "other");
    add_sample(&series, "three", "");
    protobuf_add_bytes(&message, 1, text_builder_view(&series));
    CHECK_OK(error, read_message(&message, &list, &error));
    CHECK_TEXT(text_builder_c_string(&list), "app/h one profile=process_cpu\nhostname=h\n"
                                             "app/h two profile=process_cpu\nhostname=h\nother/0 three ");
    for (size_t size = 1; size < message.size; size++) {
        struct text_builder cut = message;
        cut.size = size;
        error.message[0] = '\0';
        CHECK(read_message(&cut, &list, &error) || error.message[0] != '\0');
    }
    text_builder_release(&message);
    text_builder_release(&series);
    text_builder_release(&list);
}

TEST(messages_that_are_refused)
{
    struct text_builder message, series, list;
    struct error error = {0};
    text_builder_init(&message, MESSAGE_BYTES);
    text_builder_init(&series, MESSAGE_BYTES);
    text_builder_init(&list, MESSAGE_BYTES);
    add_sample(&series, "one", "");
    protobuf_add_bytes(&message, 1, text_builder_view(&series));
    CHECK(!read_message(&message, &list, &error));
    CHECK_TEXT(error.message, "a series has no label \"service_name\"");
    add_label(&series, "service_name", "app");
    for (int i = 0; i < PYROSCOPE_PROFILES; i++)
        add_sample(&series, "more", "");
    text_builder_clear(&message);
    protobuf_add_bytes(&message, 1, text_builder_view(&series));
    CHECK(!read_message(&message, &list, &error));
    CHECK_TEXT(error.message, "more than 256 profiles");
    text_builder_clear(&series);
    text_builder_clear(&message);
    for (int i = 0; i <= PYROSCOPE_LABELS; i++)
        add_label(&series, "a", "b");
    protobuf_add_bytes(&message, 1, text_builder_view(&series));
    CHECK(!read_message(&message, &list, &error));
    CHECK_TEXT(error.message, "more than 256 labels");
    text_builder_release(&message);
    text_builder_release(&series);
    text_builder_release(&list);
}
