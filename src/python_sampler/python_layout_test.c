#include "python_sampler/python_layout.h"

#include <string.h>

#include "unit_test.h"

static void put(unsigned char *runtime, size_t word, uint64_t value)
{
    memcpy(runtime + 8 * word, &value, 8);
}

TEST(tables_serve_3_8_to_3_12)
{
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    for (uint32_t version = 0x0308; version <= 0x030c; version++) {
        CHECK_OK(error, python_layout_of_version(&layout, version, &error));
        CHECK_INT(layout.version, version);
        CHECK(layout.frame.previous + 8 <= layout.frame.bytes);
        CHECK(layout.frame.code + 8 <= layout.frame.bytes);
        CHECK(layout.thread.thread_id + 8 <= layout.thread.bytes);
        CHECK(layout.code.line_table + 8 <= layout.code.bytes);
    }
}

TEST(other_versions_are_named)
{
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    CHECK(!python_layout_of_version(&layout, 0x0306, &error));
    CHECK_TEXT(error.message, "Python 3.6 is not supported (3.8 to 3.15 are)");
}

TEST(descriptions_of_unknown_versions_are_refused)
{
    unsigned char runtime[PYTHON_DEBUG_OFFSETS_BYTES] = "xdebugpy";
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    CHECK(python_layout_has_debug_offsets(runtime));
    put(runtime, 1, 0x031000f0);
    CHECK(!python_layout_from_runtime(&layout, runtime, &error));
    CHECK_TEXT(error.message, "Python 3.16 is not supported (3.8 to 3.15 are)");
    put(runtime, 1, 0x030f00b4);
    CHECK(!python_layout_from_runtime(&layout, runtime, &error));
    CHECK_TEXT(error.message, "Python 3.15 is a pre-release, which is not supported");
}

/* The used words of 3.13's description, in a build with the GIL. */
static const struct {
    size_t word;
    uint64_t value;
    const char *name;
} WORDS[] = {
    {5, 632, "runtime.interpreters_head"},
    {6, 236096, "interpreter.size"},
    {8, 7248, "interpreter.next"},
    {9, 7344, "interpreter.threads_head"},
    {10, 7544, "interpreter.gc"},
    {11, 7832, "interpreter.modules"},
    {14, 8, "interpreter.gil"},
    {15, 63136, "interpreter.gil_state"},
    {17, 63152, "interpreter.gil_locked"},
    {18, 63144, "interpreter.gil_holder"},
    {21, 8, "thread.next"},
    {22, 16, "thread.interpreter"},
    {23, 72, "thread.current_frame"},
    {24, 152, "thread.thread_id"},
    {25, 160, "thread.native_thread_id"},
    {27, 36, "thread.status"},
    {29, 8, "frame.previous"},
    {30, 0, "frame.executable"},
    {31, 56, "frame.instruction"},
    {32, 72, "frame.locals"},
    {33, 70, "frame.owner"},
    {35, 112, "code.file_name"},
    {36, 120, "code.name"},
    {37, 128, "code.qualified_name"},
    {38, 136, "code.line_table"},
    {39, 68, "code.first_line"},
    {41, 96, "code.local_names"},
    {43, 208, "code.bytecode"},
    {45, 8, "object.type"},
    {47, 24, "type.name"},
    {49, 168, "type.flags"},
    {51, 24, "tuple.items"},
    {52, 16, "tuple.size"},
    {57, 32, "dict.keys"},
    {58, 40, "dict.values"},
    {63, 24, "long.digits"},
    {65, 16, "bytes.size"},
    {66, 32, "bytes.data"},
    {68, 32, "string.state"},
    {69, 16, "string.length"},
    {70, 40, "string.ascii"},
    {72, 120, "gc.collecting"},
};

static void describe(unsigned char *runtime)
{
    memset(runtime, 0, PYTHON_DEBUG_OFFSETS_BYTES);
    memcpy(runtime, "xdebugpy", 8);
    put(runtime, 1, 0x030d05f0);
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        put(runtime, WORDS[i].word, WORDS[i].value);
}

/* Each offset separately, since one that is rejected may hide another that is not. */
TEST(impossible_offsets_are_refused)
{
    unsigned char runtime[PYTHON_DEBUG_OFFSETS_BYTES];
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    static const uint64_t values[] = {1 << 20,           (1 << 20) + 8,  UINT32_MAX, UINT64_C(1) << 32,
                                      UINT64_C(1) << 63, UINT64_MAX - 7, UINT64_MAX};
    describe(runtime);
    CHECK_OK(error, python_layout_from_runtime(&layout, runtime, &error));
    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        for (size_t k = WORDS[i].word == 6; k < COUNT_OF(values); k++) {
            describe(runtime);
            put(runtime, WORDS[i].word, values[k]);
            error.message[0] = '\0';
            CHECK(!python_layout_from_runtime(&layout, runtime, &error));
            CHECK(strstr(error.message, "Python 3.13 has an invalid debug offset (") != NULL);
            if (WORDS[i].word != 15 && WORDS[i].word != 32 && WORDS[i].word != 70)
                CHECK(strstr(error.message, WORDS[i].name) != NULL);
        }
    }
}

/* Copied fields fit in their buffers, whatever the offsets are. */
TEST(fields_lie_inside_of_what_is_read)
{
    unsigned char runtime[PYTHON_DEBUG_OFFSETS_BYTES];
    struct python_layout layout;
    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        for (uint64_t value = 0; value <= 1 << 20; value += value < 2048 ? 1 : 1021) {
            describe(runtime);
            put(runtime, WORDS[i].word, value);
            if (!python_layout_from_runtime(&layout, runtime, NULL))
                continue;
            CHECK(layout.thread.bytes <= PYTHON_MOST_THREAD_BYTES);
            CHECK(layout.frame.bytes <= PYTHON_MOST_FRAME_BYTES);
            CHECK(layout.frame.previous + 8 <= layout.frame.bytes);
            CHECK(layout.frame.code + 8 <= layout.frame.bytes);
            CHECK(layout.frame.instruction + 8 <= layout.frame.bytes);
            CHECK(layout.frame.owner < layout.frame.bytes);
            CHECK(layout.code.bytes <= PYTHON_MOST_CODE_BYTES);
            CHECK(layout.code.version + 4 <= layout.code.bytes);
            CHECK(layout.object.type + 8 <= layout.code.bytes);
            CHECK(layout.object.string_ascii_bytes <= PYTHON_MOST_STRING_HEAD_BYTES);
            CHECK(layout.object.string_state + 4 <= layout.object.string_ascii_bytes);
            CHECK(layout.object.string_length + 8 <= layout.object.string_ascii_bytes);
        }
    }
}
