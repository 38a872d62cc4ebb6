#include "spark/stages/stage_methods.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/json_text.h"

struct sums {
    struct method_row *rows; /* all methods of a stage */
    size_t size, capacity;
    struct id_map places; /* string number to row */
    uint32_t *seen_in;    /* number of the last stack that a frame's name counted for, by string */
    size_t string_count;
};

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

static bool finish_item(struct stage_methods *methods, struct sums *sums, const struct stage_stack *one,
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

static bool sum_up(struct stage_methods *methods, const struct stage_stacks *stacks, struct sums *sums)
{
    for (size_t begin = 0, end; begin < stacks->size; begin = end) {
        double samples = 0;
        end = stage_stacks_end(stacks, begin);
        for (size_t i = begin; i < end; i++) {
            samples += stacks->items[i].count;
            if (!add_stack(methods->profile, sums, stacks->items[i].stack, stacks->items[i].count,
                           (uint32_t)i + 1))
                return false;
        }
        if (!finish_item(methods, sums, &stacks->items[begin], samples))
            return false;
    }
    return true;
}

bool stage_methods_init(struct stage_methods *methods, const struct stage_stacks *stacks, struct error *error)
{
    *methods = (struct stage_methods){.profile = stacks->profile, .event = stacks->event};
    if (stacks->size == 0)
        return true;
    struct sums sums = {.string_count = stacks->profile->strings.size};
    sums.seen_in = calloc(sums.string_count + 1, sizeof(*sums.seen_in));
    id_map_init(&sums.places);
    bool good = sums.seen_in != NULL && sum_up(methods, stacks, &sums);
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
