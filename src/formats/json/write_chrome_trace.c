/*
 * write_chrome_trace.c - the JSON of Chrome's trace viewer, which Perfetto and others read, too.
 *
 * Each thread of each event is a track. A sample lasts until the next one of its thread, but no longer than twice what
 * is usual there; frames that go on from one sample to the next are one box. Without times, samples follow one
 * another, each as long as it weighs.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/json_text.h"
#include "formats/number_text.h"
#include "formats/json/sample_groups.h"
#include "formats/writer.h"

#define NAME_LIMIT_BYTES ((size_t)1 << 30)
#define DEPTH_LIMIT ((size_t)1 << 31)
#define USUAL_NS 1e7
#define NANOSECONDS_PER_MICROSECOND 1000.0

/* A frame that has begun and not yet ended. */
struct open_slice {
    uint32_t node;
    double begin_ns;
};

struct trace_writer {
    const struct profile *profile;
    const struct write_options *options;
    struct output *output;
    struct sample_groups groups;
    struct open_slice *open; /* outermost first */
    size_t open_count;
    size_t open_capacity;
    uint32_t *path; /* of the present sample, innermost first */
    size_t path_capacity;
    struct text_builder name;
    size_t track; /* number of the group, from 1 on */
    uint32_t event;
    double end_ns;    /* of the last sample */
    int64_t first_ns; /* what times are counted from, since doubles cannot hold nanoseconds since 1970 */
    bool has_written;
};

static void begin_record(struct trace_writer *writer)
{
    output_c_string(writer->output, writer->has_written ? ",\n" : "\n");
    writer->has_written = true;
}

static void write_microseconds(struct trace_writer *writer, double nanoseconds)
{
    number_text_write(writer->output, round(nanoseconds) / NANOSECONDS_PER_MICROSECOND);
}

/* "process_name" or "thread_name". */
static void write_label(struct trace_writer *writer, const char *kind, size_t thread, struct text_view name)
{
    begin_record(writer);
    output_format(writer->output,
                  "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%zu,\"args\":{\"name\":", kind,
                  writer->event + 1, thread);
    json_text_write(writer->output, name);
    output_c_string(writer->output, "}}");
}

static void write_box(struct trace_writer *writer, const struct open_slice *open, double end_ns)
{
    uint32_t number = writer->profile->stacks.nodes[open->node].frame;
    const struct frame *frame = &writer->profile->frames.frames[number];
    text_builder_clear(&writer->name);
    frame_name_add(writer->profile, number, &writer->options->names, &writer->name);
    begin_record(writer);
    output_c_string(writer->output, "{\"ph\":\"X\",\"name\":");
    json_text_write(writer->output, text_builder_view(&writer->name));
    output_format(writer->output,
                  ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%zu,\"ts\":", frame_kind_name(frame->kind),
                  writer->event + 1, writer->track);
    write_microseconds(writer, open->begin_ns);
    output_c_string(writer->output, ",\"dur\":");
    write_microseconds(writer, end_ns - open->begin_ns);
    output_byte(writer->output, '}');
}

/* Ends the frames from `depth` on. */
static void close_frames(struct trace_writer *writer, size_t depth)
{
    while (writer->open_count > depth)
        write_box(writer, &writer->open[--writer->open_count], writer->end_ns);
}

static bool find_path(struct trace_writer *writer, uint32_t node, size_t *depth)
{
    *depth = 0;
    for (; node != STACK_ROOT; node = writer->profile->stacks.nodes[node].parent) {
        if (!array_reserve(&writer->path, &writer->path_capacity, *depth + 1, DEPTH_LIMIT))
            return false;
        writer->path[(*depth)++] = node;
    }
    return true;
}

/* Frames that were open at the end of the sample before and are in this one go on. */
static bool show_sample(struct trace_writer *writer, uint32_t stack, double begin_ns, double end_ns)
{
    size_t depth, shared = 0;
    if (!find_path(writer, stack, &depth))
        return false;
    if (begin_ns > writer->end_ns)
        close_frames(writer, 0);
    while (shared < depth && shared < writer->open_count &&
           writer->open[shared].node == writer->path[depth - 1 - shared])
        shared++;
    close_frames(writer, shared);
    if (!array_reserve(&writer->open, &writer->open_capacity, depth + 1, DEPTH_LIMIT))
        return false;
    while (writer->open_count < depth) {
        writer->open[writer->open_count] =
            (struct open_slice){writer->path[depth - 1 - writer->open_count], begin_ns};
        writer->open_count++;
    }
    writer->end_ns = end_ns;
    return true;
}

static const struct sample *sample_at(const struct trace_writer *writer, size_t at)
{
    return &writer->profile->samples[writer->groups.order[at]];
}

/* Since the first sample of all. */
static double time_at(const struct trace_writer *writer, size_t at)
{
    return (double)((uint64_t)sample_at(writer, at)->time_ns - (uint64_t)writer->first_ns);
}

static int compare_gaps(const void *left, const void *right)
{
    double left_gap = *(const double *)left, right_gap = *(const double *)right;
    return left_gap < right_gap ? -1 : left_gap > right_gap;
}

/* The median of the gaps between samples. */
static double usual_gap(const struct trace_writer *writer, const struct sample_group *group)
{
    double *gaps = malloc((group->count + 1) * sizeof(*gaps)), usual = USUAL_NS;
    size_t count = 0;
    for (size_t i = group->first + 1; gaps != NULL && i < group->first + group->count; i++) {
        double gap = time_at(writer, i) - time_at(writer, i - 1);
        if (gap > 0)
            gaps[count++] = gap;
    }
    if (count > 0) {
        qsort(gaps, count, sizeof(*gaps), compare_gaps);
        usual = gaps[count / 2];
    }
    free(gaps);
    return usual;
}

static bool show_timed(struct trace_writer *writer, const struct sample_group *group)
{
    double usual = usual_gap(writer, group);
    size_t end = group->first + group->count;
    for (size_t i = group->first; i < end; i++) {
        double begin_ns = time_at(writer, i);
        double end_ns = i + 1 < end ? time_at(writer, i + 1) : begin_ns + usual;
        if (end_ns - begin_ns > 2 * usual)
            end_ns = begin_ns + usual;
        if (!show_sample(writer, sample_at(writer, i)->stack, begin_ns, end_ns))
            return false;
    }
    return true;
}

/* A sample without a duration lasts a millisecond, to be visible. */
static bool show_untimed(struct trace_writer *writer, const struct sample_group *group)
{
    bool is_time = writer->profile->events[group->event].unit == UNIT_NANOSECONDS;
    double at = 0;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        const struct sample *sample = sample_at(writer, i);
        double weight = weight_of(writer->profile, sample, writer->options->weight);
        double lasts = is_time && weight == sample->value ? weight : weight * 1e6;
        if (lasts <= 0)
            continue;
        if (!show_sample(writer, sample->stack, at, at + lasts))
            return false;
        at += lasts;
    }
    return true;
}

static bool write_track(struct trace_writer *writer, const struct sample_group *group)
{
    const struct profile *profile = writer->profile;
    if (writer->track == 0 || writer->event != group->event) {
        writer->event = group->event;
        write_label(writer, "process_name", 0, profile_text(profile, profile->events[group->event].name));
    }
    writer->track++;
    text_builder_clear(&writer->name);
    text_builder_add(&writer->name,
                     group->thread == 0 ? TEXT("all threads") : profile_text(profile, group->thread));
    if (group->process != 0) {
        text_builder_add_c_string(&writer->name, ", process ");
        text_builder_add(&writer->name, profile_text(profile, group->process));
    }
    write_label(writer, "thread_name", writer->track, text_builder_view(&writer->name));
    writer->end_ns = -INFINITY;
    bool good = group->is_timed ? show_timed(writer, group) : show_untimed(writer, group);
    close_frames(writer, 0);
    return good;
}

static int64_t first_time(const struct profile *profile)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].time_ns != NO_TIME && profile->samples[i].time_ns < first)
            first = profile->samples[i].time_ns;
    return first;
}

static bool write_chrome_trace(const struct profile *profile, const struct write_options *options,
                               struct output *output, struct error *error)
{
    struct trace_writer writer = {.profile = profile, .options = options, .output = output};
    if (!sample_groups_init(&writer.groups, profile, true, error))
        return false;
    text_builder_init(&writer.name, NAME_LIMIT_BYTES);
    writer.first_ns = first_time(profile);
    output_c_string(output, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    bool good = true;
    for (size_t i = 0; i < writer.groups.size && good; i++)
        good = write_track(&writer, &writer.groups.groups[i]);
    output_c_string(output, "]}\n");
    good = good && !writer.name.failed;
    text_builder_release(&writer.name);
    sample_groups_release(&writer.groups);
    free(writer.open);
    free(writer.path);
    return good || error_set_memory(error);
}

const struct writer writer_chrome_trace = {
    .name = "chrome_trace",
    .summary = "JSON for Chrome's trace viewer and Perfetto",
    .extensions = "trace.json trace",
    .holds_times = true,
    .holds_labels = true,
    .holds_lines = true,
    .holds_kinds = true,
    .write = write_chrome_trace,
};
