#include "folded_profile.h"

#include <stdlib.h>

#include "base/text_builder.h"
#include "unit_test.h"

#define LINE_LIMIT 1000

static uint32_t add_label(struct profile *profile, struct text_view part)
{
    struct text_view name = text_cut(&part, '=');
    struct label label = {profile_label_key(profile, name), profile_string(profile, part)};
    if (label.key == LABEL_KEY_LIMIT || label.value == NO_STRING)
        return NO_CONTEXT;
    return context_table_add(&profile->contexts, &label, 1);
}

static bool add_circumstances(struct profile *profile, struct text_view text, struct sample *sample)
{
    struct text_view event = TEXT("cpu");
    while (text.size > 0) {
        struct text_view part = text_cut(&text, '/');
        if (part.size > 0 && part.data[0] == '@') {
            CHECK(text_to_i64(text_from(part, 1), &sample->time_ns));
        } else if (text_find_byte(part, '=') != TEXT_NOT_FOUND) {
            sample->context = add_label(profile, part);
        } else {
            event = part;
        }
    }
    sample->event = profile_event(profile, event, UNIT_COUNT, false);
    return sample->context != NO_CONTEXT && sample->event != EVENT_LIMIT;
}

static bool add_stack(struct profile *profile, struct text_view frames, struct sample *sample)
{
    while (frames.size > 0 && sample->stack != NO_STACK) {
        uint32_t frame = profile_frame(profile, text_cut(&frames, ';'), TEXT(""), 0, FRAME_UNKNOWN);
        sample->stack =
            frame == NO_FRAME ? NO_STACK : stack_tree_child(&profile->stacks, sample->stack, frame);
    }
    return sample->stack != NO_STACK;
}

bool folded_profile_add(struct profile *profile, const char *text)
{
    struct text_view rest = text_of(text);
    while (rest.size > 0) {
        struct text_view line = text_cut(&rest, '\n');
        size_t colon = text_find_byte(line, ':'), blank = text_find_last_byte(line, ' ');
        struct sample sample = {.stack = STACK_ROOT, .time_ns = NO_TIME};
        size_t begin = colon == TEXT_NOT_FOUND ? 0 : colon + 1;
        CHECK(blank != TEXT_NOT_FOUND && text_to_double(text_from(line, blank + 1), &sample.count));
        sample.value = sample.count;
        if (!add_circumstances(profile, text_part(line, 0, begin == 0 ? 0 : colon), &sample) ||
            !add_stack(profile, text_part(line, begin, blank - begin), &sample) ||
            !profile_add_sample(profile, &sample))
            return false;
    }
    return true;
}

void folded_profile_init(struct profile *profile, const char *text)
{
    struct error error = {0};
    CHECK_OK(error, profile_init(profile, true, &error));
    CHECK(folded_profile_add(profile, text));
}

static void add_path(const struct profile *profile, uint32_t stack, struct text_builder *line)
{
    if (stack == STACK_ROOT)
        return;
    struct stack_node node = profile->stacks.nodes[stack];
    add_path(profile, node.parent, line);
    if (node.parent != STACK_ROOT)
        text_builder_add_byte(line, ';');
    text_builder_add(line, profile_frame_name(profile, node.frame));
}

struct line {
    char *text;
    double count;
};

static int compare_lines(const void *left, const void *right)
{
    return strcmp(((const struct line *)left)->text, ((const struct line *)right)->text);
}

static struct line make_line(const struct profile *profile, const struct sample *sample)
{
    struct text_builder builder;
    text_builder_init(&builder, (size_t)1 << 20);
    struct text_view event = profile_text(profile, profile->events[sample->event].name);
    if (!text_equal(event, TEXT("cpu")))
        text_builder_format(&builder, "%.*s:", TEXT_FORMAT(event));
    add_path(profile, sample->stack, &builder);
    text_builder_c_string(&builder);
    return (struct line){builder.data, sample->count};
}

const char *folded_profile_text(const struct profile *profile)
{
    static struct line lines[LINE_LIMIT];
    static struct text_builder text;
    CHECK(profile->sample_count < LINE_LIMIT);
    for (size_t i = 0; i < profile->sample_count; i++)
        lines[i] = make_line(profile, &profile->samples[i]);
    qsort(lines, profile->sample_count, sizeof(lines[0]), compare_lines);
    text_builder_release(&text);
    text_builder_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < profile->sample_count; i++) {
        double count = lines[i].count;
        for (; i + 1 < profile->sample_count && compare_lines(&lines[i], &lines[i + 1]) == 0; i++) {
            count += lines[i + 1].count;
            free(lines[i].text);
        }
        text_builder_format(&text, "%s %g\n", lines[i].text, count);
        free(lines[i].text);
    }
    return text_builder_c_string(&text);
}
