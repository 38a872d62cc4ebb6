#include "commands/record/host_comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/printable.h"
#include "base/text_builder.h"
#include "commands/record/host_merge.h"
#include "model/main_event.h"
#include "native_sampler/host_outliers.h"

#define BLOCKS 30
#define MOST_FUNCTIONS 60
#define MOST_SHOWN 10
#define MOST_FOUND 64
#define MOST_DIFFERENCES 5
#define MOST_IN_MATRIX 16
#define MOST_NAME_WIDTH 48
#define NAME_BYTES 200

struct function_weight {
    uint32_t frame; /* one of its frames, for the name */
    double weight;
};

struct comparison {
    const struct profile *profile;
    const char *const *names;
    size_t host_count;
    uint32_t event;
    uint32_t *host_of_context; /* NO_ID: none */
    int64_t *starts, *ends;    /* of each host's samples */
    size_t *sample_counts;
    uint32_t *function_of; /* of each frame; NO_ID: no function */
    struct function_weight *functions;
    uint32_t *feature_of; /* of each function; NO_ID: not compared */
    uint32_t *seen;       /* by function: the last sample that had it, plus 1 */
    size_t function_count, feature_count;
    struct host_shares shares; /* features are totals of the functions, then what these have themselves */
    double *weights, *totals;
};

/* ---- what there is ---- */

static bool find_hosts(struct comparison *all)
{
    const struct context_table *contexts = &all->profile->contexts;
    struct id_map host_of; /* by label's value */
    uint32_t key = 0;
    while (key < contexts->key_count && !text_equal(profile_label_key_name(all->profile, key), HOST_LABEL))
        key++;
    id_map_init(&host_of);
    bool good = true;
    for (uint32_t i = 0; good && i < contexts->size; i++) {
        uint32_t value = key < contexts->key_count ? context_table_value(contexts, i, key) : 0;
        uint32_t *place = id_map_place(&host_of, value);
        good = place != NULL;
        if (good && *place == NO_ID) {
            struct text_view name = profile_text(all->profile, value);
            *place = 0;
            while (*place < all->host_count && !text_equal(name, text_of(all->names[*place])))
                (*place)++;
        }
        all->host_of_context[i] = good && *place < all->host_count ? *place : NO_ID;
    }
    id_map_release(&host_of);
    return good;
}

/* Functions of one name and file are one, whatever their lines. Frames of processes and threads are none: they differ
 * from host to host. */
static bool find_functions(struct comparison *all)
{
    const struct frame_table *frames = &all->profile->frames;
    struct id_map function_of;
    id_map_init(&function_of);
    bool good = true;
    for (uint32_t i = 0; good && i < frames->size; i++) {
        const struct frame *frame = &frames->frames[i];
        all->function_of[i] = NO_ID;
        if (frame->kind == FRAME_GROUP && !text_starts_with(profile_frame_name(all->profile, i), TEXT("[")))
            continue;
        uint32_t *place = id_map_place(&function_of, (uint64_t)frame->file << 32 | frame->name);
        good = place != NULL;
        if (good && *place == NO_ID) {
            all->functions[all->function_count].frame = i;
            *place = (uint32_t)all->function_count++;
        }
        all->function_of[i] = good ? *place : NO_ID;
    }
    id_map_release(&function_of);
    return good;
}

static uint32_t host_of(const struct comparison *all, const struct sample *sample)
{
    bool is_compared = sample->event == all->event && sample->time_ns != NO_TIME;
    return is_compared ? all->host_of_context[sample->context] : NO_ID;
}

static void weigh(struct comparison *all)
{
    const struct stack_node *nodes = all->profile->stacks.nodes;
    for (size_t i = 0; i < all->profile->sample_count; i++) {
        const struct sample *sample = &all->profile->samples[i];
        uint32_t host = host_of(all, sample);
        if (host == NO_ID)
            continue;
        if (all->sample_counts[host]++ == 0 || sample->time_ns < all->starts[host])
            all->starts[host] = sample->time_ns;
        if (all->sample_counts[host] == 1 || sample->time_ns > all->ends[host])
            all->ends[host] = sample->time_ns;
        for (uint32_t node = sample->stack; node != STACK_ROOT; node = nodes[node].parent) {
            uint32_t function = all->function_of[nodes[node].frame];
            if (function == NO_ID || all->seen[function] == i + 1)
                continue;
            all->functions[function].weight += sample->value;
            all->seen[function] = (uint32_t)i + 1;
        }
    }
}

static int compare_weights(const void *left, const void *right)
{
    const struct function_weight *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

/* The heaviest ones; sorts the functions. */
static void choose_functions(struct comparison *all)
{
    qsort(all->functions, all->function_count, sizeof(*all->functions), compare_weights);
    for (size_t i = 0; i < all->profile->frames.size; i++)
        all->feature_of[i] = NO_ID;
    while (all->feature_count < MOST_FUNCTIONS && all->feature_count < all->function_count &&
           all->functions[all->feature_count].weight > 0)
        all->feature_count++;
    for (size_t i = 0; i < all->feature_count; i++)
        all->feature_of[all->function_of[all->functions[i].frame]] = (uint32_t)i;
}

/* ---- shares ---- */

static void count_sample(struct comparison *all, size_t index, uint32_t host)
{
    const struct stack_node *nodes = all->profile->stacks.nodes;
    const struct sample *sample = &all->profile->samples[index];
    double start = (double)all->starts[host], duration = (double)all->ends[host] - start + 1;
    size_t block = (size_t)(((double)sample->time_ns - start) / duration * BLOCKS);
    size_t row = host * BLOCKS + (block < BLOCKS ? block : BLOCKS - 1);
    double *weights = &all->weights[row * all->shares.feature_count];
    all->totals[row] += sample->value;
    for (uint32_t node = sample->stack; node != STACK_ROOT; node = nodes[node].parent) {
        uint32_t function = all->function_of[nodes[node].frame];
        uint32_t feature = function == NO_ID ? NO_ID : all->feature_of[function];
        if (feature == NO_ID)
            continue;
        if (node == sample->stack)
            weights[all->feature_count + feature] += sample->value;
        if (all->seen[function] != index + 1)
            weights[feature] += sample->value;
        all->seen[function] = (uint32_t)index + 1;
    }
}

static bool count_all(struct comparison *all)
{
    size_t rows = all->host_count * BLOCKS;
    all->shares = (struct host_shares){all->host_count, BLOCKS, 2 * all->feature_count, NULL, NULL};
    all->weights = calloc(rows * all->shares.feature_count + 1, sizeof(*all->weights));
    all->totals = calloc(rows + 1, sizeof(*all->totals));
    if (all->weights == NULL || all->totals == NULL)
        return false;
    memset(all->seen, 0, all->profile->frames.size * sizeof(*all->seen));
    for (size_t i = 0; i < all->profile->sample_count; i++) {
        uint32_t host = host_of(all, &all->profile->samples[i]);
        if (host != NO_ID)
            count_sample(all, i, host);
    }
    all->shares.weights = all->weights;
    all->shares.totals = all->totals;
    return true;
}

/* ---- what is printed ---- */

/* Names come from the hosts: control characters are replaced. */
static const char *name_of(const struct comparison *all, size_t feature, char name[NAME_BYTES])
{
    uint32_t frame = all->functions[feature % all->feature_count].frame;
    struct text_view text = text_part(profile_frame_name(all->profile, frame), 0, NAME_BYTES - 1);
    memcpy(name, text.data, text.size);
    name[text.size] = '\0';
    make_printable(name, text.size);
    return name;
}

static void print_matrix(const struct command *command, const struct comparison *all)
{
    struct text_builder line;
    text_builder_init(&line, 65536);
    bool is_part = all->host_count > MOST_IN_MATRIX;
    int width = 0;
    for (size_t i = 0; i < all->host_count && i < MOST_IN_MATRIX; i++) {
        size_t length = strlen(all->names[i]);
        width = (int)length > width ? (int)(length < MOST_NAME_WIDTH ? length : MOST_NAME_WIDTH) : width;
    }
    command_complain(command, "similarity of the %shosts, by the shares of their functions (1: equal)",
                     is_part ? "first " : "");
    for (size_t i = 0; i < all->host_count && i < MOST_IN_MATRIX; i++) {
        text_builder_clear(&line);
        text_builder_format(&line, "%-*.*s", width, width, all->names[i]);
        for (size_t j = 0; j <= i; j++)
            text_builder_format(&line, " %4.2f", host_similarity(&all->shares, i, j));
        command_complain(command, "  %s", text_builder_c_string(&line));
    }
    text_builder_release(&line);
}

struct share_range {
    size_t feature;
    double minimum, maximum;
};

static struct share_range range_of(const struct comparison *all, size_t feature)
{
    struct share_range range = {feature, 1, 0};
    for (size_t host = 0; host < all->host_count; host++) {
        double share = host_shares_of(&all->shares, host, feature);
        if (all->sample_counts[host] == 0)
            continue;
        range.minimum = share < range.minimum ? share : range.minimum;
        range.maximum = share > range.maximum ? share : range.maximum;
    }
    return range;
}

/* The widest first; of equal ones the heavier function. */
static int compare_ranges(const void *left, const void *right)
{
    const struct share_range *a = left, *b = right;
    double width_a = a->maximum - a->minimum, width_b = b->maximum - b->minimum;
    if (width_a != width_b)
        return width_a < width_b ? 1 : -1;
    return (a->feature > b->feature) - (a->feature < b->feature);
}

/* Without names of hosts: these are no evidence. */
static void print_differences(const struct command *command, const struct comparison *all)
{
    struct share_range ranges[MOST_FUNCTIONS];
    char name[NAME_BYTES];
    for (size_t i = 0; i < all->feature_count; i++)
        ranges[i] = range_of(all, i);
    qsort(ranges, all->feature_count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < all->feature_count && i < MOST_DIFFERENCES; i++)
        if (ranges[i].maximum - ranges[i].minimum >= OUTLIER_LEAST_DIFFERENCE)
            command_complain(command, "hosts differ: %s has between %.1f %% and %.1f %% of a host's time",
                             name_of(all, ranges[i].feature, name), 100 * ranges[i].minimum,
                             100 * ranges[i].maximum);
}

static void print_outlier(const struct command *command, const struct comparison *all, const char *host,
                          const struct host_outlier *outlier)
{
    char name[NAME_BYTES];
    bool is_self = outlier->feature >= all->feature_count;
    command_complain(command, "host %s differs: %s %s %.1f %% of its time, %.1f %% of the other hosts'", host,
                     name_of(all, outlier->feature, name), is_self ? "itself has" : "has",
                     100 * outlier->share, 100 * outlier->median);
}

/* A function that calls no others differs in both of its shares: the larger difference comes first, and is enough. */
static bool is_repeated(const struct comparison *all, const struct host_outlier *outliers, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (outliers[i].host == outliers[index].host &&
            outliers[i].feature % all->feature_count == outliers[index].feature % all->feature_count)
            return true;
    return false;
}

/* Moves the rows of the hosts with enough samples to the front; `hosts` gets their numbers. */
static size_t keep_sampled(struct comparison *all, size_t *hosts)
{
    size_t left = 0, row = BLOCKS * all->shares.feature_count;
    for (size_t host = 0; host < all->host_count; host++) {
        if (all->sample_counts[host] < OUTLIER_LEAST_SAMPLES)
            continue;
        memmove(&all->weights[left * row], &all->weights[host * row], row * sizeof(*all->weights));
        memmove(&all->totals[left * BLOCKS], &all->totals[host * BLOCKS], BLOCKS * sizeof(*all->totals));
        hosts[left++] = host;
    }
    all->shares.host_count = left;
    return left;
}

static void print_outliers(const struct command *command, struct comparison *all, size_t *hosts)
{
    struct host_outlier outliers[MOST_FOUND];
    size_t sampled = 0, shown = 0;
    for (size_t i = 0; i < all->host_count; i++)
        sampled += all->sample_counts[i] >= OUTLIER_LEAST_SAMPLES;
    if (sampled < OUTLIER_LEAST_HOSTS) {
        print_differences(command, all);
        command_complain(command,
                         "outliers are not reported: this needs %d hosts with %d samples each; there %s %zu",
                         OUTLIER_LEAST_HOSTS, OUTLIER_LEAST_SAMPLES, sampled == 1 ? "is" : "are", sampled);
        return;
    }
    if (sampled < all->host_count)
        command_complain(command, "%zu of %zu hosts have fewer than %d samples and are not compared",
                         all->host_count - sampled, all->host_count, OUTLIER_LEAST_SAMPLES);
    (void)keep_sampled(all, hosts);
    size_t found = host_outliers_find(&all->shares, outliers, MOST_FOUND);
    for (size_t i = 0; i < found && i < MOST_FOUND; i++) {
        if (is_repeated(all, outliers, i) || shown++ >= MOST_SHOWN)
            continue;
        print_outlier(command, all, all->names[hosts[outliers[i].host]], &outliers[i]);
    }
    if (shown > MOST_SHOWN)
        command_complain(command, "hosts differ in further functions, by less");
    if (found == 0)
        command_complain(command, "no host differs significantly from the others");
}

bool host_comparison_print(const struct command *command, const struct profile *profile,
                           const char *const *names, size_t count)
{
    struct comparison all = {
        .profile = profile, .names = names, .host_count = count, .event = main_event_of(profile)};
    size_t frames = profile->frames.size;
    size_t *hosts = calloc(count + 1, sizeof(*hosts));
    all.host_of_context = calloc(profile->contexts.size + 1, sizeof(*all.host_of_context));
    all.starts = calloc(count + 1, sizeof(*all.starts));
    all.ends = calloc(count + 1, sizeof(*all.ends));
    all.sample_counts = calloc(count + 1, sizeof(*all.sample_counts));
    all.function_of = calloc(frames + 1, sizeof(*all.function_of));
    all.functions = calloc(frames + 1, sizeof(*all.functions));
    all.feature_of = calloc(frames + 1, sizeof(*all.feature_of));
    all.seen = calloc(frames + 1, sizeof(*all.seen));
    void *const owned[] = {hosts,           all.host_of_context, all.starts,     all.ends, all.sample_counts,
                           all.function_of, all.functions,       all.feature_of, all.seen};
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(owned); i++)
        good = good && owned[i] != NULL;
    good = good && find_hosts(&all) && find_functions(&all);
    if (good) {
        weigh(&all);
        choose_functions(&all);
        good = count_all(&all);
    }
    if (good && all.feature_count > 0) {
        print_matrix(command, &all);
        print_outliers(command, &all, hosts);
    }
    for (size_t i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(all.weights);
    free(all.totals);
    return good;
}
