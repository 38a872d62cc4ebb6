#include "collector/otlp_request.h"

#include <stdio.h>

#include "formats/pprof/protobuf_writer.h"
#include "formats/reader.h"
#include "input/byte_source.h"
#include "unit_test.h"

#define MESSAGE_BYTES ((size_t)1 << 20)

static struct text_view open_data(const char *name, struct byte_source **source)
{
    struct error error = {0};
    struct text_view all;
    *source = byte_source_open(unit_test_data(name), &error);
    CHECK(*source != NULL);
    CHECK_OK(error, byte_source_all(*source, MESSAGE_BYTES, &all, &error));
    return all;
}

TEST(names_of_a_service)
{
    struct byte_source *source;
    struct otlp_request request;
    struct stored_recording recording = {.number = 0};
    struct error error = {0};
    struct text_view all = open_data("otlp/service.otlp", &source);
    CHECK_OK(error, otlp_request_read(&request, all, &error));
    CHECK_INT(request.count, 1);
    CHECK_OK(error, otlp_request_check(&request, 0, &error));
    CHECK_OK(error, otlp_request_describe(&request, 0, &recording, &error));
    CHECK_TEXT(recording.application, "shop");
    CHECK_TEXT(recording.executor, "node-1");
    CHECK_TEXT(recording.labels, "service.version=1.2\nhost.name=node-1\nprocess.pid=17\n");
    otlp_request_release(&request);
    byte_source_close(source);
}

/* How many samples a message has. */
static size_t samples_of(struct text_view message)
{
    struct profile profile;
    struct error error = {0};
    struct read_options options = {.threads = 1, .needs_lines = true, .needs_contexts = true};
    CHECK_OK(error, profile_init(&profile, true, &error));
    CHECK_OK(error, read_profile_bytes(message, "part", NULL, &options, &profile, &error));
    size_t count = profile.sample_count;
    profile_release(&profile);
    return count;
}

TEST(each_resource_gets_what_it_uses)
{
    struct byte_source *source;
    struct otlp_request request;
    struct error error = {0};
    struct text_view all = open_data("otlp/host.otlp.gz", &source);
    CHECK_OK(error, otlp_request_read(&request, all, &error));
    CHECK_INT(request.count, 3);
    for (size_t i = 0; i < 3; i++) {
        struct text_builder part;
        struct stored_recording recording = {.number = 0};
        char own[16], other[16];
        snprintf(own, sizeof(own), "work%zu_1", i + 1);
        snprintf(other, sizeof(other), "work%zu_1", (i + 1) % 3 + 1);
        text_builder_init(&part, MESSAGE_BYTES);
        CHECK_OK(error, otlp_request_check(&request, i, &error));
        CHECK_OK(error, otlp_request_describe(&request, i, &recording, &error));
        CHECK_OK(error, otlp_request_extract(&request, i, &part, &error));
        CHECK(text_find(text_builder_view(&part), text_of(own)) != TEXT_NOT_FOUND);
        CHECK(text_find(text_builder_view(&part), text_of(other)) == TEXT_NOT_FOUND);
        CHECK(part.size < all.size);
        CHECK_INT(samples_of(text_builder_view(&part)), 2);
        CHECK_INT(recording.application[7], '1' + (int)i);
        text_builder_release(&part);
    }
    struct text_builder small;
    text_builder_init(&small, 100);
    CHECK(!otlp_request_extract(&request, 0, &small, &error) && error.code == ERROR_MEMORY);
    text_builder_release(&small);
    otlp_request_release(&request);
    byte_source_close(source);
}

static void add_wrapped(struct text_builder *to, uint32_t field, struct text_builder *content)
{
    protobuf_add_bytes(to, field, text_builder_view(content));
    text_builder_clear(content);
}

/* Of a request with one resource, all of whose profiles are these bytes. */
static const char *check_of(struct text_view profiles, struct text_view dictionary)
{
    static struct error error;
    struct otlp_request request;
    struct text_builder message, scope;
    error = (struct error){0};
    text_builder_init(&message, MESSAGE_BYTES);
    text_builder_init(&scope, MESSAGE_BYTES);
    protobuf_add_bytes(&scope, OTLP_SCOPE_PROFILES, profiles);
    add_wrapped(&message, OTLP_RESOURCE_PROFILES, &scope);
    protobuf_add_bytes(&message, OTLP_DICTIONARY, dictionary);
    if (otlp_request_read(&request, text_builder_view(&message), &error))
        (void)!otlp_request_check(&request, 0, &error);
    otlp_request_release(&request);
    text_builder_release(&message);
    text_builder_release(&scope);
    return error.message;
}

TEST(refuses_references_to_nothing)
{
    CHECK(strstr(check_of(TEXT("\x12\x04\x12\x02\x08\x03"), TEXT("")), "a reference to nothing") != NULL);
    CHECK(strstr(check_of(TEXT("\x12\x05\x12\x03\x12\x01\x03"), TEXT("")), "a reference to nothing") != NULL);
    CHECK(strstr(check_of(TEXT("\x12\x05\x12\x03\x12\x01\x80"), TEXT("")), "cut off") != NULL);
    CHECK(strstr(check_of(TEXT(""), TEXT("\x2a\x01y")), "the first string is not empty") != NULL);
    CHECK_TEXT(check_of(TEXT("\x12\x04\x12\x02\x08\x01"), TEXT("\x3a\x00\x3a\x00")), "");
}

TEST(refuses_values_that_are_nested_too_deep)
{
    struct text_builder value, outer;
    text_builder_init(&value, MESSAGE_BYTES);
    text_builder_init(&outer, MESSAGE_BYTES);
    for (int i = 0; i < 40; i++) {
        add_wrapped(&outer, i % 2 == 0 ? 1 : 5, &value);
        text_builder_add(&value, text_builder_view(&outer));
        text_builder_clear(&outer);
    }
    /* An attribute of the table, to which a profile refers. */
    protobuf_add_bytes(&outer, 2, text_builder_view(&value));
    text_builder_clear(&value);
    protobuf_add_bytes(&value, OTLP_ATTRIBUTES, TEXT(""));
    protobuf_add_bytes(&value, OTLP_ATTRIBUTES, text_builder_view(&outer));
    CHECK(strstr(check_of(TEXT("\x12\x03\x5a\x01\x01"), text_builder_view(&value)),
                 "values are nested too deep") != NULL);
    text_builder_release(&value);
    text_builder_release(&outer);
}

TEST(more_resources_than_a_request_may_have)
{
    struct text_builder message;
    struct otlp_request request;
    struct error error = {0};
    text_builder_init(&message, MESSAGE_BYTES);
    for (int i = 0; i <= OTLP_RESOURCES; i++)
        protobuf_add_bytes(&message, OTLP_RESOURCE_PROFILES, TEXT(""));
    CHECK(!otlp_request_read(&request, text_builder_view(&message), &error));
    CHECK_TEXT(error.message, "more than 1024 resources");
    otlp_request_release(&request);
    text_builder_release(&message);
}

TEST(more_entries_than_the_tables_may_have)
{
    struct text_builder message, dictionary;
    struct otlp_request request;
    struct error error = {0};
    text_builder_init(&message, MESSAGE_BYTES * 16);
    text_builder_init(&dictionary, MESSAGE_BYTES * 16);
    for (size_t i = 0; i <= OTLP_ENTRIES; i++)
        protobuf_add_bytes(&dictionary, i % 2 == 0 ? OTLP_STRINGS : OTLP_STACKS, TEXT(""));
    protobuf_add_bytes(&message, OTLP_DICTIONARY, text_builder_view(&dictionary));
    CHECK(!otlp_request_read(&request, text_builder_view(&message), &error));
    CHECK_TEXT(error.message, "more than 1048576 entries of tables");
    otlp_request_release(&request);
    text_builder_release(&message);
    text_builder_release(&dictionary);
}

TEST(what_is_shared_is_not_followed_without_end)
{
    /* A thousand resources that each refer to all of a hundred thousand strings. */
    enum { STRINGS = 100000 };
    struct text_builder message, part, samples;
    struct otlp_request request;
    struct error error = {0};
    bool good = true;
    text_builder_init(&message, MESSAGE_BYTES * 16);
    text_builder_init(&part, MESSAGE_BYTES * 16);
    text_builder_init(&samples, MESSAGE_BYTES * 16);
    for (int i = 0; i < STRINGS; i++)
        protobuf_add_varint(&samples, (uint64_t)i);
    protobuf_add_bytes(&part, 1, text_builder_view(&samples)); /* the locations of a stack */
    text_builder_clear(&samples);
    protobuf_add_bytes(&samples, OTLP_STACKS, TEXT(""));
    add_wrapped(&samples, OTLP_STACKS, &part);
    for (int i = 0; i < STRINGS; i++)
        protobuf_add_bytes(&samples, OTLP_LOCATIONS, TEXT(""));
    add_wrapped(&message, OTLP_DICTIONARY, &samples);
    for (int i = 0; i < 1000; i++)
        protobuf_add_bytes(&message, OTLP_RESOURCE_PROFILES,
                           TEXT("\x12\x08\x12\x06\x12\x04\x08\x01\x22\x00"));
    CHECK_OK(error, otlp_request_read(&request, text_builder_view(&message), &error));
    for (size_t i = 0; i < request.count && good; i++)
        good = otlp_request_check(&request, i, &error);
    CHECK(!good && error.code == ERROR_MEMORY);
    /* As much as the message is large, whatever it refers to. */
    CHECK(request.work <= OTLP_WORK + OTLP_WORK_OF_BYTE * (uint64_t)message.size + 1);
    otlp_request_release(&request);
    text_builder_release(&message);
    text_builder_release(&part);
    text_builder_release(&samples);
}
