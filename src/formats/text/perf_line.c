#include "formats/text/perf_line.h"

#include "model/profile.h"

#define RUST_HASH_BYTES 17 /* 'h' and 16 digits */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static struct text_view without_first_blanks(struct text_view text)
{
    while (text.size > 0 && is_blank(text.data[0])) {
        text.data++;
        text.size--;
    }
    return text;
}

/* Cuts the next word off; empty at the end. */
static struct text_view cut_word(struct text_view *text)
{
    *text = without_first_blanks(*text);
    size_t size = 0;
    while (size < text->size && !is_blank(text->data[size]))
        size++;
    struct text_view word = {text->data, size};
    text->data += size;
    text->size -= size;
    return word;
}

static size_t leading_digits(struct text_view text)
{
    size_t count = 0;
    while (count < text.size && is_digit(text.data[count]))
        count++;
    return count;
}

/* "123" or "123/456" */
static bool is_thread(struct text_view word)
{
    size_t first = leading_digits(word);
    if (first == 0 || first == word.size)
        return first > 0;
    struct text_view second = text_from(word, first + 1);
    return word.data[first] == '/' && second.size > 0 && leading_digits(second) == second.size;
}

/* "4794564.109216:" */
static bool is_time(struct text_view word)
{
    size_t first = leading_digits(word);
    if (first == 0 || first + 2 > word.size || word.data[first] != '.')
        return false;
    size_t second = leading_digits(text_from(word, first + 1));
    return second > 0 && first + second + 2 == word.size && word.data[word.size - 1] == ':';
}

static int64_t parse_time(struct text_view word)
{
    uint64_t seconds = 0, nanoseconds = 0;
    size_t point = leading_digits(word);
    size_t digits = word.size - point - 2;
    if (point > 10 || !text_to_u64(text_part(word, 0, point), &seconds))
        return NO_TIME;
    for (size_t i = 0; i < 9; i++)
        nanoseconds = nanoseconds * 10 + (i < digits ? (uint64_t)(word.data[point + 1 + i] - '0') : 0);
    return seconds > 9000000000u ? NO_TIME : (int64_t)(seconds * 1000000000u + nanoseconds);
}

/* Finds the thread: the first number, or a later one where only that stands before a processor or a time ("GC
 * Thread 12 345/678 [003] …"). Leaves what follows it in *rest. */
static bool find_thread(struct text_view line, struct text_view *command, struct text_view *word,
                        struct text_view *rest)
{
    struct text_view left = line;
    cut_word(&left);
    do
        *word = cut_word(&left);
    while (word->size > 0 && !is_thread(*word));
    if (word->size == 0)
        return false;
    for (struct text_view ahead = left;;) {
        struct text_view next = cut_word(&ahead), third_from = ahead, third = cut_word(&third_from);
        if (!is_thread(next) || third.size == 0 || !(third.data[0] == '[' || is_time(third)))
            break;
        *word = next;
        left = ahead;
    }
    *command = text_trim((struct text_view){line.data, (size_t)(word->data - line.data)});
    *rest = left;
    return true;
}

/* What may follow the thread; any of it may be missing. */
static void parse_event(struct perf_header *header, struct text_view rest)
{
    struct text_view period = {"", 0};
    while (rest.size > 0) {
        struct text_view word = cut_word(&rest);
        if (word.size > 0 && word.data[word.size - 1] == ':') {
            if (is_time(word) && header->time_ns == NO_TIME) {
                header->time_ns = parse_time(word);
                continue;
            }
            header->event = text_part(word, 0, word.size - 1);
            header->rest = rest;
            break;
        }
        period = leading_digits(word) == word.size ? word : (struct text_view){"", 0};
    }
    if (period.size == 0 || !text_to_u64(period, &header->period) || header->period == 0)
        header->period = 1;
}

bool perf_header_parse(struct text_view line, struct perf_header *header)
{
    struct text_view word, rest;
    line = text_trim(line);
    *header = (struct perf_header){.event = TEXT(""), .time_ns = NO_TIME, .period = 1, .rest = TEXT("")};
    if (!find_thread(line, &header->command, &word, &rest))
        return false;
    size_t slash = text_find_byte(word, '/');
    header->process = slash == TEXT_NOT_FOUND ? TEXT("") : text_part(word, 0, slash);
    header->thread = slash == TEXT_NOT_FOUND ? word : text_from(word, slash + 1);
    parse_event(header, rest);
    return true;
}

/* Where " (module)" begins at the end of the text; a deleted file has brackets inside: "(/tmp/x.so (deleted))". */
static size_t find_module(struct text_view text)
{
    if (text_ends_with(text, TEXT(" (deleted))")))
        text.size -= sizeof(" (deleted))") - 1;
    else if (text.size == 0 || text.data[text.size - 1] != ')')
        return TEXT_NOT_FOUND;
    for (size_t i = text.size; i-- > 1;)
        if (text.data[i] == '(' && text.data[i - 1] == ' ')
            return i - 1;
    return TEXT_NOT_FOUND;
}

static struct text_view without_offset(struct text_view function)
{
    size_t digits = 0;
    while (digits < function.size && is_hex(function.data[function.size - 1 - digits]))
        digits++;
    if (digits == 0 || function.size < digits + 3)
        return function;
    struct text_view front = text_part(function, 0, function.size - digits);
    return text_ends_with(front, TEXT("+0x")) ? text_part(front, 0, front.size - 3) : function;
}

bool perf_frame_parse(struct text_view line, struct perf_frame *frame)
{
    struct text_view rest = text_trim(line);
    frame->address = cut_word(&rest);
    for (size_t i = 0; i < frame->address.size; i++)
        if (!is_hex(frame->address.data[i]))
            return false;
    if (frame->address.size == 0 || rest.size < 2)
        return false;
    size_t module = find_module(rest);
    frame->module = TEXT("");
    if (module != TEXT_NOT_FOUND) {
        frame->module = text_part(rest, module + 2, rest.size - module - 3);
        rest.size = module;
    }
    rest = text_trim(rest);
    /* The symbol's place is empty; stackcollapse-perf.pl makes it a blank. */
    frame->function = rest.size == 0 ? TEXT(" ") : without_offset(rest);
    return frame->module.size > 0 || rest.size > 0;
}

bool perf_module_is_kernel(struct text_view module)
{
    if (module.size == 0 || text_equal(module, TEXT("[unknown]")))
        return false;
    if (module.data[0] == '[' || text_ends_with(module, TEXT(".ko")))
        return true;
    size_t slash = text_find_last_byte(module, '/');
    struct text_view file = slash == TEXT_NOT_FOUND ? module : text_from(module, slash + 1);
    size_t at = text_find(file, TEXT("vmlinux"));
    if (at == TEXT_NOT_FOUND)
        return false;
    for (size_t i = at; i < file.size; i++) {
        char byte = file.data[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        if (!letter && !is_digit(byte) && byte != '-' && byte != '.' && byte != '_')
            return false;
    }
    return true;
}

bool perf_module_is_jit(struct text_view module)
{
    if (text_starts_with(module, TEXT("/tmp/perf-")) && text_ends_with(module, TEXT(".map")))
        return true;
    return text_ends_with(module, TEXT(".so")) && text_find(module, TEXT("/jitted-")) != TEXT_NOT_FOUND;
}

/* Bytes before the list of arguments. Kept: Go's "net/http.(*Client).Do", "(anonymous namespace)", and what is
 * inside of templates and lambdas. */
static size_t size_without_arguments(struct text_view function)
{
    int depth = 0;
    for (size_t i = 0; i < function.size; i++) {
        switch (function.data[i]) {
        case '<':
        case '{':
        case '[':
            depth++;
            break;
        case '>':
        case '}':
        case ']':
        case ')':
            depth--;
            break;
        case '(':
            if (depth == 0 && !(i > 0 && function.data[i - 1] == '.') &&
                !text_starts_with(text_from(function, i), TEXT("(anonymous namespace)")))
                return i;
            depth++;
            break;
        default:
            break;
        }
    }
    return function.size;
}

static bool has_rust_hash(struct text_view function)
{
    if (function.size < RUST_HASH_BYTES || function.data[function.size - RUST_HASH_BYTES] != 'h')
        return false;
    for (size_t i = function.size - RUST_HASH_BYTES + 1; i < function.size; i++)
        if (!is_hex(function.data[i]))
            return false;
    return true;
}

/* What rustc writes for characters that linkers do not like. */
static const struct {
    struct text_view mangled;
    const char *plain;
} rust_escapes[] = {
    {TEXT("$SP$"), "@"},  {TEXT("$BP$"), "*"},  {TEXT("$RF$"), "&"},  {TEXT("$LT$"), "<"},
    {TEXT("$GT$"), ">"},  {TEXT("$LP$"), "("},  {TEXT("$RP$"), ")"},  {TEXT("$C$"), ","},
    {TEXT("$u7e$"), "~"}, {TEXT("$u20$"), " "}, {TEXT("$u27$"), "'"}, {TEXT("$u3d$"), "="},
    {TEXT("$u5b$"), "["}, {TEXT("$u5d$"), "]"}, {TEXT("$u7b$"), "{"}, {TEXT("$u7d$"), "}"},
    {TEXT("$u3b$"), ";"}, {TEXT("$u2b$"), "+"}, {TEXT("$u21$"), "!"}, {TEXT("$u22$"), "\""},
};

/* Bytes of the escape at the front, and what it stands for; 0 when there is none. */
static size_t rust_escape(struct text_view text, const char **plain)
{
    for (size_t i = 0; i < COUNT_OF(rust_escapes); i++) {
        if (text_starts_with(text, rust_escapes[i].mangled)) {
            *plain = rust_escapes[i].plain;
            return rust_escapes[i].mangled.size;
        }
    }
    return 0;
}

static void add_rust(struct text_builder *text, struct text_view function)
{
    struct text_view rest = text_part(function, 0, function.size - RUST_HASH_BYTES);
    if (text_ends_with(rest, TEXT("::")))
        rest.size -= 2;
    if (text_starts_with(rest, TEXT("_$")))
        rest = text_from(rest, 1);
    while (rest.size > 0) {
        const char *plain = NULL;
        size_t size = rest.data[0] == '$' ? rust_escape(rest, &plain) : 0;
        if (size > 0) {
            text_builder_add_c_string(text, plain);
        } else if (rest.data[0] == '$') {
            text_builder_add(text, rest);
            return;
        } else if (text_starts_with(rest, TEXT(".."))) {
            text_builder_add(text, TEXT("::"));
            size = 2;
        } else {
            text_builder_add_byte(text, rest.data[0]);
            size = 1;
        }
        rest = text_from(rest, size);
    }
}

static void add_unknown(struct text_builder *text, const struct perf_frame *frame, bool with_address)
{
    bool module_known = frame->module.size > 0 && !text_equal(frame->module, TEXT("[unknown]"));
    size_t slash = text_find_last_byte(frame->module, '/');
    struct text_view name = !module_known             ? TEXT("unknown")
                            : slash == TEXT_NOT_FOUND ? frame->module
                                                      : text_from(frame->module, slash + 1);
    text_builder_add_byte(text, '[');
    text_builder_add(text, name);
    if (with_address) {
        text_builder_add(text, TEXT(" <"));
        text_builder_add(text, frame->address);
        text_builder_add_byte(text, '>');
    }
    text_builder_add_byte(text, ']');
}

/* Takes quotes out and makes ';' ':', in place. */
static void tidy(struct text_builder *text, size_t start)
{
    size_t to = start;
    for (size_t i = start; i < text->size; i++) {
        char byte = text->data[i];
        if (byte != '"' && byte != '\'')
            text->data[to++] = byte == ';' ? ':' : byte;
    }
    text->size = to;
}

void perf_function_add(struct text_builder *text, const struct perf_frame *frame, struct text_view function,
                       bool with_address, bool is_java)
{
    size_t start = text->size;
    if (text_equal(function, TEXT("[unknown]"))) {
        add_unknown(text, frame, with_address);
    } else if (has_rust_hash(function)) {
        add_rust(text, function);
    } else {
        text_builder_add(text, function);
    }
    if (text->failed)
        return;
    text->size = start + size_without_arguments(text_from(text_builder_view(text), start));
    struct text_view made = text_from(text_builder_view(text), start);
    if (is_java && made.size > 0 && made.data[0] == 'L' && text_find_byte(made, '/') != TEXT_NOT_FOUND) {
        memmove(text->data + start, text->data + start + 1, made.size - 1);
        text->size--;
    }
    tidy(text, start);
}
