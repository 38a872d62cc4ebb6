#include "commands/picture/profile_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/time_text.h"
#include "model/main_event.h"
#include "model/stitch.h"

static void print_notice(void *context, const char *text)
{
    const struct profile_input *input = context;
    if (!input->options->quiet)
        command_complain(input->command, "%s", text);
}

/* ---- from options to a selection ---- */

static bool add_patterns(struct pattern **patterns, size_t *count, const struct option_list *list,
                         bool ignore_case, struct error *error)
{
    for (size_t i = 0; i < list->size; i++) {
        patterns[i] = pattern_new(list->items[i], ignore_case, error);
        if (patterns[i] == NULL)
            return false;
        *count = i + 1;
    }
    return true;
}

static bool is_number_list(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789,")] == '\0';
}

static bool add_label(struct selection *selection, const char *key, const char *values, bool as_pattern,
                      bool ignore_case, struct error *error)
{
    if (values == NULL)
        return true;
    if (selection->label_count == SELECTION_LIST_LIMIT)
        return error_set(error, ERROR_USAGE, "too many labels to select by");
    struct label_filter *filter = &selection->labels[selection->label_count];
    *filter = (struct label_filter){.name = key, .values = values};
    if (as_pattern) {
        filter->pattern = pattern_new(values, ignore_case, error);
        if (filter->pattern == NULL)
            return false;
    }
    selection->label_count++;
    return true;
}

static bool add_labels(struct selection *selection, const struct profile_input_options *options,
                       struct error *error)
{
    bool by_name = options->thread != NULL && !is_number_list(options->thread);
    if (!add_label(selection, "thread", options->thread, by_name, options->ignore_case, error) ||
        !add_label(selection, "state", options->state, false, false, error) ||
        !add_label(selection, "application", options->application, false, false, error) ||
        !add_label(selection, "executor", options->executor, false, false, error) ||
        !add_label(selection, "job", options->job, false, false, error) ||
        !add_label(selection, "stage", options->stage, false, false, error) ||
        !add_label(selection, "task", options->task, false, false, error))
        return false;
    for (size_t i = 0; i < options->labels.size; i++) {
        char *key = selection_copy_text(selection, options->labels.items[i]);
        if (key == NULL)
            return error_set_memory(error);
        char *equals = strchr(key, '=');
        if (equals == NULL || equals == key)
            return error_set(error, ERROR_USAGE, "--label: \"%s\" is not KEY=VALUES",
                             options->labels.items[i]);
        *equals = '\0';
        if (!add_label(selection, key, equals + 1, false, false, error))
            return false;
    }
    return true;
}

static bool add_groups(struct selection *selection, const char *by, struct error *error)
{
    char *rest = by == NULL ? NULL : selection_copy_text(selection, by);
    if (by != NULL && rest == NULL)
        return error_set_memory(error);
    for (char *key = rest; key != NULL; key = rest) {
        rest = strchr(key, ',');
        if (rest != NULL)
            *rest++ = '\0';
        if (selection->group_count == SELECTION_LIST_LIMIT)
            return error_set(error, ERROR_USAGE, "--by: too many labels");
        selection->group_names[selection->group_count++] = key;
    }
    return true;
}

static bool make_selection(struct profile_input *input, struct error *error)
{
    const struct profile_input_options *options = input->options;
    struct selection *selection = &input->selection;
    selection->event = options->event   ? options->event
                       : options->cpu   ? "cpu"
                       : options->wall  ? "wall"
                       : options->alloc ? "alloc"
                       : options->live  ? "live"
                       : options->lock  ? "lock"
                                        : NULL;
    selection->reverse = options->reverse;
    selection->collapse_recursion = options->collapse_recursion;
    selection->weight = input->weight;
    if (!(options->min_share >= 0 && options->min_share <= 100))
        return error_set(error, ERROR_USAGE, "--min-share: %g is not between 0 and 100", options->min_share);
    selection->min_share = options->min_share / 100;
    bool ignore_case = options->ignore_case;
    return add_patterns(selection->include, &selection->include_count, &options->include, ignore_case,
                        error) &&
           add_patterns(selection->exclude, &selection->exclude_count, &options->exclude, ignore_case,
                        error) &&
           add_patterns(selection->only_frames, &selection->only_frame_count, &options->only_frames,
                        ignore_case, error) &&
           add_patterns(selection->drop_frames, &selection->drop_frame_count, &options->drop_frames,
                        ignore_case, error) &&
           add_patterns(selection->base, &selection->base_count, &options->base, ignore_case, error) &&
           add_labels(selection, options, error) && add_groups(selection, options->by, error);
}

/* Times of day need the recording's day, so this comes after reading. */
static bool set_time(const struct profile *profile, const char *text, int64_t *time_ns, bool *is_relative,
                     struct error *error)
{
    enum time_form form;
    if (text == NULL)
        return true;
    if (!time_text_parse(text, time_ns, &form, error))
        return false;
    *is_relative = form == TIME_RELATIVE;
    if (form != TIME_RELATIVE && !profile->times_are_absolute)
        return error_set(error, ERROR_USAGE, "\"%s\": the samples have only times relative to the start",
                         text);
    if (form == TIME_OF_DAY && profile->sample_count > 0)
        *time_ns = time_text_on_day(*time_ns, profile->samples[0].time_ns);
    return true;
}

/* ---- reading ---- */

static struct perf_options make_perf_options(const struct profile_input_options *options)
{
    return (struct perf_options){
        .with_pid = options->with_pid,
        .with_tid = options->with_tid,
        .with_addresses = options->with_addresses,
        .mark_kernel = options->mark_kernel || options->mark_all,
        .mark_jit = options->mark_jit || options->mark_all,
        .event_filter = options->event_filter,
    };
}

static struct read_options make_read_options(struct profile_input *input, const struct profile_needs *needs)
{
    const struct profile_input_options *options = input->options;
    input->perf = make_perf_options(options);
    input->keeps_labels =
        needs->contexts || input->selection.label_count > 0 || input->selection.group_count > 0;
    input->needs_contexts = needs->contexts;
    input->sum = (struct sum_options){.labels = input->keeps_labels, .stitches = options->stitch};
    struct read_options read = {
        .threads = options->threads == 0    ? 1
                   : options->threads > 256 ? 256
                                            : options->threads,
        .needs_lines = needs->lines || options->lines,
        .joins_java_kinds = !needs->kinds && !options->kinds,
        .needs_contexts = input->keeps_labels || options->stitch,
        .needs_order = needs->order,
        .may_list_stacks = needs->no_tree && !options->stitch && options->read_files == NULL,
        .sum = options->read_files == NULL ? NULL : &input->sum,
        .event = options->stitch ? TEXT("") : text_of(input->selection.event),
        .perf = &input->perf,
        .notice = print_notice,
        .notice_context = input,
    };
    return read;
}

static bool read_files(struct profile_input *input, const struct read_options *read,
                       const struct reader *format, char **paths, int path_count, struct profile *profile)
{
    bool any = false;
    if (input->options->read_files != NULL)
        return input->options->read_files(input, read, format, paths, path_count, profile);
    for (int i = 0; i < path_count; i++) {
        struct error error = {0};
        if (read_profile(paths[i], format, read, profile, &error)) {
            any = true;
            continue;
        }
        if (read->notice != NULL)
            command_complain(input->command, "%s", error.message);
        input->incomplete = true;
    }
    return any || profile->sample_count > 0;
}

/* A picture of one event shows cpu, if there is any. If the wanted event has no samples all events are read: to show
 * another one, or to list them. */
static bool read_wanted(struct profile_input *input, struct read_options *read,
                        const struct profile_needs *needs, const struct reader *format, char **paths,
                        int path_count, struct profile *profile)
{
    struct error error = {0};
    bool from_stdin = input->options->tar; /* cannot be read twice */
    for (int i = 0; i < path_count; i++)
        from_stdin = from_stdin || strcmp(paths[i], "-") == 0;
    bool prefers = needs->one_event && read->event.size == 0 && !from_stdin && !input->options->stitch &&
                   !input->options->partial;
    if (prefers) {
        read->event = TEXT("cpu");
        read->passed_events = &input->passed_events;
    }
    if (!read_files(input, read, format, paths, path_count, profile))
        return false;
    if (read->event.size == 0 || profile->sample_count > 0 || from_stdin || input->options->partial)
        return true;
    bool keep_times = profile->keep_times;
    profile_release(profile);
    read->event = TEXT("");
    input->passed_events.count = 0;
    read->notice = NULL; /* all was said already */
    if (!profile_init(profile, keep_times, &error)) {
        command_complain(input->command, "%s", error.message);
        return false;
    }
    return read_files(input, read, format, paths, path_count, profile);
}

static bool find_format(struct profile_input *input, const struct reader **format, struct error *error)
{
    *format = NULL;
    if (input->options->format == NULL)
        return true;
    *format = reader_by_name(text_of(input->options->format));
    if (*format != NULL)
        return true;
    char names[400] = "";
    size_t used = 0;
    for (size_t i = 0; readers[i] != NULL && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
                                 readers[i]->name);
    return error_set(error, ERROR_USAGE, "--input-format: no format \"%s\"; there are: %s",
                     input->options->format, names);
}

/* Only the requested event was read, so nothing has to be removed. */
static bool is_all_there_is(const struct selection *selection, const struct profile *read)
{
    struct selection rest = *selection;
    rest.event = NULL;
    if (selection->event == NULL || !selection_is_all(&rest) || read->event_count == 0)
        return selection_is_all(selection);
    for (size_t i = 0; i < read->event_count; i++)
        if (!text_equal(profile_text(read, read->events[i].name), text_of(selection->event)))
            return false;
    return true;
}

/* Whoever reads files in another way has done it. */
static bool stitch(const struct profile_input *input, struct profile *read, struct error *error)
{
    return !input->options->stitch || input->options->read_files != NULL || stitch_profile(read, error);
}

static bool select_samples(struct profile_input *input, struct profile *read, struct error *error)
{
    struct selection *selection = &input->selection;
    if (input->options->partial) {
        input->profile = *read;
        *read = (struct profile){.samples = NULL};
        return true;
    }
    if (!set_time(read, input->options->from, &selection->from_ns, &selection->from_is_relative, error) ||
        !set_time(read, input->options->to, &selection->to_ns, &selection->to_is_relative, error))
        return false;
    if (is_all_there_is(selection, read)) {
        input->profile = *read;
        *read = (struct profile){.samples = NULL};
        profile_seal(&input->profile);
        return true;
    }
    profile_seal(read);
    if (!profile_place_stacks(read, error) || !profile_init(&input->profile, read->keep_times, error) ||
        !selection_apply(selection, read, &input->profile, error))
        return false;
    profile_seal(&input->profile);
    return true;
}

static void set_styles(struct profile_input *input)
{
    const struct profile_input_options *options = input->options;
    input->weight = (enum weight)options->weight;
    input->names = (struct name_style){
        .lines = options->lines,
        .kinds = options->kinds || options->mark_kernel || options->mark_jit || options->mark_all,
        .readable = options->names == 1,
        .dots = options->dots,
        .simple = options->simple,
        .normalize = options->normalize,
    };
}

static int exit_code_of(const struct error *error)
{
    return error->code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

static bool label_occurs(const struct profile *profile, const char *name)
{
    bool is_thread = strcmp(name, "thread") == 0; /* also chosen by its number */
    for (size_t i = 0; i < profile->contexts.label_count; i++) {
        uint32_t key = profile->contexts.labels[i].key;
        if (text_equal(profile_label_key_name(profile, key), text_of(name)) ||
            (is_thread && key == LABEL_THREAD_ID))
            return true;
    }
    return false;
}

/* `read`: all that the selection was made from; `path` NULL: several files. */
static void tell_nothing_left(const struct profile_input *input, const struct profile *read, const char *path)
{
    struct selection rest = input->selection;
    char event[200] = "", why[200] = "";
    rest.event = NULL;
    if (input->selection.event != NULL)
        snprintf(event, sizeof(event), " of event \"%s\"", input->selection.event);
    for (size_t i = 0; read->sample_count > 0 && i < rest.label_count && why[0] == '\0'; i++)
        if (!label_occurs(read, rest.labels[i].name))
            snprintf(why, sizeof(why), ": none has the label \"%s\"", rest.labels[i].name);
    command_complain(input->command, "%s%sno samples%s%s%s", path == NULL ? "" : path,
                     path == NULL ? "" : ": ", event, selection_is_all(&rest) ? "" : " match the selection",
                     why);
}

bool profile_input_read(struct profile_input *input, const struct command *command,
                        const struct profile_input_options *options, const struct profile_needs *needs,
                        char **paths, int path_count, int *exit_code)
{
    struct error error = {0};
    const struct reader *format;
    struct profile read = {.samples = NULL};
    *input = (struct profile_input){.command = command, .options = options};
    selection_init(&input->selection);
    set_styles(input);
    *exit_code = EXIT_FAILED;
    bool keep_times = needs->times || options->from != NULL || options->to != NULL;
    if (!make_selection(input, &error) || !find_format(input, &format, &error) ||
        !profile_init(&read, keep_times, &error)) {
        command_complain(command, "%s", error.message);
        *exit_code = exit_code_of(&error);
        return false;
    }
    input->read = make_read_options(input, needs);
    bool good = read_wanted(input, &input->read, needs, format, paths, path_count, &read);
    if (good && !(stitch(input, &read, &error) && select_samples(input, &read, &error))) {
        command_complain(command, "%s", error.message);
        *exit_code = exit_code_of(&error);
        good = false;
    }
    if (good && input->profile.sample_count == 0 && !options->partial) {
        tell_nothing_left(input, &read,
                          path_count > 1               ? NULL
                          : strcmp(paths[0], "-") == 0 ? "standard input"
                                                       : paths[0]);
        good = false;
    }
    profile_release(&read);
    return good;
}

bool profile_input_read_pair(struct profile_input *input, const struct command *command,
                             const struct profile_input_options *options, const struct profile_needs *needs,
                             char *const paths[2], bool *done, int *exit_code)
{
    struct error error = {0};
    const struct reader *format;
    *input = (struct profile_input){.command = command, .options = options};
    selection_init(&input->selection);
    set_styles(input);
    *exit_code = EXIT_FAILED;
    *done = false;
    bool good = make_selection(input, &error) && find_format(input, &format, &error);
    if (good && selection_is_all(&input->selection) && !options->stitch && options->from == NULL &&
        options->to == NULL) {
        struct read_options read = make_read_options(input, needs);
        good = profile_init(&input->profile, needs->times, &error) &&
               read_profile_pair(paths, format, &read, &input->profile, done, &error);
    }
    if (!good) {
        command_complain(command, "%s", error.message);
        *exit_code = exit_code_of(&error);
        *done = true;
        input->incomplete = input->profile.sample_count > 0;
    }
    if (!*done)
        profile_input_release(input);
    else
        profile_seal(&input->profile);
    return !*done || input->profile.sample_count > 0;
}

bool profile_input_is_as_read(const struct profile_input_options *options, const char *format)
{
    struct error error = {0};
    struct profile_input input = {.options = options};
    selection_init(&input.selection);
    set_styles(&input);
    bool untouched = make_selection(&input, &error) && selection_is_all(&input.selection) &&
                     !options->stitch && options->from == NULL && options->to == NULL &&
                     name_style_is_plain(&input.names) &&
                     (options->format == NULL || strcmp(options->format, format) == 0);
    profile_input_release(&input);
    return untouched;
}

void profile_input_release(struct profile_input *input)
{
    selection_release(&input->selection);
    profile_release(&input->profile);
}

/* ---- asking ---- */

static void list_event(struct profile_input *input, struct text_view name)
{
    size_t used = strlen(input->other_events);
    snprintf(input->other_events + used, sizeof(input->other_events) - used, "%s%.*s", used == 0 ? "" : ", ",
             TEXT_FORMAT(name));
}

static int compare_views(const void *left, const void *right)
{
    return text_compare(*(const struct text_view *)left, *(const struct text_view *)right);
}

/* Those that were read, and those that the reader skipped, in the order in which they were met; but of a merge by
 * name. */
static void list_other_events(struct profile_input *input, uint32_t event)
{
    const struct profile *profile = &input->profile;
    bool used[EVENT_LIMIT] = {false};
    struct text_view names[EVENT_LIMIT + PASSED_EVENT_LIMIT];
    size_t count = 0;
    bool is_merge = input->options->read_files != NULL;
    input->other_events[0] = '\0';
    for (size_t i = 0; i < profile->sample_count; i++)
        used[profile->samples[i].event] = true;
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (i != event && used[i])
            names[count++] = profile_text(profile, profile->events[i].name);
    for (size_t i = 0; i < input->passed_events.count; i++)
        names[count++] = text_of(input->passed_events.names[i]);
    if (is_merge && count > 0)
        qsort(names, count, sizeof(*names), compare_views);
    for (size_t i = 0; i < count; i++)
        if (!is_merge || i == 0 || !text_equal(names[i], names[i - 1]))
            list_event(input, names[i]);
}

uint32_t profile_input_main_event(struct profile_input *input)
{
    uint32_t event = main_event_of(&input->profile);
    list_other_events(input, event);
    if (input->other_events[0] != '\0' && !input->options->quiet)
        command_complain(input->command, "showing event %.*s; others, with --event: %s",
                         TEXT_FORMAT(profile_text(&input->profile, input->profile.events[event].name)),
                         input->other_events);
    return event;
}

bool profile_input_is_difference(const struct profile_input *input, uint32_t events[2])
{
    static const struct text_view names[2] = {{"before", 6}, {"after", 5}};
    const struct profile *profile = &input->profile;
    for (size_t side = 0; side < 2; side++) {
        for (events[side] = 0; events[side] < profile->event_count; events[side]++)
            if (text_equal(profile_text(profile, profile->events[events[side]].name), names[side]))
                break;
        if (events[side] == profile->event_count)
            return false;
    }
    return true;
}

const char *profile_input_unit(const struct profile_input *input, uint32_t event)
{
    const struct event *asked = &input->profile.events[event];
    bool by_value = input->weight == WEIGHT_VALUE || (input->weight == WEIGHT_DEFAULT && asked->shows_value);
    if (!by_value || asked->unit == UNIT_COUNT)
        return "samples";
    return asked->unit == UNIT_BYTES ? "bytes" : "ns";
}
