#include "render/svg_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
               {"target", &name->target},
               {"g_extra", &name->group_extra},
               {"a_extra", &name->link_extra}};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (text_equal(key, text_of(all[i].key)))
            return all[i].place;
    return NULL;
}

bool svg_extra_next(struct text_view *rest, struct text_view *key, struct text_view *value)
{
    *rest = text_trim(*rest);
    struct text_view all = *rest;
    *key = text_cut(&all, '=');
    if (key->size == 0 || all.size < 2 || all.data[0] != '"')
        return false;
    all = text_from(all, 1);
    size_t end = text_find_byte(all, '"');
    if (end == TEXT_NOT_FOUND)
        return false;
    *value = text_part(all, 0, end);
    *rest = text_from(all, end + 1);
    return true;
}

static bool is_attribute_name(struct text_view key)
{
    for (size_t i = 0; i < key.size; i++)
        if (!isalnum((unsigned char)key.data[i]) && (i == 0 || strchr("-_:.", key.data[i]) == NULL))
            return false;
    return key.size > 0;
}

/* Handlers begin with "on"; a link has its own key. */
static bool is_harmless(struct text_view key)
{
    return is_attribute_name(key) && !(key.size > 2 && strncasecmp(key.data, "on", 2) == 0) &&
           !(key.size >= 4 && strncasecmp(key.data + key.size - 4, "href", 4) == 0);
}

static bool check_extra(struct text_view extra, size_t line, struct error *error)
{
    struct text_view key, value;
    while (svg_extra_next(&extra, &key, &value))
        if (!is_harmless(key))
            return error_set(error, ERROR_BAD_INPUT, "line %zu: attribute \"%.*s\" is not allowed", line,
                             TEXT_FORMAT(key));
    if (extra.size > 0)
        return error_set(error, ERROR_BAD_INPUT, "line %zu: \"%.*s\" is not name=\"value\"", line,
                         TEXT_FORMAT(extra));
    return true;
}

/* Blanks and control characters before or in "javascript:" do not keep a browser from running it. */
static bool check_link(struct text_view link, size_t line, struct error *error)
{
    char scheme[16];
    size_t size = 0;
    for (size_t i = 0; i < link.size && size + 1 < sizeof(scheme) && link.data[i] != ':'; i++)
        if ((unsigned char)link.data[i] > ' ')
            scheme[size++] = link.data[i];
    scheme[size] = '\0';
    if (strcasecmp(scheme, "javascript") == 0 || strcasecmp(scheme, "vbscript") == 0 ||
        strcasecmp(scheme, "data") == 0)
        return error_set(error, ERROR_BAD_INPUT, "line %zu: a link to \"%s:\" is not allowed", line, scheme);
    return true;
}

static bool check_value(const struct svg_name *name, const uint32_t *place, struct text_view value,
                        size_t line, struct error *error)
{
    if (place == &name->href)
        return check_link(value, line, error);
    if (place == &name->group_extra || place == &name->link_extra)
        return check_extra(value, line, error);
    return true;
}

static bool read_attribute(struct svg_names *names, struct svg_name *name, struct text_view field,
                           size_t line, struct error *error)
{
    if (field.size == 0)
        return true;
    size_t equals = text_find_byte(field, '=');
    if (equals == TEXT_NOT_FOUND)
        return error_set(error, ERROR_BAD_INPUT, "line %zu: \"%.*s\" is not KEY=VALUE", line,
                         TEXT_FORMAT(field));
    struct text_view key = text_part(field, 0, equals);
    uint32_t *place = attribute_place(name, key);
    if (place == NULL)
        return error_set(
            error, ERROR_BAD_INPUT,
            "line %zu: no attribute \"%.*s\"; there are: id, class, title, href, target, g_extra, a_extra",
            line, TEXT_FORMAT(key));
    if (!check_value(name, place, text_from(field, equals + 1), line, error))
        return false;
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
            return error_set(error, ERROR_BAD_INPUT, "line %zu: no tab and attribute after the function",
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
