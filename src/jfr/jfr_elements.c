#include "jfr/jfr_elements.h"

#include "jfr/jfr_put.h"

bool jfr_elements_init(struct jfr_elements *elements, size_t limit_bytes)
{
    text_builder_init(&elements->tree, limit_bytes);
    return string_table_init(&elements->strings, limit_bytes);
}

void jfr_elements_release(struct jfr_elements *elements)
{
    text_builder_release(&elements->tree);
    string_table_release(&elements->strings);
}

static void put_name(struct jfr_elements *elements, struct text_view text)
{
    uint32_t number = string_table_add(&elements->strings, text);
    if (number == NO_STRING)
        elements->tree.failed = true;
    else
        jfr_put_number(&elements->tree, number);
}

void jfr_elements_begin(struct jfr_elements *elements, const char *name, uint64_t attribute_count)
{
    put_name(elements, text_of(name));
    jfr_put_number(&elements->tree, attribute_count);
}

void jfr_elements_attribute(struct jfr_elements *elements, const char *key, struct text_view value)
{
    put_name(elements, text_of(key));
    put_name(elements, value);
}

void jfr_elements_number(struct jfr_elements *elements, const char *key, uint64_t number)
{
    char digits[24];
    jfr_elements_attribute(elements, key, (struct text_view){digits, text_format_u64(digits, number)});
}

void jfr_elements_children(struct jfr_elements *elements, uint64_t count)
{
    jfr_put_number(&elements->tree, count);
}

void jfr_elements_region(struct jfr_elements *elements)
{
    jfr_elements_begin(elements, "region", 2);
    jfr_elements_attribute(elements, "locale", TEXT("en_US"));
    jfr_elements_attribute(elements, "gmtOffset", TEXT("0"));
    jfr_elements_children(elements, 0);
}

void jfr_elements_put(const struct jfr_elements *elements, struct text_builder *bytes)
{
    jfr_put_number(bytes, elements->strings.size);
    for (uint32_t i = 0; i < elements->strings.size; i++)
        jfr_put_string(bytes, string_table_text(&elements->strings, i));
    text_builder_add(bytes, text_builder_view(&elements->tree));
}
