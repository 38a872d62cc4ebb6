#include "python_sampler/python_layout.h"

#include "base/attributes.h"

/* Unchanged from 3.8 to 3.10. */
#define HEAP_FRAME_COMMON                                                               \
    .interpreter.next = 0, .interpreter.threads_head = 8, .interpreter.gil = NO_OFFSET, \
    .interpreter.code_generation = NO_OFFSET, .gil = {16, 8, NO_OFFSET, 24},            \
    .thread = {8, 16, 24, NO_OFFSET, 176, NO_OFFSET, NO_OFFSET, 184},                   \
    .code = {104, 112, NO_OFFSET, 120, 40, NO_OFFSET, NO_OFFSET, 72, 128}

#define OBJECTS_BEFORE_3_12         \
    .object = {                     \
        .type = 8,                  \
        .string_length = 16,        \
        .string_hash = 24,          \
        .string_state = 32,         \
        .string_ascii_bytes = 48,   \
        .string_compact_bytes = 72, \
        .bytes_size = 16,           \
        .bytes_data = 32,           \
        .tuple_size = 16,           \
        .tuple_items = 24,          \
        .dict_keys = 32,            \
        .dict_values = 40,          \
        .type_name = 24,            \
        .type_flags = 168,          \
        .type_basic_size = 32,      \
        .type_dict_offset = 288,    \
        .type_cached_keys = 872,    \
        .module_dict = 16,          \
        .long_digits = 24,          \
    }

static const struct python_layout
    LAYOUTS[] =
        {
            {
                .version = 0x0308,
                .line_table_kind = LINE_TABLE_LNOTAB,
                .runtime = {.interpreters_head = 32, .current_thread = 1368, .collecting = 544, .gil = 1152},
                .interpreter.collecting = NO_OFFSET,
                .interpreter.modules = 56,
                .frame = {24, 32, 104, NO_OFFSET, 96, NO_OFFSET, 360, 120, UINT8_MAX, 1, 0, 116},
                HEAP_FRAME_COMMON,
                OBJECTS_BEFORE_3_12,
            },
            {
                .version = 0x0309,
                .line_table_kind = LINE_TABLE_LNOTAB,
                .runtime = {32, 568, NO_OFFSET, 352},
                .interpreter.collecting = 816,
                .interpreter.modules = 856,
                .frame = {24, 32, 104, NO_OFFSET, 96, NO_OFFSET, 360, 120, UINT8_MAX, 1, 0, 116},
                HEAP_FRAME_COMMON,
                OBJECTS_BEFORE_3_12,
            },
            {
                .version = 0x030a,
                .line_table_kind = LINE_TABLE_RANGES,
                .runtime = {32, 568, NO_OFFSET, 352},
                .interpreter.collecting = 816,
                .interpreter.modules = 856,
                .frame = {24, 32, 96, NO_OFFSET, 88, NO_OFFSET, 352, 112, UINT8_MAX, 2, 0, 108},
                HEAP_FRAME_COMMON,
                OBJECTS_BEFORE_3_12,
            },
            {
                .version = 0x030b,
                .line_table_kind = LINE_TABLE_LOCATIONS,
                .runtime = {40, 576, NO_OFFSET, 360},
                .interpreter = {0, 16, 888, NO_OFFSET, 848, NO_OFFSET},
                .gil = {.locked = 16, .holder = 8, .enabled = NO_OFFSET, .switches = 24},
                .thread = {8, 16, 56, 8, 152, 160, NO_OFFSET, 168},
                .frame = {48, 32, 56, 69, NO_OFFSET, NO_OFFSET, 72, 72, 3, 0, 68},
                .code = {112, 120, 128, 136, 72, 184, NO_OFFSET, 96, 144, 0, {83, 83}},
                OBJECTS_BEFORE_3_12,
            },
            {
                .version = 0x030c,
                .line_table_kind = LINE_TABLE_LOCATIONS,
                .runtime = {40, NO_OFFSET, NO_OFFSET, NO_OFFSET},
                .interpreter = {0, 72, 944, 384, 312, NO_OFFSET},
                .gil = {.locked = 16, .holder = 8, .enabled = NO_OFFSET, .switches = 24},
                .thread = {8, 16, 56, 0, 136, 144, NO_OFFSET, 152},
                .frame = {8, 0, 56, 70, NO_OFFSET, NO_OFFSET, 72, 72, 3, 0},
                .code = {112, 120, 128, 136, 68, 192, NO_OFFSET, 96, 144, 92, {83, 121}},
                .object =
                    {
                        .type = 8,
                        .string_length = 16,
                        .string_hash = 24,
                        .string_state = 32,
                        .string_ascii_bytes = 40,
                        .string_compact_bytes = 56,
                        .bytes_size = 16,
                        .bytes_data = 32,
                        .tuple_size = 16,
                        .tuple_items = 24,
                        .dict_keys = 32,
                        .dict_values = 40,
                        .type_name = 24,
                        .type_flags = 168,
                        .type_basic_size = 32,
                        .type_dict_offset = 288,
                        .type_cached_keys = 880,
                        .module_dict = 16,
                        .long_digits = 24,
                    },
            },
};

bool python_layout_of_version(struct python_layout *layout, uint32_t version, struct error *error)
{
    for (size_t i = 0; i < COUNT_OF(LAYOUTS); i++) {
        if (LAYOUTS[i].version == version) {
            *layout = LAYOUTS[i];
            return true;
        }
    }
    return error_set(error, ERROR_UNSUPPORTED, "Python %u.%u is not supported (3.8 to 3.15 are)",
                     version >> 8, version & 0xff);
}
