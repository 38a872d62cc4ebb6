/*
 * jfr_survey.c - one pass over a recording to collect what samples need from later parts of it: spans are written when
 * they end, and TLAB events may begin at any time.
 */
#include "formats/jfr/jfr_samples.h"

bool jfr_survey_init(struct jfr_survey *survey)
{
    *survey = (struct jfr_survey){.has_tlab_events = false};
    bool good = jfr_spans_init(&survey->spans);
    good = jfr_details_init(&survey->details) && good;
    if (!good)
        jfr_survey_release(survey);
    return good;
}

void jfr_survey_release(struct jfr_survey *survey)
{
    jfr_spans_release(&survey->spans);
    jfr_details_release(&survey->details);
}

static bool is_role(const struct jfr_event_plan *plan, enum jfr_event_role role)
{
    return plan != NULL && plan->role == role;
}

static bool is_tlab(const struct jfr_event_plan *plan)
{
    return is_role(plan, JFR_ROLE_SAMPLE) && plan->allocation.size > 0;
}

static bool labels_threads(const struct jfr_event_plan *plan)
{
    return is_role(plan, JFR_ROLE_SPAN) || is_role(plan, JFR_ROLE_LABELS) || is_role(plan, JFR_ROLE_DETAILS);
}

bool jfr_survey_may_matter(const struct read_options *options)
{
    return options->needs_contexts || options->event.size == 0 ||
           text_starts_with(options->event, TEXT("alloc"));
}

static bool is_needed(const struct jfr_schema *schema, const struct read_options *options)
{
    for (size_t i = 0; i < schema->metadata.type_count; i++) {
        const struct jfr_event_plan *plan = schema->uses[i].plan;
        if (is_role(plan, JFR_ROLE_ALLOCATION_SAMPLE) || (options->needs_contexts && labels_threads(plan)))
            return true;
    }
    return false;
}

/* True if the chunk has events that label threads; also records TLAB events. */
static bool look(struct jfr_survey *survey, const struct jfr_chunk *chunk, const struct jfr_schema *schema)
{
    bool has_labels = false;
    size_t position = JFR_HEADER_BYTES;
    struct jfr_event event;
    while (jfr_chunk_next(chunk, &position, &event)) {
        const struct jfr_event_plan *plan = jfr_schema_plan(schema, event.type);
        survey->has_tlab_events = survey->has_tlab_events || is_tlab(plan);
        has_labels = has_labels || labels_threads(plan);
    }
    return has_labels;
}

static bool add_span(struct jfr_survey *survey, struct jfr_names *names, const struct jfr_event_plan *plan,
                     struct jfr_cursor *body)
{
    uint64_t slots[JFR_EVENT_SLOTS] = {0};
    jfr_layout_read(plan->layout, body, slots);
    uint32_t thread = body->failed ? NO_ID : jfr_names_thread(names, slots[JFR_EVENT_THREAD]);
    if (thread == NO_ID)
        return body->failed;
    struct text_view text = plan->text_is_constant
                                ? jfr_names_text(names, JFR_POOL_STRING, slots[JFR_EVENT_TEXT])
                                : jfr_names_string_at(names, slots[JFR_EVENT_TEXT]);
    bool is_open = plan->role == JFR_ROLE_LABELS;
    int64_t from_ns = jfr_chunk_time_ns(names->chunk, slots[JFR_EVENT_TIME]);
    int64_t to_ns =
        is_open ? INT64_MAX
                : jfr_chunk_time_ns(names->chunk, slots[JFR_EVENT_TIME] + slots[JFR_EVENT_DURATION]) + 1;
    return jfr_spans_add(&survey->spans, names->thread_list[thread].key, from_ns, to_ns, text, is_open);
}

static bool add_details(struct jfr_survey *survey, struct jfr_names *names, const struct jfr_event_plan *plan,
                        struct jfr_cursor *body)
{
    uint64_t slots[JFR_EVENT_SLOTS] = {0};
    jfr_layout_read(plan->layout, body, slots);
    if (body->failed || slots[JFR_EVENT_VALUE] == 0 || slots[JFR_EVENT_TEXT] == 0)
        return true;
    return jfr_details_add(&survey->details, jfr_names_string_at(names, slots[JFR_EVENT_VALUE]),
                           jfr_names_string_at(names, slots[JFR_EVENT_TEXT]));
}

static bool add_labels(struct jfr_survey *survey, struct jfr_names *names, const struct jfr_event_plan *plan,
                       struct jfr_cursor *body)
{
    return plan->role == JFR_ROLE_DETAILS ? add_details(survey, names, plan, body)
                                          : add_span(survey, names, plan, body);
}

bool jfr_survey_add(struct jfr_survey *survey, struct jfr_names *names, struct jfr_chunk *chunk,
                    struct jfr_schema *schema, const struct read_options *options, struct error *error)
{
    if (!is_needed(schema, options) || !look(survey, chunk, schema) || !options->needs_contexts)
        return true;
    if (!jfr_chunk_index(chunk, schema, error))
        return false;
    jfr_names_begin(names, chunk, schema);
    size_t position = JFR_HEADER_BYTES;
    struct jfr_event event;
    while (jfr_chunk_next(chunk, &position, &event)) {
        const struct jfr_event_plan *plan = jfr_schema_plan(schema, event.type);
        if (labels_threads(plan) && !add_labels(survey, names, plan, &event.body))
            return error_set_memory(error);
    }
    return true;
}
