#include "spark/stage_methods.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/json_text.h"

/* A sample's stage; `samples` of equal stage and stack are summed up. */
struct placed_sample {
    int64_t stage;
    int64_t attempt;
    uint32_t stack;
    double count;
};

struct sums {
    struct method_row *rows; /* all methods of a stage */
    size_t size, capacity;
    struct id_map places; /* string number to row */
    uint32_t *seen_in;    /* number of the last stack that a frame's name counted for, by string */
    size_t string_count;
};

static bool whole_number(struct text_view text, int64_t *number)
{
    *number = 0;
    if (text.size == 0 || text.size > 18)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number = *number * 10 + (text.data[i] - '0');
    }
    return true;
}

static uint32_t main_event(const struct profile *profile)
{
    double counts[EVENT_LIMIT] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < profile->sample_count; i++)
        counts[profile->samples[i].event] += profile->samples[i].count;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        if (counts[i] > 0 && text_equal(profile_text(profile, profile->events[i].name), TEXT("cpu")))
            return i;
        best = counts[i] > counts[best] ? i : best;
    }
    return best;
}

static bool place_sample(const struct profile *profile, const struct sample *sample,
                         struct placed_sample *placed)
{
    uint32_t stage = context_table_value(&profile->contexts, sample->context, LABEL_STAGE);
    uint32_t attempt = context_table_value(&profile->contexts, sample->context, LABEL_STAGE_ATTEMPT);
    *placed = (struct placed_sample){.stack = sample->stack, .count = sample->count};
    if (stage == 0 || !whole_number(profile_text(profile, stage), &placed->stage))
        return false;
    if (attempt != 0 && !whole_number(profile_text(profile, attempt), &placed->attempt))
        placed->attempt = 0;
    return true;
}

static int compare_placed(const void *left, const void *right)
{
    const struct placed_sample *a = left, *b = right;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? -1 : 1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

static struct method_row *row_of(struct sums *sums, uint32_t name)
{
    uint32_t *place = id_map_place(&sums->places, name);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&sums->rows, &sums->capacity, sums->size + 1, UINT32_MAX))
            return NULL;
        *place = (uint32_t)sums->size;
        sums->rows[sums->size++] = (struct method_row){.name = name};
    }
    return &sums->rows[*place];
}

/* Each method of the stack counts once, however often it is on it. */
static bool add_stack(const struct profile *profile, struct sums *sums, uint32_t stack, double count,
                      uint32_t stamp)
{
    bool is_first = true;
    for (uint32_t node = stack; node != STACK_ROOT; node = profile->stacks.nodes[node].parent) {
        uint32_t name = profile->frames.frames[profile->stacks.nodes[node].frame].name;
        if (!is_first && sums->seen_in[name] == stamp)
            continue;
        struct method_row *row = row_of(sums, name);
        if (row == NULL)
            return false;
        row->self += is_first ? count : 0;
        row->total += count;
        sums->seen_in[name] = stamp;
        is_first = false;
    }
    return true;
}

static int compare_rows(const void *left, const void *right)
{
    const struct method_row *a = left, *b = right;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static bool finish_item(struct stage_methods *methods, struct sums *sums, const struct placed_sample *one,
                        double samples)
{
    if (!array_reserve(&methods->items, &methods->capacity, methods->size + 1, SIZE_MAX / 1024))
        return false;
    struct stage_methods_item *item = &methods->items[methods->size++];
    *item = (struct stage_methods_item){.stage = one->stage, .attempt = one->attempt, .samples = samples};
    if (sums->size > 0)
        qsort(sums->rows, sums->size, sizeof(*sums->rows), compare_rows);
    for (; item->row_count < STAGE_METHODS_MOST && item->row_count < sums->size; item->row_count++) {
        if (sums->rows[item->row_count].self <= 0)
            break;
        item->rows[item->row_count] = sums->rows[item->row_count];
    }
    sums->size = 0;
    id_map_clear(&sums->places);
    return true;
}

static bool sum_up(struct stage_methods *methods, const struct placed_sample *placed, size_t count,
                   struct sums *sums)
{
    double samples = 0, of_stack = 0;
    uint32_t stamp = 0;
    for (size_t i = 0; i < count; i++) {
        const struct placed_sample *one = &placed[i], *next = i + 1 < count ? &placed[i + 1] : NULL;
        bool ends_stage = next == NULL || next->stage != one->stage || next->attempt != one->attempt;
        of_stack += one->count;
        samples += one->count;
        if (!ends_stage && next->stack == one->stack)
            continue;
        if (!add_stack(methods->profile, sums, one->stack, of_stack, ++stamp))
            return false;
        of_stack = 0;
        if (ends_stage && !finish_item(methods, sums, one, samples))
            return false;
        samples = ends_stage ? 0 : samples;
    }
    return true;
}

bool stage_methods_init(struct stage_methods *methods, const struct profile *profile, struct error *error)
{
    *methods = (struct stage_methods){.profile = profile};
    if (profile == NULL || profile->sample_count == 0)
        return true;
    methods->event = main_event(profile);
    struct sums sums = {.string_count = profile->strings.size};
    struct placed_sample *placed = malloc(profile->sample_count * sizeof(*placed));
    sums.seen_in = calloc(sums.string_count + 1, sizeof(*sums.seen_in));
    id_map_init(&sums.places);
    bool good = placed != NULL && sums.seen_in != NULL;
    size_t count = 0;
    for (size_t i = 0; good && i < profile->sample_count; i++)
        if (profile->samples[i].event == methods->event)
            count += place_sample(profile, &profile->samples[i], &placed[count]);
    if (good && count > 0) {
        qsort(placed, count, sizeof(*placed), compare_placed);
        good = sum_up(methods, placed, count, &sums);
    }
    free(placed);
    free(sums.seen_in);
    free(sums.rows);
    id_map_release(&sums.places);
    if (good)
        return true;
    stage_methods_release(methods);
    return error_set_memory(error);
}

void stage_methods_release(struct stage_methods *methods)
{
    free(methods->items);
    *methods = (struct stage_methods){.size = 0};
}

const struct stage_methods_item *stage_methods_find(const struct stage_methods *methods, int64_t stage,
                                                    int64_t attempt)
{
    for (size_t i = 0; i < methods->size; i++)
        if (methods->items[i].stage == stage && methods->items[i].attempt == attempt)
            return &methods->items[i];
    return NULL;
}

void stage_methods_write_json(const struct stage_methods *methods, struct output *output)
{
    const struct profile *profile = methods->profile;
    output_byte(output, '[');
    for (size_t i = 0; i < methods->size; i++) {
        const struct stage_methods_item *item = &methods->items[i];
        output_format(output,
                      "%s\n{\"stage\":%" PRId64 ",\"attempt\":%" PRId64 ",\"event\":", i == 0 ? "" : ",",
                      item->stage, item->attempt);
        json_text_write(output, profile_text(profile, profile->events[methods->event].name));
        output_format(output, ",\"samples\":%.17g,\"top\":[", item->samples);
        for (size_t j = 0; j < item->row_count; j++) {
            output_c_string(output, j == 0 ? "{\"method\":" : ",{\"method\":");
            json_text_write(output, profile_text(profile, item->rows[j].name));
            output_format(output, ",\"self\":%.17g,\"total\":%.17g}", item->rows[j].self,
                          item->rows[j].total);
        }
        output_c_string(output, "]}");
    }
    output_byte(output, ']');
}
