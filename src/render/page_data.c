#include "render/page_data.h"

#include <stdlib.h>

#include "base/json_text.h"
#include "render/page_column.h"
#include "render/page_rows.h"
#include "render/page_strings.h"
#include "render/page_tree.h"

enum section { SECTION_META = 1, SECTION_STRINGS, SECTION_FRAMES, SECTION_NODES, SECTION_SETS, SECTION_ROWS };
#define FORMAT_VERSION 1

/* All that is collected before it is written. */
struct page_data {
    const struct page_input *input;
    const struct profile *profile;
    struct page_tree tree;
    struct page_rows rows;
    struct page_strings strings;
    uint32_t keys[LABEL_KEY_LIMIT]; /* labels that occur */
    size_t key_count;
    uint32_t *frame_texts; /* tickets: name, display, file of each frame in turn */
};

static void add_section(struct text_builder *to, enum section section, struct text_builder *part)
{
    text_builder_add_byte(to, (char)section);
    page_part(to, part);
}

static void write_json_field(struct output *json, const char *name, const char *text)
{
    if (text == NULL)
        return;
    output_format(json, ",\"%s\":", name);
    json_text_write(json, text_of(text));
}

static const char *unit_name(enum event_unit unit)
{
    static const char *const names[] = {
        [UNIT_COUNT] = "count", [UNIT_NANOSECONDS] = "nanoseconds", [UNIT_BYTES] = "bytes"};
    return names[unit];
}

static void write_events(const struct page_data *data, struct output *json)
{
    const struct profile *profile = data->profile;
    output_c_string(json, ",\"events\":[");
    for (size_t i = 0; i < profile->event_count; i++) {
        const struct event *event = &profile->events[i];
        const struct page_event *stored = &data->rows.events[i];
        bool by_value = data->input->weight == WEIGHT_VALUE ||
                        (data->input->weight == WEIGHT_DEFAULT && event->shows_value);
        output_c_string(json, i == 0 ? "{\"name\":" : ",{\"name\":");
        json_text_write(json, profile_text(profile, event->name));
        output_format(json, ",\"used\":%s,\"count_scale\":%.17g", stored->used ? "true" : "false",
                      stored->count_scale);
        if (stored->has_value)
            output_format(json, ",\"unit\":\"%s\",\"value_scale\":%.17g,\"by_value\":%s",
                          unit_name(event->unit), stored->value_scale, by_value ? "true" : "false");
        output_byte(json, '}');
    }
    output_byte(json, ']');
}

static void write_labels(const struct page_data *data, struct output *json)
{
    output_c_string(json, ",\"labels\":[");
    for (size_t i = 0; i < data->key_count; i++) {
        if (i > 0)
            output_byte(json, ',');
        json_text_write(json, profile_label_key_name(data->profile, data->keys[i]));
    }
    output_byte(json, ']');
}

static bool write_meta(const struct page_data *data, struct text_builder *to, struct error *error)
{
    const struct page_input *input = data->input;
    struct output json;
    if (!output_open_memory(&json, to, error))
        return false;
    output_c_string(&json, "{\"title\":");
    json_text_write(&json, text_of(page_title(input)));
    write_json_field(&json, "subtitle", input->subtitle);
    write_json_field(&json, "notes", input->notes);
    if (input->hosts != NULL)
        output_format(&json, ",\"hosts\":%s", input->hosts);
    write_json_field(&json, "view", input->view);
    write_json_field(&json, "generator", "sparkflame " SPARKFLAME_VERSION);
    output_format(&json, ",\"readable\":%s,\"lines\":%s", input->names.readable ? "true" : "false",
                  input->names.lines ? "true" : "false");
    write_events(data, &json);
    write_labels(data, &json);
    if (data->rows.has_times)
        output_format(&json, ",\"time\":{\"start_ms\":%.17g,\"tick_ns\":%lld,\"ticks\":%u,\"absolute\":%s%s}",
                      (double)data->rows.start_ns / 1e6, (long long)data->rows.tick_ns, data->rows.tick_count,
                      data->profile->times_are_absolute ? "true" : "false",
                      input->times_are_places ? ",\"unit\":\"samples\"" : "");
    if (input->before != NULL) {
        output_c_string(&json, ",\"sides\":[");
        json_text_write(&json, text_of(input->before_name != NULL ? input->before_name : "before"));
        output_byte(&json, ',');
        json_text_write(&json, text_of(input->profile_name != NULL ? input->profile_name : "after"));
        output_byte(&json, ']');
    }
    output_byte(&json, '}');
    bool good = output_finish(&json, error);
    output_release(&json);
    return good;
}

/* NO_STRING: out of memory. */
static uint32_t add_frame_text(struct page_data *data, uint32_t frame, const struct name_style *style,
                               struct text_builder *text)
{
    text_builder_clear(text);
    frame_name_add(data->profile, frame, style, text);
    return text->failed ? NO_STRING : page_strings_add(&data->strings, text_builder_view(text));
}

static bool collect_frame_texts(struct page_data *data)
{
    struct name_style plain = data->input->names, readable;
    plain.lines = plain.kinds = plain.readable = false;
    readable = plain;
    readable.readable = true;
    struct text_builder text;
    text_builder_init(&text, PAGE_DATA_LIMIT_BYTES);
    data->frame_texts = calloc(data->tree.frame_count * 3 + 1, sizeof(*data->frame_texts));
    bool good = data->frame_texts != NULL;
    for (size_t i = 0; good && i < data->tree.frame_count; i++) {
        uint32_t frame = data->tree.frames[i], *tickets = &data->frame_texts[i * 3];
        uint32_t file = data->profile->frames.frames[frame].file;
        tickets[0] = add_frame_text(data, frame, &plain, &text);
        tickets[1] = add_frame_text(data, frame, &readable, &text);
        tickets[2] = page_strings_add(&data->strings, profile_text(data->profile, file));
        good = tickets[0] != NO_STRING && tickets[1] != NO_STRING && tickets[2] != NO_STRING;
    }
    text_builder_release(&text);
    return good;
}

/* Adds the values of all labels that samples have, and notes which keys occur. */
static bool collect_labels(struct page_data *data)
{
    bool occurs[LABEL_KEY_LIMIT] = {false};
    for (size_t i = 0; i < data->rows.set_count; i++) {
        struct context context = context_table_get(&data->profile->contexts, data->rows.set_contexts[i]);
        for (size_t j = 0; j < context.size; j++) {
            occurs[context.labels[j].key] = true;
            if (page_strings_add(&data->strings, profile_text(data->profile, context.labels[j].value)) ==
                NO_STRING)
                return false;
        }
    }
    for (uint32_t key = 0; key < LABEL_KEY_LIMIT; key++)
        if (occurs[key])
            data->keys[data->key_count++] = key;
    return true;
}

/* The number of the text plus one; 0 for "". */
static uint32_t optional_number(const struct page_data *data, uint32_t ticket)
{
    return string_table_text(&data->strings.table, ticket).size == 0
               ? 0
               : page_strings_number(&data->strings, ticket) + 1;
}

static void write_frames(const struct page_data *data, struct text_builder *to)
{
    struct text_builder column;
    text_builder_init(&column, PAGE_DATA_LIMIT_BYTES);
    size_t count = data->tree.frame_count;
    const uint32_t *texts = data->frame_texts;
    page_varint(to, count);
    for (size_t i = 0; i < count; i++)
        page_varint(&column, page_strings_number(&data->strings, texts[i * 3]));
    page_part(to, &column);
    for (size_t i = 0; i < count; i++)
        page_varint(&column, texts[i * 3 + 1] == texts[i * 3] ? 0 : optional_number(data, texts[i * 3 + 1]));
    page_part(to, &column);
    for (size_t i = 0; i < count; i++)
        page_varint(&column, optional_number(data, texts[i * 3 + 2]));
    page_part(to, &column);
    for (size_t i = 0; i < count; i++)
        page_varint(&column, data->profile->frames.frames[data->tree.frames[i]].line);
    page_part(to, &column);
    for (size_t i = 0; i < count; i++)
        page_varint(&column, data->profile->frames.frames[data->tree.frames[i]].kind);
    page_part(to, &column);
    text_builder_release(&column);
}

static void write_sets(const struct page_data *data, struct text_builder *to)
{
    struct text_builder column;
    text_builder_init(&column, PAGE_DATA_LIMIT_BYTES);
    page_varint(to, data->rows.set_count);
    for (size_t key = 0; key < data->key_count; key++) {
        for (size_t i = 0; i < data->rows.set_count; i++) {
            uint32_t value =
                context_table_value(&data->profile->contexts, data->rows.set_contexts[i], data->keys[key]);
            uint32_t ticket = string_table_find(&data->strings.table, profile_text(data->profile, value));
            page_varint(&column, value == 0 ? 0 : optional_number(data, ticket));
        }
        page_part(to, &column);
    }
    text_builder_release(&column);
}

static bool write_sections(struct page_data *data, struct text_builder *nodes, struct text_builder *to,
                           struct error *error)
{
    struct text_builder part;
    text_builder_init(&part, PAGE_DATA_LIMIT_BYTES);
    text_builder_add(to, TEXT("SFPD"));
    text_builder_add_byte(to, FORMAT_VERSION);
    bool good = write_meta(data, &part, error);
    add_section(to, SECTION_META, &part);
    page_strings_write(&data->strings, &part);
    add_section(to, SECTION_STRINGS, &part);
    write_frames(data, &part);
    add_section(to, SECTION_FRAMES, &part);
    add_section(to, SECTION_NODES, nodes);
    if (data->key_count > 0) {
        write_sets(data, &part);
        add_section(to, SECTION_SETS, &part);
    }
    good = good && page_rows_write(&data->rows, &part, error);
    add_section(to, SECTION_ROWS, &part);
    text_builder_release(&part);
    return good && (!to->failed || error_set_memory(error));
}

static bool build(struct page_data *data, size_t before_count, struct text_builder *to, struct error *error)
{
    struct text_builder nodes;
    text_builder_init(&nodes, PAGE_DATA_LIMIT_BYTES);
    bool good = page_strings_init(&data->strings, error) &&
                page_tree_init(&data->tree, data->profile, &nodes, error) &&
                page_rows_init(&data->rows, data->profile, &data->tree, data->input, error);
    if (good && !(collect_frame_texts(data) && collect_labels(data)))
        good = error_set_memory(error);
    data->rows.before_count = before_count;
    data->rows.compares = data->input->before != NULL;
    good = good && page_strings_sort(&data->strings, error) && write_sections(data, &nodes, to, error);
    text_builder_release(&nodes);
    page_strings_release(&data->strings);
    page_tree_release(&data->tree);
    page_rows_release(&data->rows);
    free(data->frame_texts);
    return good;
}

/* Two recordings were rarely made at once, so that each of them counts from its first sample. */
static void count_from_first(struct profile *profile, size_t begin, size_t end)
{
    int64_t first = INT64_MAX;
    for (size_t i = begin; i < end; i++) {
        int64_t time_ns = profile->samples[i].time_ns;
        if (time_ns != NO_TIME && time_ns < first)
            first = time_ns;
    }
    for (size_t i = begin; i < end; i++) {
        int64_t *time_ns = &profile->samples[i].time_ns;
        if (*time_ns != NO_TIME && __builtin_sub_overflow(*time_ns, first, time_ns))
            *time_ns = NO_TIME;
    }
}

/* Joined without summing up, the samples of "before" are the first ones. */
static bool build_comparison(const struct page_input *input, struct text_builder *to, struct error *error)
{
    struct profile both;
    struct page_data data = {.input = input, .profile = &both};
    if (!profile_init(&both, true, error))
        return false;
    bool good = profile_merge(&both, input->before, error);
    size_t before_count = both.sample_count;
    good = good && profile_merge(&both, input->profile, error);
    profile_seal(&both);
    count_from_first(&both, 0, before_count);
    count_from_first(&both, before_count, both.sample_count);
    both.times_are_absolute = false;
    good = good && build(&data, before_count, to, error);
    profile_release(&both);
    return good;
}

bool page_data_build(const struct page_input *input, struct text_builder *to, struct error *error)
{
    struct page_data data = {.input = input, .profile = input->profile};
    return input->before != NULL ? build_comparison(input, to, error) : build(&data, 0, to, error);
}
