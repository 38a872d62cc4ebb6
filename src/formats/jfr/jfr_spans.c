#include "formats/jfr/jfr_spans.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/text_builder.h"

#define TEXT_LIMIT_BYTES ((size_t)1 << 28)
#define MOST_SPANS ((size_t)1 << 28)
/* Spans that began before a moment and are over by then, beyond which none is looked for. */
#define MOST_STEPS 256

bool jfr_spans_init(struct jfr_spans *spans)
{
    *spans = (struct jfr_spans){.spans = NULL};
    return string_table_init(&spans->texts, TEXT_LIMIT_BYTES);
}

void jfr_spans_release(struct jfr_spans *spans)
{
    string_table_release(&spans->texts);
    free(spans->spans);
    *spans = (struct jfr_spans){.spans = NULL};
}

bool jfr_spans_add(struct jfr_spans *spans, uint64_t thread, int64_t from_ns, int64_t to_ns,
                   struct text_view text, bool is_open)
{
    uint32_t number = string_table_add(&spans->texts, text);
    if (number == NO_STRING || !array_reserve(&spans->spans, &spans->capacity, spans->size + 1, MOST_SPANS))
        return false;
    spans->spans[spans->size++] = (struct jfr_span){thread, from_ns, to_ns, number, is_open};
    return true;
}

static int compare_spans(const void *left, const void *right)
{
    const struct jfr_span *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    /* The outer of two comes first. */
    return a->to_ns == b->to_ns ? 0 : a->to_ns > b->to_ns ? -1 : 1;
}

void jfr_spans_sort(struct jfr_spans *spans)
{
    if (spans->size > 0)
        qsort(spans->spans, spans->size, sizeof(*spans->spans), compare_spans);
    struct jfr_span *open = NULL;
    for (size_t i = 0; i < spans->size; i++) {
        struct jfr_span *span = &spans->spans[i];
        if (!span->is_open)
            continue;
        if (open != NULL && open->thread == span->thread)
            open->to_ns = span->from_ns;
        open = span;
    }
    spans->is_sorted = true;
}

/* The number of spans that come before (thread, time], in order. */
static size_t count_before(const struct jfr_spans *spans, uint64_t thread, int64_t time_ns)
{
    size_t low = 0, high = spans->size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct jfr_span *span = &spans->spans[middle];
        if (span->thread < thread || (span->thread == thread && span->from_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t jfr_spans_find(const struct jfr_spans *spans, uint64_t thread, int64_t time_ns)
{
    size_t at = count_before(spans, thread, time_ns);
    for (size_t steps = 0; at > 0 && steps < MOST_STEPS; steps++) {
        const struct jfr_span *span = &spans->spans[--at];
        if (span->thread != thread)
            break;
        if (time_ns < span->to_ns)
            return span->text;
    }
    return JFR_NO_SPAN;
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static uint32_t unescaped(struct profile *profile, struct text_view text)
{
    if (text_find_byte(text, '%') == TEXT_NOT_FOUND)
        return profile_string(profile, text);
    struct text_builder builder;
    text_builder_init(&builder, TEXT_LIMIT_BYTES);
    for (size_t i = 0; i < text.size; i++) {
        bool is_escape = text.data[i] == '%' && i + 2 < text.size && hex_digit(text.data[i + 1]) >= 0 &&
                         hex_digit(text.data[i + 2]) >= 0;
        int byte = is_escape ? hex_digit(text.data[i + 1]) << 4 | hex_digit(text.data[i + 2]) : text.data[i];
        text_builder_add_byte(&builder, (char)byte);
        i += is_escape ? 2 : 0;
    }
    uint32_t string = builder.failed ? NO_STRING : profile_string(profile, text_builder_view(&builder));
    text_builder_release(&builder);
    return string;
}

/* Each piece must be a word, '=' and a value. */
static bool is_labels(struct text_view text)
{
    while (text.size > 0) {
        struct text_view piece = text_cut(&text, ';');
        size_t equals = text_find_byte(piece, '=');
        if (equals == TEXT_NOT_FOUND || equals == 0 || equals + 1 == piece.size)
            return false;
        for (size_t i = 0; i < equals; i++)
            if (piece.data[i] == ' ')
                return false;
    }
    return true;
}

static bool add_label(struct profile *profile, uint32_t key_name, uint32_t value, struct label *labels,
                      size_t *count)
{
    if (key_name == NO_STRING || value == NO_STRING)
        return false;
    uint32_t key = profile_label_key(profile, profile_text(profile, key_name));
    if (key != LABEL_KEY_LIMIT && *count < LABEL_KEY_LIMIT)
        labels[(*count)++] = (struct label){key, value};
    return true;
}

bool jfr_spans_labels(struct text_view text, struct profile *profile, struct label *labels, size_t *count)
{
    if (!is_labels(text))
        return add_label(profile, profile_string(profile, TEXT("span")), profile_string(profile, text),
                         labels, count);
    while (text.size > 0) {
        struct text_view value = text_cut(&text, ';');
        struct text_view key = text_cut(&value, '=');
        if (!add_label(profile, unescaped(profile, key), unescaped(profile, value), labels, count))
            return false;
    }
    return true;
}
