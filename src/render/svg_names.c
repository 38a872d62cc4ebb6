#include "render/svg_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

bool svg_names_init(struct svg_names *names, struct error *error)
{
    *names = (struct svg_names){.names = NULL};
    return string_table_init(&names->texts, SVG_NAMES_LIMIT_BYTES) || error_set_memory(error);
}

void svg_names_release(struct svg_names *names)
{
    string_table_release(&names->texts);
    free(names->names);
    *names = (struct svg_names){.names = NULL};
}

/* NULL: out of memory. */
static struct svg_name *name_of(struct svg_names *names, struct text_view function)
{
    uint32_t number = string_table_add(&names->texts, function);
    size_t known = names->capacity;
    if (number == NO_STRING ||
        !array_reserve(&names->names, &names->capacity, (size_t)number + 1, UINT32_MAX))
        return NULL;
    for (size_t i = known; i < names->capacity; i++)
        names->names[i] = (struct svg_name){.id = 0};
    return &names->names[number];
}

const struct svg_name *svg_names_find(const struct svg_names *names, struct text_view function)
{
    if (names->capacity == 0)
        return NULL;
    uint32_t number = string_table_find(&names->texts, function);
    return number < names->capacity ? &names->names[number] : NULL;
}

void svg_names_keep_color(struct svg_names *names, struct text_view function, struct color color)
{
    struct svg_name *name = name_of(names, function);
    if (name == NULL || name->has_color)
        return;
    name->color = color;
    name->has_color = true;
}

/* ---- attributes ---- */

static uint32_t *attribute_place(struct svg_name *name, struct text_view key)
{
    struct {
        const char *key;
        uint32_t *place;
    } all[] = {{"id", &name->id},
               {"class", &name->class_name},
               {"title", &name->title},
               {"href", &name->href},
               {"target", &name->target}};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (text_equal(key, text_of(all[i].key)))
            return all[i].place;
    return NULL;
}

static bool read_attribute(struct svg_names *names, struct svg_name *name, struct text_view field,
                           size_t line, struct error *error)
{
    size_t equals = text_find_byte(field, '=');
    if (equals == TEXT_NOT_FOUND)
        return error_set(error, ERROR_BAD_INPUT, "line %zu: \"%.*s\" is no KEY=VALUE", line,
                         TEXT_FORMAT(field));
    struct text_view key = text_part(field, 0, equals);
    uint32_t *place = attribute_place(name, key);
    if (place == NULL)
        return error_set(error, ERROR_BAD_INPUT,
                         "line %zu: no attribute \"%.*s\"; there are: id, class, title, href, target", line,
                         TEXT_FORMAT(key));
    uint32_t value = string_table_add(&names->texts, text_from(field, equals + 1));
    if (value == NO_STRING)
        return error_set_memory(error);
    *place = value;
    return true;
}

static struct text_view next_line(struct text_view *text)
{
    struct text_view line = text_cut(text, '\n');
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

bool svg_names_read_attributes(struct svg_names *names, struct text_view text, struct error *error)
{
    for (size_t line_number = 1; text.size > 0; line_number++) {
        struct text_view line = next_line(&text);
        struct text_view function = text_cut(&line, '\t');
        if (function.size == 0)
            continue;
        if (line.size == 0)
            return error_set(error, ERROR_BAD_INPUT, "line %zu: no tab and attribute behind the function",
                             line_number);
        struct svg_name *name = name_of(names, function);
        if (name == NULL)
            return error_set_memory(error);
        while (line.size > 0)
            if (!read_attribute(names, name, text_cut(&line, '\t'), line_number, error))
                return false;
    }
    return true;
}

/* ---- colours ---- */

static bool read_color(struct text_view text, struct color *color)
{
    unsigned parts[3];
    int used = 0;
    char buffer[32];
    if (text.size >= sizeof(buffer))
        return false;
    memcpy(buffer, text.data, text.size);
    buffer[text.size] = '\0';
    if (sscanf(buffer, "rgb(%3u,%3u,%3u)%n", &parts[0], &parts[1], &parts[2], &used) != 3 ||
        (size_t)used != text.size || parts[0] > 255 || parts[1] > 255 || parts[2] > 255)
        return false;
    *color = (struct color){(uint8_t)parts[0], (uint8_t)parts[1], (uint8_t)parts[2]};
    return true;
}

/* Functions may hold "->" themselves, so the last one counts. */
static size_t find_arrow(struct text_view line)
{
    for (size_t i = line.size; i-- > 1;)
        if (line.data[i] == '>' && line.data[i - 1] == '-')
            return i - 1;
    return TEXT_NOT_FOUND;
}

bool svg_names_read_colors(struct svg_names *names, struct text_view text, struct error *error)
{
    for (size_t line_number = 1; text.size > 0; line_number++) {
        struct text_view line = next_line(&text);
        if (line.size == 0)
            continue;
        size_t arrow = find_arrow(line);
        struct color color;
        if (arrow == TEXT_NOT_FOUND || !read_color(text_from(line, arrow + 2), &color))
            return error_set(error, ERROR_BAD_INPUT, "line %zu is not \"FUNCTION->rgb(R,G,B)\"", line_number);
        struct svg_name *name = name_of(names, text_part(line, 0, arrow));
        if (name == NULL)
            return error_set_memory(error);
        name->color = color;
        name->has_color = true;
    }
    return true;
}

static int by_text(const void *left, const void *right, void *context)
{
    const struct string_table *texts = context;
    return text_compare(string_table_text(texts, *(const uint32_t *)left),
                        string_table_text(texts, *(const uint32_t *)right));
}

bool svg_names_write_colors(const struct svg_names *names, struct output *output)
{
    uint32_t *numbers = calloc(names->capacity + 1, sizeof(*numbers));
    if (numbers == NULL)
        return false;
    size_t count = 0;
    for (uint32_t i = 0; i < names->capacity; i++)
        if (names->names[i].has_color)
            numbers[count++] = i;
    qsort_r(numbers, count, sizeof(*numbers), by_text, (void *)&names->texts);
    for (size_t i = 0; i < count; i++) {
        struct color color = names->names[numbers[i]].color;
        output_text(output, string_table_text(&names->texts, numbers[i]));
        output_format(output, "->rgb(%u,%u,%u)\n", color.red, color.green, color.blue);
    }
    free(numbers);
    return true;
}
