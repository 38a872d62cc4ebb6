#include "jvm_agent/jfr/jfr_repack.h"

#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "jfr/jfr_put.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "unit_test.h"

#define HEADER_BYTES 68u
#define LIMIT_BYTES ((size_t)1 << 20)

static void put_header(struct text_builder *bytes)
{
    text_builder_add(bytes, TEXT("FLR\0\0\2\0\1"));
    for (size_t i = 8; i < HEADER_BYTES; i++)
        jfr_put_byte(bytes, 0);
}

static void put_size(struct text_builder *bytes)
{
    for (size_t i = 0; i < 8; i++)
        bytes->data[8 + i] = (char)(bytes->size >> (8 * (7 - i)));
}

static void put_wall(struct text_builder *bytes, uint64_t ticks, uint32_t thread, uint32_t trace)
{
    size_t begin = jfr_event_begin(bytes, JFR_WALL_CLOCK_SAMPLE);
    jfr_put_number(bytes, ticks);
    jfr_put_number(bytes, thread);
    jfr_put_number(bytes, trace);
    for (int i = 0; i < 3; i++)
        jfr_put_number(bytes, 1);
    jfr_event_end(bytes, begin);
}

static void put_labels(struct text_builder *bytes, uint64_t ticks, uint32_t thread, uint32_t string)
{
    size_t begin = jfr_event_begin(bytes, JFR_LABELS);
    jfr_put_number(bytes, ticks);
    jfr_put_number(bytes, thread);
    jfr_put_number(bytes, string);
    jfr_event_end(bytes, begin);
}

static void begin_pools(struct text_builder *bytes, uint64_t pools, size_t *begin)
{
    *begin = jfr_event_begin(bytes, JFR_POOLS_EVENT);
    for (int i = 0; i < 3; i++)
        jfr_put_number(bytes, 0);
    jfr_put_byte(bytes, 1);
    jfr_put_number(bytes, pools);
}

static void put_class(struct text_builder *bytes, uint32_t number, struct text_view name)
{
    size_t begin;
    begin_pools(bytes, 1, &begin);
    jfr_put_number(bytes, JFR_CLASS);
    jfr_put_number(bytes, 1);
    jfr_put_number(bytes, number);
    jfr_put_text(bytes, name);
    jfr_event_end(bytes, begin);
}

/* Two checkpoints with a class each, and alternating samples of two threads. */
static void put_recording(struct text_builder *bytes)
{
    struct error error = {0};
    jfr_shape_choose(true, false, 1);
    text_builder_init(bytes, LIMIT_BYTES);
    put_header(bytes);
    CHECK_OK(error, jfr_metadata_write(bytes, 1, NULL, &error));
    put_labels(bytes, 5, 2, 9);
    put_wall(bytes, 5, 2, 7);
    put_wall(bytes, 6, 1, 8);
    put_class(bytes, 1, TEXT("b/B"));
    put_labels(bytes, 5, 2, 3);
    put_wall(bytes, 7, 2, 6);
    put_wall(bytes, 8, 1, 8);
    put_class(bytes, 2, TEXT("a/A"));
    put_size(bytes);
}

static size_t place_of(const struct text_builder *bytes, const char *part, size_t size)
{
    const char *found = memmem(bytes->data, bytes->size, part, size);
    CHECK(found != NULL);
    return (size_t)(found - bytes->data);
}

static size_t place_of_wall(const struct text_builder *bytes, uint8_t ticks, uint8_t thread, uint8_t trace)
{
    const char part[] = {9, (char)JFR_WALL_CLOCK_SAMPLE, (char)ticks, (char)thread, (char)trace, 1, 1, 1};
    return place_of(bytes, part + 1, sizeof(part) - 1);
}

TEST(events_and_constants_are_put_in_order)
{
    struct text_builder bytes, packed;
    struct error error = {0};
    put_recording(&bytes);
    text_builder_init(&packed, LIMIT_BYTES);
    CHECK_OK(error, jfr_repack(text_builder_view(&bytes), &packed, &error));
    CHECK(place_of_wall(&packed, 6, 1, 8) < place_of_wall(&packed, 8, 1, 8));
    CHECK(place_of_wall(&packed, 8, 1, 8) < place_of_wall(&packed, 7, 2, 6));
    CHECK(place_of_wall(&packed, 7, 2, 6) < place_of_wall(&packed, 5, 2, 7));
    CHECK(place_of(&packed, "\2\3\3a/A", 6) < place_of(&packed, "\1\3\3b/B", 6));
    const char labels[] = {JFR_LABELS, 5, 2, 9, 5, JFR_LABELS, 5, 2, 3};
    (void)place_of(&packed, labels, sizeof(labels)); /* at the same time: the later one applies */
    CHECK(memmem(packed.data, packed.size, "jdk.ThreadPark", 14) == NULL);
    CHECK(memmem(packed.data, packed.size, "profiler.WallClockSample", 24) != NULL);
    text_builder_release(&bytes);
    text_builder_release(&packed);
}

TEST(the_header_says_where_the_constants_are)
{
    struct text_builder bytes, packed, again;
    struct error error = {0};
    put_recording(&bytes);
    text_builder_init(&packed, LIMIT_BYTES);
    text_builder_init(&again, LIMIT_BYTES);
    CHECK_OK(error, jfr_repack(text_builder_view(&bytes), &packed, &error));
    size_t size = (size_t)(uint8_t)packed.data[14] << 8 | (uint8_t)packed.data[15];
    size_t pools = (size_t)(uint8_t)packed.data[22] << 8 | (uint8_t)packed.data[23];
    CHECK_INT(size, packed.size);
    CHECK_INT(packed.data[pools + 1], JFR_POOLS_EVENT);
    CHECK_INT(pools + (size_t)packed.data[pools], packed.size);
    CHECK_OK(error, jfr_repack(text_builder_view(&packed), &again, &error));
    CHECK(text_equal(text_builder_view(&packed), text_builder_view(&again)));
    text_builder_release(&bytes);
    text_builder_release(&packed);
    text_builder_release(&again);
}

TEST(each_chunk_stays_one)
{
    struct text_builder bytes, packed;
    struct error error = {0};
    put_recording(&bytes);
    size_t size = bytes.size;
    char *copy = malloc(size);
    CHECK(copy != NULL);
    memcpy(copy, bytes.data, size);
    text_builder_add(&bytes, (struct text_view){copy, size});
    text_builder_init(&packed, LIMIT_BYTES);
    CHECK_OK(error, jfr_repack(text_builder_view(&bytes), &packed, &error));
    CHECK_INT(packed.size % 2, 0);
    CHECK(memcmp(packed.data, packed.data + packed.size / 2, packed.size / 2) == 0);
    free(copy);
    text_builder_release(&bytes);
    text_builder_release(&packed);
}

TEST(what_is_damaged_is_refused_or_packed_but_never_read_beyond)
{
    struct text_builder bytes;
    put_recording(&bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        struct text_builder packed;
        struct error error = {0};
        char *part = malloc(size + 1); /* so that a sanitizer detects reads beyond its end */
        CHECK(part != NULL);
        memcpy(part, bytes.data, size);
        text_builder_init(&packed, LIMIT_BYTES);
        CHECK(!jfr_repack((struct text_view){part, size}, &packed, &error));
        text_builder_release(&packed);
        free(part);
    }
    for (size_t at = 0; at < bytes.size * 8; at++) {
        struct text_builder packed;
        struct error error = {0};
        bytes.data[at / 8] ^= (char)(1 << at % 8);
        text_builder_init(&packed, LIMIT_BYTES);
        bool packed_again = jfr_repack(text_builder_view(&bytes), &packed, &error);
        CHECK(packed_again || error.code != ERROR_NONE);
        text_builder_release(&packed);
        bytes.data[at / 8] ^= (char)(1 << at % 8);
    }
    text_builder_release(&bytes);
}

TEST(without_memory_it_says_so)
{
    struct text_builder bytes;
    put_recording(&bytes);
    FAIL_EACH_ALLOCATION
    {
        struct text_builder packed;
        struct error error = {0};
        text_builder_init(&packed, LIMIT_BYTES);
        bool done = jfr_repack(text_builder_view(&bytes), &packed, &error);
        CHECK(done || (failing_memory_failed() && error.code != ERROR_NONE));
        text_builder_release(&packed);
    }
    text_builder_release(&bytes);
}
