#include "spark/log/log_template.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex_letter(char byte)
{
    return (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* A run of letters and digits. */
static size_t word_size(struct text_view text)
{
    size_t size = 0;
    while (size < text.size && (is_digit(text.data[size]) || is_letter(text.data[size])))
        size++;
    return size;
}

/* "3c0a50da", "0x7f": hexadecimal with a digit in it, long enough not to be a word such as "add1" */
static bool is_hexadecimal(struct text_view word)
{
    if (word.size > 2 && word.data[0] == '0' && (word.data[1] == 'x' || word.data[1] == 'X'))
        return true;
    bool has_digit = false;
    for (size_t i = 0; i < word.size; i++) {
        if (!is_digit(word.data[i]) && !is_hex_letter(word.data[i]))
            return false;
        has_digit = has_digit || is_digit(word.data[i]);
    }
    return has_digit && word.size >= 6;
}

/* Digits masked, one '#' for each run. */
static void add_word(struct text_builder *to, struct text_view word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (!is_digit(word.data[i]))
            text_builder_add_byte(to, word.data[i]);
        else if (i == 0 || !is_digit(word.data[i - 1]))
            text_builder_add_byte(to, '#');
    }
}

/* "12.5", "10.0.0.1", "123e4567-e89b": masked parts that a dot or dash joins are one. */
static bool joins(const struct text_builder *to, struct text_view rest)
{
    return to->size > 0 && to->data[to->size - 1] == '#' && rest.size > 1 &&
           (rest.data[0] == '.' || rest.data[0] == '-' || rest.data[0] == ',') && is_digit(rest.data[1]);
}

/* "123e4567-e89b-12d3-a456-426614174000" */
static bool is_uuid(struct text_view text)
{
    if (text.size < 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text.data[i] != '-' : !is_digit(text.data[i]) && !is_hex_letter(text.data[i]))
            return false;
    }
    return true;
}

/* Adds the template of the front of the text; returns how much was read. */
static size_t add_front(struct text_builder *to, struct text_view text)
{
    struct text_view word = text_part(text, 0, word_size(text));
    if (joins(to, text))
        return 1 + word_size(text_from(text, 1));
    if (word.size == 0)
        text_builder_add_byte(to, text.data[0]);
    else if (is_uuid(text) || is_hexadecimal(word))
        text_builder_add_byte(to, '#');
    else
        add_word(to, word);
    return word.size == 0 ? 1 : is_uuid(text) ? 36 : word.size;
}

void log_template_add(struct text_builder *to, struct text_view text)
{
    while (text.size > 0 && !to->failed)
        text = text_from(text, add_front(to, text));
}
