#include "formats/folded/folded_line.h"

/* Whole numbers up to here are exact as doubles. */
#define COUNT_LIMIT 9007199254740992.0

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Cuts the last word off *text, with the blanks before it; empty when there is none or nothing is before it. */
static struct text_view cut_last_word(struct text_view *text)
{
    size_t end = text->size, begin;
    while (end > 0 && is_blank(text->data[end - 1]))
        end--;
    for (begin = end; begin > 0 && !is_blank(text->data[begin - 1]);)
        begin--;
    if (begin == 0 || begin == end)
        return (struct text_view){"", 0};
    struct text_view word = {text->data + begin, end - begin};
    while (begin > 0 && is_blank(text->data[begin - 1]))
        begin--;
    text->size = begin;
    return word;
}

static size_t count_digits(struct text_view word, size_t from)
{
    size_t at = from;
    while (at < word.size && is_digit(word.data[at]))
        at++;
    return at - from;
}

/* Sign, digits, fraction, exponent; no hexadecimal, no "inf". */
static bool looks_like_number(struct text_view word)
{
    size_t at = word.size > 0 && (word.data[0] == '-' || word.data[0] == '+') ? 1 : 0;
    size_t whole = count_digits(word, at), part = 0;
    at += whole;
    if (at < word.size && word.data[at] == '.') {
        part = count_digits(word, at + 1);
        at += part + 1;
    }
    if (whole + part == 0)
        return false;
    if (at < word.size && (word.data[at] == 'e' || word.data[at] == 'E')) {
        at += at + 1 < word.size && (word.data[at + 1] == '-' || word.data[at + 1] == '+') ? 2 : 1;
        size_t digits = count_digits(word, at);
        if (digits == 0)
            return false;
        at += digits;
    }
    return at == word.size;
}

/* Whole numbers of usual length without strtod. */
static enum folded_outcome parse_count(struct text_view word, double *count, struct error *error)
{
    if (word.size > 0 && word.size <= 15 && count_digits(word, 0) == word.size) {
        uint64_t number = 0;
        for (size_t i = 0; i < word.size; i++)
            number = number * 10 + (uint64_t)(word.data[i] - '0');
        *count = (double)number;
        return FOLDED_STACK;
    }
    if (!looks_like_number(word))
        return FOLDED_UNKNOWN;
    const char *why = NULL;
    if (word.data[0] == '-')
        why = "a negative count";
    else if (!text_to_double(word, count) || *count > COUNT_LIMIT)
        why = "a count that is too large";
    if (why == NULL)
        return FOLDED_STACK;
    error_set(error, ERROR_BAD_INPUT, "%s: %.*s", why, (int)(word.size < 40 ? word.size : 40), word.data);
    return FOLDED_BAD;
}

/* "# text" and a bare "#"; a frame may begin with '#', so such a line is a comment only if it lacks a count. */
static bool is_comment(struct text_view line)
{
    return line.data[0] == '#' && (line.size == 1 || is_blank(line.data[1]) || line.data[1] == '!');
}

enum folded_outcome folded_line_parse(struct text_view line, bool two_counts, struct folded_line *parsed,
                                      struct error *error)
{
    while (line.size > 0 && is_blank(line.data[line.size - 1]))
        line.size--;
    if (line.size == 0 || is_comment(line))
        return FOLDED_NOTHING;
    parsed->stack = line;
    struct text_view word = cut_last_word(&parsed->stack);
    enum folded_outcome outcome = parse_count(word, &parsed->counts[two_counts ? 1 : 0], error);
    if (outcome == FOLDED_UNKNOWN && line.data[0] == '#')
        return FOLDED_NOTHING;
    if (outcome != FOLDED_STACK || !two_counts)
        return outcome;
    return parse_count(cut_last_word(&parsed->stack), &parsed->counts[0], error);
}

/* Removes ":12" from the end; 0: there is none. Numbers with leading zeros stay, to keep texts different. */
static uint32_t cut_line_number(struct text_view *text)
{
    size_t begin = text->size;
    while (begin > 0 && is_digit(text->data[begin - 1]))
        begin--;
    size_t digits = text->size - begin;
    if (digits == 0 || digits > 9 || begin < 2 || text->data[begin - 1] != ':' || text->data[begin] == '0')
        return 0;
    uint32_t number = 0;
    for (size_t i = begin; i < text->size; i++)
        number = number * 10 + (uint32_t)(text->data[i] - '0');
    text->size = begin - 1;
    return number;
}

static bool is_python_file(struct text_view file)
{
    return text_ends_with(file, TEXT(".py")) || text_ends_with(file, TEXT(".pyx")) ||
           (file.size > 2 && file.data[0] == '<' && file.data[file.size - 1] == '>');
}

/* "function (file.py:12)" */
static bool split_python(struct text_view text, struct text_view *name, struct text_view *file,
                         uint32_t *line)
{
    if (text.size < 6 || text.data[text.size - 1] != ')')
        return false;
    size_t open = text_find_last_byte(text, '(');
    if (open == TEXT_NOT_FOUND || open < 2 || text.data[open - 1] != ' ')
        return false;
    struct text_view inside = text_part(text, open + 1, text.size - open - 2);
    uint32_t number = cut_line_number(&inside);
    if (!is_python_file(inside))
        return false;
    *name = text_part(text, 0, open - 1);
    *file = inside;
    *line = number;
    return true;
}

uint32_t folded_frame(struct profile *profile, struct text_view text, bool needs_lines)
{
    struct text_view name = text, file = {"", 0};
    uint32_t line = 0;
    if (split_python(text, &name, &file, &line)) {
        if (!needs_lines)
            return profile_frame(profile, text, TEXT(""), 0, FRAME_PYTHON);
        return profile_frame(profile, name, file, line, FRAME_PYTHON);
    }
    enum frame_kind kind = frame_kind_of_suffix(&name);
    if (frame_kind_is_java(kind) && needs_lines)
        line = cut_line_number(&name);
    return profile_frame(profile, name, TEXT(""), line, kind);
}
