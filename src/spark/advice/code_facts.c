#include "spark/advice/code_facts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"

#define FAR 255 /* frames away, or none at all */
#define MOST_COUNTERS ((size_t)1 << 26)

static const struct hot_code {
    enum hot_kind kind;
    bool is_python;
    const char *text;
    uint8_t within; /* 0: anywhere */
} hot_codes[] = {
#define JAVA false
#define PYTHON true
#define HOT_CODE(kind, language, text, within) {kind, language, text, within},
#include "spark/advice/hot_code.def"
#undef HOT_CODE
#undef JAVA
#undef PYTHON
};

/* What is known of a stack without looking at its frames again. */
struct node_facts {
    uint8_t distances[COUNT_OF(hot_codes)]; /* of the innermost frame of that code; FAR: none */
    uint32_t user_line;                     /* frame; NO_FRAME: none */
    bool is_python;                         /* the innermost frame is */
};

/* (stage, frame) and how often it was seen. */
struct line_counter {
    uint32_t row;
    uint32_t frame;
    double count;
};

struct survey {
    struct code_facts *facts;
    const struct application *application;
    const struct profile *profile;
    struct node_facts *nodes;
    struct id_map line_numbers; /* (kind, row, frame) */
    struct line_counter *lines;
    size_t line_count, line_capacity;
    uint32_t cpu, wall, lock; /* events; UINT32_MAX: none */
    uint32_t rdd_key;
    uint32_t only_python_row; /* UINT32_MAX: several, or none */
};

enum line_kind { LINE_PYTHON, LINE_LOOKED, LINE_LOCK, LINE_KIND_COUNT };

/* ---- frames and stacks ---- */

static bool is_python_frame(const struct frame *frame)
{
    return frame->kind == FRAME_PYTHON || frame->kind == FRAME_C_EXTENSION;
}

/* A user's file: not of Spark, the standard library or an installed package. */
static bool is_user_file(struct text_view file)
{
    static const char *const others[] = {
        "/pyspark/", "/lib/python", "/site-packages/", "/dist-packages/", "<frozen",
        "/py4j/",    "pyspark.zip", "/cloudpickle/",   "<built-in>",      "/pyspark_profilers/"};
    if (file.size == 0 || file.data[0] == '<')
        return false;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (text_find(file, text_of(others[i])) != TEXT_NOT_FOUND)
            return false;
    return true;
}

static bool is_code(const struct profile *profile, const struct frame *frame, const struct hot_code *code)
{
    bool is_python = is_python_frame(frame);
    if (is_python != code->is_python)
        return false;
    struct text_view text = profile_text(profile, is_python ? frame->file : frame->name);
    return is_python ? text_ends_with(text, text_of(code->text))
                     : text_starts_with(text, text_of(code->text));
}

static void judge_node(struct survey *survey, uint32_t node)
{
    const struct profile *profile = survey->profile;
    const struct stack_node *place = &profile->stacks.nodes[node];
    const struct frame *frame = &profile->frames.frames[place->frame];
    struct node_facts *facts = &survey->nodes[node];
    *facts = survey->nodes[place->parent];
    facts->is_python = is_python_frame(frame);
    for (size_t i = 0; i < COUNT_OF(hot_codes); i++) {
        if (is_code(profile, frame, &hot_codes[i]))
            facts->distances[i] = 0;
        else if (facts->distances[i] < FAR - 1)
            facts->distances[i]++;
    }
    if (facts->is_python && is_user_file(profile_text(profile, frame->file)))
        facts->user_line = place->frame;
}

static void judge_nodes(struct survey *survey)
{
    struct node_facts *root = &survey->nodes[STACK_ROOT];
    *root = (struct node_facts){.user_line = NO_FRAME};
    for (size_t i = 0; i < COUNT_OF(hot_codes); i++)
        root->distances[i] = FAR;
    for (uint32_t node = 1; node < survey->profile->stacks.size; node++)
        judge_node(survey, node);
}

/* ---- samples ---- */

static uint32_t row_of_stage(const struct survey *survey, const struct sample *sample)
{
    const struct context_table *contexts = &survey->profile->contexts;
    uint32_t stage = context_table_value(contexts, sample->context, LABEL_STAGE);
    uint32_t attempt = context_table_value(contexts, sample->context, LABEL_STAGE_ATTEMPT);
    uint32_t number = NO_ID;
    int64_t id, attempt_id = 0;
    if (stage != 0 && text_to_i64(profile_text(survey->profile, stage), &id)) {
        if (attempt != 0)
            (void)text_to_i64(profile_text(survey->profile, attempt), &attempt_id);
        number = id_map_get(&survey->application->stage_numbers, application_stage_key(id, attempt_id));
    } else if (survey->rdd_key != UINT32_MAX &&
               context_table_value(contexts, sample->context, survey->rdd_key) != 0) {
        number = survey->only_python_row;
    }
    return number == NO_ID ? UINT32_MAX : number;
}

static bool count_line(struct survey *survey, enum line_kind kind, uint32_t row, uint32_t frame, double count)
{
    if (frame == NO_FRAME)
        return true;
    uint64_t key = ((uint64_t)row * LINE_KIND_COUNT + kind) << 32 | frame;
    uint32_t *number = id_map_place(&survey->line_numbers, key);
    if (number == NULL)
        return false;
    if (*number == NO_ID) {
        if (!array_reserve(&survey->lines, &survey->line_capacity, survey->line_count + 1, MOST_COUNTERS))
            return false;
        survey->lines[survey->line_count] = (struct line_counter){row, frame, 0};
        *number = (uint32_t)survey->line_count++;
    }
    struct line_counter *line = &survey->lines[*number];
    line->count += count;
    struct code_row *sum = &survey->facts->rows[row];
    if (kind == LINE_LOCK && line->count > sum->lock_frame_ns) {
        sum->lock_frame = frame;
        sum->lock_frame_ns = line->count;
    }
    struct hot_line *most = kind == LINE_PYTHON ? &sum->python_line : &sum->looked_line;
    if (kind != LINE_LOCK && line->count > most->samples)
        *most = (struct hot_line){frame, line->count};
    return true;
}

static void count_kinds(struct code_row *row, const struct node_facts *node, double count)
{
    bool is_counted[HOT_KIND_COUNT] = {false};
    row->samples += count;
    for (size_t i = 0; i < COUNT_OF(hot_codes); i++) {
        const struct hot_code *code = &hot_codes[i];
        uint8_t limit = code->within == 0 ? FAR : code->within;
        if (node->distances[i] < limit && node->distances[i] != FAR && !is_counted[code->kind]) {
            is_counted[code->kind] = true;
            row->hot[code->kind] += count;
        }
    }
}

static bool count_sample(struct survey *survey, const struct sample *sample)
{
    uint32_t number = row_of_stage(survey, sample);
    if (number == UINT32_MAX)
        return true;
    struct code_row *row = &survey->facts->rows[number];
    const struct node_facts *node = &survey->nodes[sample->stack];
    if (sample->event == survey->lock) {
        row->lock_ns += sample->value;
        return count_line(survey, LINE_LOCK, number, survey->profile->stacks.nodes[sample->stack].frame,
                          sample->value);
    }
    if (sample->event == survey->cpu) {
        count_kinds(row, node, sample->count);
        row->python_samples += node->is_python ? sample->count : 0;
        return !node->is_python || count_line(survey, LINE_PYTHON, number, node->user_line, sample->count);
    }
    if (sample->event == survey->wall && node->is_python) {
        row->python_wall_samples += sample->count;
        return count_line(survey, LINE_LOOKED, number, node->user_line, sample->count);
    }
    return true;
}

/* ---- all of it ---- */

static uint32_t find_event(const struct profile *profile, struct text_view name)
{
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (text_equal(profile_text(profile, profile->events[i].name), name))
            return i;
    return UINT32_MAX;
}

static void find_keys(struct survey *survey)
{
    const struct profile *profile = survey->profile;
    survey->cpu = find_event(profile, TEXT("cpu"));
    survey->wall = find_event(profile, TEXT("wall"));
    survey->lock = find_event(profile, TEXT("lock"));
    survey->rdd_key = survey->only_python_row = UINT32_MAX;
    for (uint32_t key = LABEL_KNOWN_COUNT; key < profile->contexts.key_count; key++)
        if (text_equal(profile_label_key_name(profile, key), TEXT("rdd")))
            survey->rdd_key = key;
    size_t python_stages = 0;
    for (uint32_t i = 0; i < survey->application->stage_count; i++) {
        const struct stage *stage = &survey->application->stages[i];
        if (stage->uses_python && stage->succeeded + stage->failed + stage->active > 0) {
            python_stages++;
            survey->only_python_row = i;
        }
    }
    if (python_stages != 1)
        survey->only_python_row = UINT32_MAX;
}

static bool survey_profile(struct survey *survey)
{
    const struct profile *profile = survey->profile;
    survey->nodes = calloc(profile->stacks.size, sizeof(*survey->nodes));
    if (survey->nodes == NULL)
        return false;
    find_keys(survey);
    judge_nodes(survey);
    for (size_t i = 0; i < profile->sample_count; i++)
        if (!count_sample(survey, &profile->samples[i]))
            return false;
    return true;
}

bool code_facts_init(struct code_facts *facts, const struct application *application,
                     const struct profile *profile, struct error *error)
{
    *facts = (struct code_facts){.profile = profile, .size = application->stage_count};
    facts->rows = calloc(facts->size + 1, sizeof(*facts->rows));
    if (facts->rows == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i <= facts->size; i++)
        facts->rows[i].python_line.frame = facts->rows[i].looked_line.frame = facts->rows[i].lock_frame =
            NO_FRAME;
    if (profile == NULL)
        return true;
    struct survey survey = {.facts = facts, .application = application, .profile = profile};
    id_map_init(&survey.line_numbers);
    bool good = survey_profile(&survey);
    free(survey.nodes);
    free(survey.lines);
    id_map_release(&survey.line_numbers);
    if (!good)
        code_facts_release(facts);
    return good || error_set_memory(error);
}

void code_facts_release(struct code_facts *facts)
{
    free(facts->rows);
    *facts = (struct code_facts){.rows = NULL};
}

void code_facts_place(const struct code_facts *facts, uint32_t number, char *text, size_t size)
{
    if (number == NO_FRAME) {
        text[0] = '\0';
        return;
    }
    const struct frame *frame = &facts->profile->frames.frames[number];
    struct text_view name = profile_text(facts->profile, frame->name);
    struct text_view file = profile_text(facts->profile, frame->file);
    size_t slash = text_find_last_byte(file, '/');
    file = slash == TEXT_NOT_FOUND ? file : text_from(file, slash + 1);
    name = text_part(name, 0, 100);
    file = text_part(file, 0, 60);
    if (file.size == 0)
        snprintf(text, size, "%.*s", TEXT_FORMAT(name));
    else if (frame->line == 0)
        snprintf(text, size, "%.*s (%.*s)", TEXT_FORMAT(name), TEXT_FORMAT(file));
    else
        snprintf(text, size, "%.*s (%.*s:%u)", TEXT_FORMAT(name), TEXT_FORMAT(file), frame->line);
}
