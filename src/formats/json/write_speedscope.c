/*
 * write_speedscope.c - speedscope's JSON, "sampled" profiles.
 *
 * Each event is one profile. Where times are known and there are several threads, it is called "EVENT: all threads"
 * and one for each thread follows it, "EVENT: THREAD", in order of time.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/json_text.h"
#include "formats/number_text.h"
#include "formats/json/sample_groups.h"
#include "formats/writer.h"

#define NAME_LIMIT_BYTES ((size_t)1 << 30)
#define DEPTH_LIMIT ((size_t)1 << 31)

struct speedscope_writer {
    const struct profile *profile;
    const struct write_options *options;
    struct output *output;
    uint32_t *number_of_frame; /* in the file, and one; 0: not used */
    uint32_t *path;            /* frame numbers in the file, innermost first */
    size_t path_capacity;
    struct text_builder name;
    bool has_processes; /* more than one */
};

static double weigh(const struct speedscope_writer *writer, const struct sample *sample)
{
    return weight_of(writer->profile, sample, writer->options->weight);
}

static void write_frame(struct speedscope_writer *writer, uint32_t number)
{
    const struct frame *frame = &writer->profile->frames.frames[number];
    struct name_style style = writer->options->names;
    style.lines = false;
    text_builder_clear(&writer->name);
    frame_name_add(writer->profile, number, &style, &writer->name);
    output_c_string(writer->output, "{\"name\":");
    json_text_write(writer->output, text_builder_view(&writer->name));
    if (frame->file != 0) {
        output_c_string(writer->output, ",\"file\":");
        json_text_write(writer->output, profile_text(writer->profile, frame->file));
    }
    if (frame->line != 0)
        output_format(writer->output, ",\"line\":%u", frame->line);
    output_byte(writer->output, '}');
}

/* Frames are numbered in the order of the stacks that samples have. */
static bool write_frames(struct speedscope_writer *writer)
{
    const struct profile *profile = writer->profile;
    const struct stack_node *nodes = profile->stacks.nodes;
    uint32_t count = 0;
    bool *seen = calloc(profile->stacks.size, sizeof(*seen));
    if (seen == NULL)
        return false;
    output_c_string(writer->output, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < profile->sample_count; i++) {
        for (uint32_t node = profile->samples[i].stack; node != STACK_ROOT && !seen[node];
             node = nodes[node].parent) {
            seen[node] = true;
            if (writer->number_of_frame[nodes[node].frame] != 0)
                continue;
            output_c_string(writer->output, count == 0 ? "\n" : ",\n");
            writer->number_of_frame[nodes[node].frame] = ++count;
            write_frame(writer, nodes[node].frame);
        }
    }
    free(seen);
    output_c_string(writer->output, "]}");
    return !writer->name.failed;
}

static bool write_stack(struct speedscope_writer *writer, uint32_t node)
{
    const struct stack_node *nodes = writer->profile->stacks.nodes;
    size_t depth = 0;
    for (; node != STACK_ROOT; node = nodes[node].parent) {
        if (!array_reserve(&writer->path, &writer->path_capacity, depth + 1, DEPTH_LIMIT))
            return false;
        writer->path[depth++] = writer->number_of_frame[nodes[node].frame] - 1;
    }
    output_byte(writer->output, '[');
    while (depth > 0) {
        output_u64(writer->output, writer->path[--depth]);
        if (depth > 0)
            output_byte(writer->output, ',');
    }
    output_byte(writer->output, ']');
    return true;
}

/* How many samples from `at` on are of one stack and may be written as one. */
static size_t run_of(const struct sample_groups *groups, const struct sample_group *group, size_t at)
{
    const struct sample *samples = groups->profile->samples;
    uint32_t stack = samples[groups->order[at]].stack;
    size_t end = at + 1;
    while (end < group->first + group->count && samples[groups->order[end]].stack == stack)
        end++;
    return end - at;
}

static bool write_stacks(struct speedscope_writer *writer, const struct sample_groups *groups,
                         const struct sample_group *group, size_t step_over_runs)
{
    size_t end = group->first + group->count;
    for (size_t i = group->first; i < end;) {
        output_c_string(writer->output, i == group->first ? "" : ",");
        if (!write_stack(writer, writer->profile->samples[groups->order[i]].stack))
            return false;
        i += step_over_runs ? run_of(groups, group, i) : 1;
    }
    return true;
}

static void write_weights(struct speedscope_writer *writer, const struct sample_groups *groups,
                          const struct sample_group *group, size_t step_over_runs)
{
    size_t end = group->first + group->count;
    for (size_t i = group->first; i < end;) {
        size_t run = step_over_runs ? run_of(groups, group, i) : 1;
        double sum = 0;
        output_c_string(writer->output, i == group->first ? "" : ",");
        for (; run > 0; run--)
            sum += weigh(writer, &writer->profile->samples[groups->order[i++]]);
        number_text_write(writer->output, sum);
    }
}

static const char *unit_of(const struct speedscope_writer *writer, const struct event *event)
{
    enum weight weight = writer->options->weight;
    bool by_value = weight == WEIGHT_VALUE || (weight == WEIGHT_DEFAULT && event->shows_value);
    if (!by_value || event->unit == UNIT_COUNT)
        return "none";
    return event->unit == UNIT_BYTES ? "bytes" : "nanoseconds";
}

static void write_name(struct speedscope_writer *writer, const struct sample_group *group, bool by_thread,
                       bool has_threads)
{
    const struct profile *profile = writer->profile;
    text_builder_clear(&writer->name);
    text_builder_add(&writer->name, profile_text(profile, profile->events[group->event].name));
    if (has_threads && !by_thread)
        text_builder_add_c_string(&writer->name, ": all threads");
    if (by_thread) {
        text_builder_add_c_string(&writer->name, ": ");
        text_builder_add(&writer->name, profile_text(profile, group->thread));
        if (group->process != 0 && writer->has_processes)
            text_builder_format(&writer->name, " (process %s)",
                                string_table_c_string(&profile->strings, group->process));
    }
    json_text_write(writer->output, text_builder_view(&writer->name));
}

static bool write_group(struct speedscope_writer *writer, const struct sample_groups *groups, size_t number,
                        bool by_thread, bool has_threads)
{
    const struct sample_group *group = &groups->groups[number];
    double sum = 0;
    for (size_t i = group->first; i < group->first + group->count; i++)
        sum += weigh(writer, &writer->profile->samples[groups->order[i]]);
    output_c_string(writer->output, "{\"type\":\"sampled\",\"name\":");
    write_name(writer, group, by_thread, has_threads);
    output_format(writer->output, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
                  unit_of(writer, &writer->profile->events[group->event]));
    number_text_write(writer->output, sum);
    output_c_string(writer->output, ",\n\"samples\":[");
    if (!write_stacks(writer, groups, group, !by_thread))
        return false;
    output_c_string(writer->output, "],\n\"weights\":[");
    write_weights(writer, groups, group, !by_thread);
    output_c_string(writer->output, "]}");
    return true;
}

static bool is_by_thread(const struct sample_groups *threads, size_t event_count)
{
    bool timed = threads->size > event_count;
    for (size_t i = 0; i < threads->size; i++)
        timed = timed && threads->groups[i].is_timed;
    return timed;
}

static bool has_several_processes(const struct sample_groups *threads)
{
    for (size_t i = 1; i < threads->size; i++)
        if (threads->groups[i].process != threads->groups[0].process)
            return true;
    return false;
}

static bool write_profiles(struct speedscope_writer *writer, struct error *error)
{
    struct sample_groups events, threads = {.size = 0};
    if (!sample_groups_init(&events, writer->profile, false, error))
        return false;
    bool good = !writer->profile->keep_times || sample_groups_init(&threads, writer->profile, true, error);
    bool has_threads = good && is_by_thread(&threads, events.size);
    writer->has_processes = has_several_processes(&threads);
    output_c_string(writer->output, ",\n\"profiles\":[");
    size_t next_thread = 0;
    for (size_t i = 0; i < events.size && good; i++) {
        output_c_string(writer->output, i == 0 ? "\n" : ",\n");
        good = write_group(writer, &events, i, false, has_threads);
        for (; has_threads && good && next_thread < threads.size &&
               threads.groups[next_thread].event == events.groups[i].event;
             next_thread++) {
            output_c_string(writer->output, ",\n");
            good = write_group(writer, &threads, next_thread, true, has_threads);
        }
    }
    output_byte(writer->output, ']');
    sample_groups_release(&events);
    sample_groups_release(&threads);
    return good;
}

static bool write_speedscope(const struct profile *profile, const struct write_options *options,
                             struct output *output, struct error *error)
{
    struct speedscope_writer writer = {.profile = profile, .options = options, .output = output};
    text_builder_init(&writer.name, NAME_LIMIT_BYTES);
    writer.number_of_frame = calloc(profile->frames.size + 1, sizeof(*writer.number_of_frame));
    output_c_string(output, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                            "\"exporter\":\"sparkflame@" SPARKFLAME_VERSION "\",\n");
    bool good = writer.number_of_frame != NULL && write_frames(&writer) && write_profiles(&writer, error);
    output_c_string(output, "}\n");
    text_builder_release(&writer.name);
    free(writer.number_of_frame);
    free(writer.path);
    return good || error_set_memory(error);
}

const struct writer writer_speedscope = {
    .name = "speedscope",
    .summary = "JSON for speedscope.app",
    .extensions = "speedscope.json speedscope json",
    .holds_times = true,
    .holds_labels = true,
    .holds_lines = true,
    .holds_kinds = true,
    .write = write_speedscope,
};
