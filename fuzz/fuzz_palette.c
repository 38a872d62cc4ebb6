/*
 * fuzz_palette.c - gives libFuzzer's input to the readers of palette.map and of attributes. A palette that
 * was written is read again, and is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "render/svg_names.h"

#define LIMIT_BYTES ((size_t)8 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_colors(const struct svg_names *names, struct text_builder *text)
{
    struct output output;
    struct error error = {0};
    text_builder_init(text, LIMIT_BYTES);
    if (!output_open_memory(&output, text, &error) || !svg_names_write_colors(names, &output) ||
        !output_finish(&output, &error))
        abort();
}

static void check_colors(struct text_view input)
{
    struct svg_names names[2];
    struct text_builder texts[2];
    struct error error = {0};
    if (!svg_names_init(&names[0], &error) || !svg_names_init(&names[1], &error))
        abort();
    if (svg_names_read_colors(&names[0], input, &error)) {
        write_colors(&names[0], &texts[0]);
        if (!svg_names_read_colors(&names[1], text_builder_view(&texts[0]), &error))
            abort();
        write_colors(&names[1], &texts[1]);
        if (!text_equal(text_builder_view(&texts[0]), text_builder_view(&texts[1])))
            abort();
        text_builder_release(&texts[0]);
        text_builder_release(&texts[1]);
    }
    svg_names_release(&names[0]);
    svg_names_release(&names[1]);
}

static void walk_extra(struct text_view rest)
{
    struct text_view key, value;
    while (svg_extra_next(&rest, &key, &value))
        if (key.size == 0)
            abort();
}

static void check_attributes(struct text_view input)
{
    struct svg_names names;
    struct error error = {0};
    if (!svg_names_init(&names, &error))
        abort();
    if (svg_names_read_attributes(&names, input, &error)) {
        for (size_t i = 0; i < names.capacity && i < names.texts.size; i++) {
            walk_extra(string_table_text(&names.texts, names.names[i].group_extra));
            walk_extra(string_table_text(&names.texts, names.names[i].link_extra));
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    svg_names_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view input = {(const char *)data, size};
    check_colors(input);
    check_attributes(input);
    return 0;
}
