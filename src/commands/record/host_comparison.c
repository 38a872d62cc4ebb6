#include "commands/record/host_comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "commands/record/host_merge.h"
#include "model/main_event.h"
#include "native_sampler/host_outliers.h"

#define BLOCKS 30
#define MOST_FUNCTIONS 60
#define MOST_FOUND 64
#define MOST_RANGES 5
#define MOST_STAGES 4096
#define LENGTH_OF_SAMPLE_NS 1e7

struct function_weight {
    uint32_t frame; /* one of its frames, for the name */
    double weight;
};

struct stage_weight {
    uint32_t application, stage; /* strings */
    uint32_t number;
    double weight;
};

/* Of all samples, or of those of one stage. */
struct comparison {
    const struct profile *profile;
    const char *const *names;
    size_t host_count;
    uint32_t event;
    bool has_lengths;           /* samples are pieces of time: their value is how long, from their time on */
    uint32_t part;              /* of the stages; NO_ID: all samples are compared */
    uint32_t *host_of_context;  /* NO_ID: none */
    uint32_t *stage_of_context; /* NO_ID: none */
    struct stage_weight *stages;
    size_t stage_count, stage_capacity;
    int64_t *starts, *ends; /* of each host's samples */
    double *sample_counts;
    uint32_t *function_of;  /* of each frame; NO_ID: no function */
    uint32_t *first_frames; /* of each function */
    struct function_weight *functions;
    uint32_t *feature_of; /* of each function; NO_ID: not compared */
    uint32_t *seen;       /* by function: the last stack that had it, counted from 1 */
    size_t function_count, feature_count;
    struct host_shares shares; /* features are totals of the functions, then what these have themselves */
    double *weights, *totals;
};

static void release_part(struct host_part *part)
{
    free(part->similarity);
    *part = (struct host_part){.stage = 0};
}

/* ---- what there is ---- */

static bool find_stage(struct comparison *all, struct id_map *known, uint32_t context)
{
    const struct context_table *contexts = &all->profile->contexts;
    uint32_t stage = context_table_value(contexts, context, LABEL_STAGE);
    uint32_t application = context_table_value(contexts, context, LABEL_APPLICATION);
    all->stage_of_context[context] = NO_ID;
    if (stage == 0)
        return true;
    uint32_t *place = id_map_place(known, (uint64_t)application << 32 | stage);
    if (place == NULL)
        return false;
    if (*place == NO_ID && all->stage_count < MOST_STAGES) {
        // NOLINTNEXTLINE(bugprone-sizeof-expression)
        if (!array_reserve(&all->stages, &all->stage_capacity, all->stage_count + 1, MOST_STAGES))
            return false;
        *place = (uint32_t)all->stage_count++;
        all->stages[*place] = (struct stage_weight){application, stage, *place, 0};
    }
    all->stage_of_context[context] = *place;
    return true;
}

static bool find_stages(struct comparison *all)
{
    struct id_map known; /* by application and stage */
    id_map_init(&known);
    bool good = true;
    for (uint32_t i = 0; good && i < all->profile->contexts.size; i++)
        good = find_stage(all, &known, i);
    id_map_release(&known);
    return good;
}

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
            all->first_frames[all->function_count] = i;
            *place = (uint32_t)all->function_count++;
        }
        all->function_of[i] = good ? *place : NO_ID;
    }
    id_map_release(&function_of);
    return good;
}

static uint32_t host_of(const struct comparison *all, const struct sample *sample)
{
    bool is_compared = sample->event == all->event && sample->time_ns != NO_TIME &&
                       (all->part == NO_ID || all->stage_of_context[sample->context] == all->part);
    return is_compared ? all->host_of_context[sample->context] : NO_ID;
}

static bool has_lengths(const struct profile *profile, uint32_t number)
{
    if (number >= profile->event_count)
        return false;
    struct text_view name = profile_text(profile, profile->events[number].name);
    return profile->events[number].unit == UNIT_NANOSECONDS &&
           (text_equal(name, TEXT("wall")) || text_equal(name, TEXT("offcpu")));
}

static int64_t end_of(const struct comparison *all, const struct sample *sample)
{
    return sample->time_ns + (all->has_lengths ? (int64_t)sample->value : 0);
}

/* A host whose threads wait for long has few waits, which are known exactly. */
static double count_of(const struct comparison *all, const struct sample *sample)
{
    double pieces = all->has_lengths ? sample->value / LENGTH_OF_SAMPLE_NS : 0;
    return pieces > sample->count ? pieces : sample->count;
}

static void weigh(struct comparison *all)
{
    const struct stack_node *nodes = all->profile->stacks.nodes;
    for (size_t i = 0; i < all->function_count; i++)
        all->functions[i] = (struct function_weight){all->first_frames[i], 0};
    for (size_t i = 0; i < all->host_count; i++)
        all->sample_counts[i] = 0;
    memset(all->seen, 0, all->profile->frames.size * sizeof(*all->seen));
    all->feature_count = 0;
    for (size_t i = 0; i < all->profile->sample_count; i++) {
        const struct sample *sample = &all->profile->samples[i];
        uint32_t host = host_of(all, sample);
        if (host == NO_ID)
            continue;
        bool is_first = all->sample_counts[host] == 0;
        if (is_first || sample->time_ns < all->starts[host])
            all->starts[host] = sample->time_ns;
        if (is_first || end_of(all, sample) > all->ends[host])
            all->ends[host] = end_of(all, sample);
        all->sample_counts[host] += count_of(all, sample);
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

/* Adds the functions of a stack, in one block of the host's time. */
static void add_stack(struct comparison *all, uint32_t stack, size_t row, double value, uint32_t mark)
{
    const struct stack_node *nodes = all->profile->stacks.nodes;
    double *weights = &all->weights[row * all->shares.feature_count];
    all->totals[row] += value;
    for (uint32_t node = stack; node != STACK_ROOT; node = nodes[node].parent) {
        uint32_t function = all->function_of[nodes[node].frame];
        uint32_t feature = function == NO_ID ? NO_ID : all->feature_of[function];
        if (feature == NO_ID)
            continue;
        if (node == stack)
            weights[all->feature_count + feature] += value;
        if (all->seen[function] != mark)
            weights[feature] += value;
        all->seen[function] = mark;
    }
}

/* Its time may be that of several blocks. */
static void count_sample(struct comparison *all, const struct sample *sample, uint32_t host, uint32_t *mark)
{
    double start = (double)all->starts[host], block_ns = ((double)all->ends[host] - start + 1) / BLOCKS;
    double from = ((double)sample->time_ns - start) / block_ns;
    double to = ((double)end_of(all, sample) - start) / block_ns;
    size_t first = (size_t)from, last = (size_t)to < BLOCKS ? (size_t)to : BLOCKS - 1;
    for (size_t block = first; block <= last; block++) {
        double begin = from > (double)block ? from : (double)block;
        double end = to < (double)block + 1 ? to : (double)block + 1;
        double part = first == last ? 1 : (end - begin) / (to - from);
        add_stack(all, sample->stack, host * BLOCKS + block, part * sample->value, ++*mark);
    }
}

static bool count_all(struct comparison *all)
{
    size_t rows = all->host_count * BLOCKS;
    all->shares = (struct host_shares){
        .host_count = all->host_count, .block_count = BLOCKS, .feature_count = 2 * all->feature_count};
    all->weights = calloc(rows * all->shares.feature_count + 1, sizeof(*all->weights));
    all->totals = calloc(rows + 1, sizeof(*all->totals));
    if (all->weights == NULL || all->totals == NULL)
        return false;
    memset(all->seen, 0, all->profile->frames.size * sizeof(*all->seen));
    uint32_t mark = 0;
    for (size_t i = 0; i < all->profile->sample_count; i++) {
        uint32_t host = host_of(all, &all->profile->samples[i]);
        if (host != NO_ID)
            count_sample(all, &all->profile->samples[i], host, &mark);
    }
    all->shares.weights = all->weights;
    all->shares.totals = all->totals;
    return true;
}

/* ---- what differs ---- */

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
static void keep_ranges(const struct comparison *all, struct host_part *part)
{
    struct share_range ranges[MOST_FUNCTIONS];
    for (size_t i = 0; i < all->feature_count; i++)
        ranges[i] = range_of(all, i);
    qsort(ranges, all->feature_count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < all->feature_count && i < MOST_RANGES; i++)
        if (ranges[i].maximum - ranges[i].minimum >= OUTLIER_LEAST_DIFFERENCE)
            part->differences[part->difference_count++] =
                (struct host_difference){SIZE_MAX, all->functions[ranges[i].feature].frame, false,
                                         ranges[i].maximum, ranges[i].minimum};
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
static void keep_sampled(struct comparison *all, size_t *hosts)
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
}

static void keep_outliers(struct comparison *all, const size_t *hosts, struct host_part *part)
{
    struct host_outlier outliers[MOST_FOUND];
    size_t found = host_outliers_find(&all->shares, outliers, MOST_FOUND);
    for (size_t i = 0; i < found && i < MOST_FOUND; i++) {
        const struct host_outlier *one = &outliers[i];
        if (is_repeated(all, outliers, i))
            continue;
        part->has_more = part->difference_count == HOST_DIFFERENCE_LIMIT;
        if (part->has_more)
            return;
        part->differences[part->difference_count++] = (struct host_difference){
            hosts[one->host], all->functions[one->feature % all->feature_count].frame,
            one->feature >= all->feature_count, one->share, one->median};
    }
}

static bool keep_similarity(const struct comparison *all, struct host_part *part)
{
    size_t count = all->host_count < HOST_MATRIX_LIMIT ? all->host_count : HOST_MATRIX_LIMIT;
    part->similarity = calloc(count * count + 1, sizeof(*part->similarity));
    for (size_t i = 0; part->similarity != NULL && i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            bool is_known = all->sample_counts[i] > 0 && all->sample_counts[j] > 0;
            part->similarity[i * count + j] = part->similarity[j * count + i] =
                is_known ? host_similarity(&all->shares, i, j) : -1;
        }
    return part->similarity != NULL;
}

/* ---- all samples, and each stage ---- */

static bool compare_part(struct comparison *all, struct host_part *part, size_t comparisons, size_t *hosts)
{
    weigh(all);
    choose_functions(all);
    free(all->weights);
    free(all->totals);
    if (!count_all(all) || !keep_similarity(all, part))
        return false;
    for (size_t i = 0; i < all->host_count; i++) {
        part->present += all->sample_counts[i] > 0;
        part->sampled += all->sample_counts[i] >= OUTLIER_LEAST_SAMPLES;
    }
    part->names_hosts = part->sampled >= OUTLIER_LEAST_HOSTS;
    all->shares.comparison_count = comparisons;
    if (!part->names_hosts) {
        keep_ranges(all, part);
        return true;
    }
    keep_sampled(all, hosts);
    keep_outliers(all, hosts, part);
    return true;
}

static int compare_stages(const void *left, const void *right)
{
    const struct stage_weight *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The heaviest ones, which run on two and more hosts; sorts them. */
static size_t choose_stages(struct comparison *all)
{
    size_t count = 0;
    for (size_t i = 0; i < all->profile->sample_count; i++) {
        const struct sample *sample = &all->profile->samples[i];
        uint32_t stage = all->stage_of_context[sample->context];
        if (stage != NO_ID && host_of(all, sample) != NO_ID)
            all->stages[stage].weight += sample->value;
    }
    if (all->stage_count > 0)
        qsort(all->stages, all->stage_count, sizeof(*all->stages), compare_stages);
    while (count < HOST_STAGE_LIMIT && count < all->stage_count && all->stages[count].weight > 0)
        count++;
    return count;
}

static bool compare_all(struct comparison *all, struct host_comparison *found)
{
    size_t *hosts = calloc(all->host_count + 1, sizeof(*hosts));
    size_t stages = choose_stages(all);
    bool good = hosts != NULL && compare_part(all, &found->parts[0], 1 + stages, hosts);
    found->part_count = 1;
    for (size_t i = 0; good && i < stages; i++) {
        struct host_part *part = &found->parts[found->part_count];
        part->application = all->stages[i].application;
        part->stage = all->stages[i].stage;
        all->part = all->stages[i].number;
        good = compare_part(all, part, 1 + stages, hosts);
        if (good && part->present > 1)
            found->part_count++;
        else
            release_part(part);
    }
    free(hosts);
    return good;
}

bool host_comparison_make(struct host_comparison *found, const struct profile *profile,
                          const char *const *names, size_t count, struct error *error)
{
    struct comparison all = {.profile = profile,
                             .names = names,
                             .host_count = count,
                             .event = main_event_of(profile),
                             .part = NO_ID};
    all.has_lengths = has_lengths(profile, all.event);
    size_t frames = profile->frames.size, contexts = profile->contexts.size;
    *found = (struct host_comparison){.profile = profile, .names = names, .host_count = count};
    all.host_of_context = calloc(contexts + 1, sizeof(*all.host_of_context));
    all.stage_of_context = calloc(contexts + 1, sizeof(*all.stage_of_context));
    all.starts = calloc(count + 1, sizeof(*all.starts));
    all.ends = calloc(count + 1, sizeof(*all.ends));
    all.sample_counts = calloc(count + 1, sizeof(*all.sample_counts));
    all.function_of = calloc(frames + 1, sizeof(*all.function_of));
    all.first_frames = calloc(frames + 1, sizeof(*all.first_frames));
    all.functions = calloc(frames + 1, sizeof(*all.functions));
    all.feature_of = calloc(frames + 1, sizeof(*all.feature_of));
    all.seen = calloc(frames + 1, sizeof(*all.seen));
    void *const owned[] = {
        all.host_of_context, all.stage_of_context, all.starts,     all.ends, all.sample_counts,
        all.function_of,     all.functions,        all.feature_of, all.seen, all.first_frames};
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(owned); i++)
        good = good && owned[i] != NULL;
    good = good && find_hosts(&all) && find_stages(&all) && find_functions(&all) && compare_all(&all, found);
    for (size_t i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(all.stages);
    free(all.weights);
    free(all.totals);
    return good || error_set_memory(error);
}

void host_comparison_release(struct host_comparison *comparison)
{
    for (size_t i = 0; i < comparison->part_count; i++)
        release_part(&comparison->parts[i]);
    comparison->part_count = 0;
}
