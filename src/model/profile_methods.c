#include "model/profile_methods.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"

#define NAME_BYTES ((size_t)1 << 20)

struct methods_adding {
    struct profile_methods *sums;
    const struct profile *profile;
    const struct profile_methods_options *options;
    uint32_t *methods; /* of each frame; NO_METHOD: it is no method */
    size_t *seen;      /* of each method, the last sample that had it, plus one */
    struct id_map applications;
};

void profile_methods_release(struct profile_methods *sums)
{
    string_table_release(&sums->names);
    free(sums->methods);
    free(sums->applications);
    *sums = (struct profile_methods){.total = 0};
}

static bool name_frames(struct methods_adding *adding)
{
    const struct frame_table *frames = &adding->profile->frames;
    struct text_builder text;
    bool good = true;
    text_builder_init(&text, NAME_BYTES);
    for (uint32_t i = 0; good && i < frames->size; i++) {
        adding->methods[i] = NO_METHOD;
        if (frames->frames[i].kind == FRAME_GROUP)
            continue;
        text_builder_clear(&text);
        frame_name_add(adding->profile, i, &adding->options->names, &text);
        if (text.size > 0)
            adding->methods[i] = string_table_add(&adding->sums->names, text_builder_view(&text));
        good = !text.failed && (text.size == 0 || adding->methods[i] != NO_STRING);
    }
    text_builder_release(&text);
    return good;
}

/* NULL: out of memory. */
static struct method_application *place_application(struct methods_adding *adding, uint32_t context)
{
    struct profile_methods *sums = adding->sums;
    uint32_t name = context_table_value(&adding->profile->contexts, context, LABEL_APPLICATION);
    uint32_t *place = id_map_place(&adding->applications, name);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        if (!array_reserve(&sums->applications, &sums->application_capacity, sums->application_count + 1,
                           (size_t)NO_ID - 1))
            return NULL;
        *place = (uint32_t)sums->application_count;
        sums->applications[sums->application_count++] = (struct method_application){.name = name};
    }
    return &sums->applications[*place];
}

/* What of a stack has to do with the one method. */
struct focus_place {
    uint32_t callee; /* of the innermost; NO_METHOD: it calls nothing */
    uint32_t caller; /* of the outermost */
    bool is_there;
};

static struct focus_place add_stack(struct methods_adding *adding, size_t number, double weight)
{
    struct profile_methods *sums = adding->sums;
    const struct stack_node *nodes = adding->profile->stacks.nodes;
    struct focus_place place = {.callee = NO_METHOD, .caller = NO_METHOD};
    uint32_t below = NO_METHOD;
    for (uint32_t node = adding->profile->samples[number].stack; node != STACK_ROOT;
         node = nodes[node].parent) {
        uint32_t method = adding->methods[nodes[node].frame];
        if (method == NO_METHOD)
            continue;
        if (below == NO_METHOD)
            sums->methods[method].self += weight;
        if (adding->seen[method] != number + 1)
            sums->methods[method].total += weight;
        adding->seen[method] = number + 1;
        if (method == sums->focus) {
            place.callee = place.is_there ? place.callee : below;
            place.caller = NO_METHOD;
            place.is_there = true;
        } else if (below == sums->focus && below != NO_METHOD) {
            place.caller = method;
        }
        below = method;
    }
    return place;
}

static bool add_focus(struct methods_adding *adding, const struct sample *sample,
                      const struct focus_place *place, double weight)
{
    struct profile_methods *sums = adding->sums;
    struct method_application *application = place_application(adding, sample->context);
    if (application == NULL)
        return false;
    application->all += weight;
    if (!place->is_there)
        return true;
    application->total += weight;
    if (place->callee == NO_METHOD)
        application->self += weight;
    else
        sums->methods[place->callee].called_by_focus += weight;
    if (place->caller == NO_METHOD)
        sums->focus_is_root += weight;
    else
        sums->methods[place->caller].calls_focus += weight;
    return true;
}

static bool add_samples(struct methods_adding *adding)
{
    const struct profile *profile = adding->profile;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        double weight =
            sample->event == adding->options->event ? weight_of(profile, sample, adding->options->weight) : 0;
        if (weight == 0)
            continue;
        adding->sums->total += weight;
        struct focus_place place = add_stack(adding, i, weight);
        if (adding->options->focus.size > 0 && !add_focus(adding, sample, &place, weight))
            return false;
    }
    return true;
}

bool profile_methods_init(struct profile_methods *sums, const struct profile *profile,
                          const struct profile_methods_options *options, struct error *error)
{
    struct methods_adding adding = {.sums = sums, .profile = profile, .options = options};
    *sums = (struct profile_methods){.focus = NO_METHOD};
    id_map_init(&adding.applications);
    adding.methods = malloc((profile->frames.size + 1) * sizeof(*adding.methods));
    bool good = string_table_init(&sums->names, PROFILE_STRING_LIMIT_BYTES) && adding.methods != NULL &&
                name_frames(&adding);
    if (good) {
        sums->methods = calloc(sums->names.size + 1, sizeof(*sums->methods));
        adding.seen = calloc(sums->names.size + 1, sizeof(*adding.seen));
        if (options->focus.size > 0)
            sums->focus = string_table_find(&sums->names, options->focus);
        good = sums->methods != NULL && adding.seen != NULL && add_samples(&adding);
    }
    id_map_release(&adding.applications);
    free(adding.methods);
    free(adding.seen);
    return good || error_set_memory(error);
}
