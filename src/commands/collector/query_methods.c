#include "commands/collector/query_methods.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "model/profile_methods.h"

struct method_listing {
    const struct method_query *query;
    struct profile_methods sums;
    struct output *output;
    uint32_t *order; /* room for all methods or applications */
};

/* ---- in which order ---- */

/* What rows are ordered by, the largest first. */
enum order_key { BY_SELF, BY_TOTAL, BY_CALLER, BY_CALLEE };

static double key_of(const struct method_sum *sum, enum order_key key)
{
    const double values[] = {sum->self, sum->total, sum->calls_focus, sum->called_by_focus};
    return values[key];
}

struct ordering {
    const struct profile_methods *sums;
    enum order_key key;
};

static int compare_methods(const void *left, const void *right, void *context)
{
    const struct ordering *ordering = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct method_sum *methods = ordering->sums->methods;
    double value_a = key_of(&methods[a], ordering->key), value_b = key_of(&methods[b], ordering->key);
    if (value_a != value_b)
        return value_a > value_b ? -1 : 1;
    if (methods[a].total != methods[b].total)
        return methods[a].total > methods[b].total ? -1 : 1;
    return text_compare(profile_methods_name(ordering->sums, a), profile_methods_name(ordering->sums, b));
}

static int compare_applications(const void *left, const void *right, void *context)
{
    const struct profile_methods *sums = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    double value_a = sums->applications[a].total, value_b = sums->applications[b].total;
    return value_a != value_b ? (value_a > value_b ? -1 : 1) : (a > b) - (a < b);
}

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool has_text(struct text_view name, struct text_view part)
{
    for (size_t at = 0; at + part.size <= name.size; at++) {
        size_t same = 0;
        while (same < part.size && lower(name.data[at + same]) == lower(part.data[same]))
            same++;
        if (same == part.size)
            return true;
    }
    return false;
}

/* How many methods have a value, listed in `order`. */
static size_t list_methods(struct method_listing *listing, enum order_key key)
{
    const struct profile_methods *sums = &listing->sums;
    struct ordering ordering = {sums, key};
    struct text_view search = text_of(listing->query->search == NULL ? "" : listing->query->search);
    size_t count = 0;
    for (uint32_t i = 0; i < sums->names.size; i++)
        if (key_of(&sums->methods[i], key == BY_SELF ? BY_TOTAL : key) > 0 &&
            has_text(profile_methods_name(sums, i), search))
            listing->order[count++] = i;
    if (count > 0)
        qsort_r(listing->order, count, sizeof(*listing->order), compare_methods, &ordering);
    return count;
}

/* ---- JSON ---- */

static void write_head(const struct method_listing *listing, struct profile_input *input, uint32_t event)
{
    struct output *output = listing->output;
    struct text_view name = profile_text(&input->profile, input->profile.events[event].name);
    const char *unit = profile_input_unit(input, event);
    long long ns_per_unit = strcmp(unit, "ns") == 0          ? 1
                            : strcmp(unit, "samples") != 0   ? 0
                            : text_equal(name, TEXT("cpu"))  ? QUERY_CPU_INTERVAL_NS
                            : text_equal(name, TEXT("wall")) ? QUERY_WALL_INTERVAL_NS
                                                             : 0;
    output_c_string(output, "{\"event\":");
    json_text_write(output, name);
    output_format(output, ",\"unit\":\"%s\",\"ns_per_unit\":%lld,\"total\":%.15g", unit, ns_per_unit,
                  listing->sums.total);
}

static void write_hot_spots(struct method_listing *listing)
{
    size_t count = list_methods(listing, listing->query->by_total ? BY_TOTAL : BY_SELF);
    output_format(listing->output, ",\"found\":%zu,\"methods\":[", count);
    for (size_t i = 0; i < count && i < listing->query->top; i++) {
        const struct method_sum *sum = &listing->sums.methods[listing->order[i]];
        output_c_string(listing->output, i > 0 ? ",{\"method\":" : "{\"method\":");
        json_text_write(listing->output, profile_methods_name(&listing->sums, listing->order[i]));
        output_format(listing->output, ",\"self\":%.15g,\"total\":%.15g}", sum->self, sum->total);
    }
    output_c_string(listing->output, "]}\n");
}

static void write_neighbours(struct method_listing *listing, const char *name, enum order_key key)
{
    size_t count = list_methods(listing, key);
    output_format(listing->output, ",\"%s\":[", name);
    for (size_t i = 0; i < count && i < listing->query->top; i++) {
        output_c_string(listing->output, i > 0 ? ",{\"method\":" : "{\"method\":");
        json_text_write(listing->output, profile_methods_name(&listing->sums, listing->order[i]));
        output_format(listing->output, ",\"weight\":%.15g}",
                      key_of(&listing->sums.methods[listing->order[i]], key));
    }
    output_byte(listing->output, ']');
}

static void write_applications(struct method_listing *listing, const struct profile *profile)
{
    struct profile_methods *sums = &listing->sums;
    size_t count = 0;
    for (uint32_t i = 0; i < sums->application_count; i++)
        if (sums->applications[i].total > 0)
            listing->order[count++] = i;
    if (count > 0)
        qsort_r(listing->order, count, sizeof(*listing->order), compare_applications, sums);
    output_c_string(listing->output, ",\"applications\":[");
    for (size_t i = 0; i < count && i < listing->query->top; i++) {
        const struct method_application *application = &sums->applications[listing->order[i]];
        output_c_string(listing->output, i > 0 ? ",{\"application\":" : "{\"application\":");
        json_text_write(listing->output, profile_text(profile, application->name));
        output_format(listing->output, ",\"self\":%.15g,\"total\":%.15g,\"all\":%.15g}", application->self,
                      application->total, application->all);
    }
    output_byte(listing->output, ']');
}

static void write_method(struct method_listing *listing, const struct profile *profile)
{
    const struct method_sum *sum = &listing->sums.methods[listing->sums.focus];
    output_c_string(listing->output, ",\"method\":");
    json_text_write(listing->output, profile_methods_name(&listing->sums, listing->sums.focus));
    output_format(listing->output, ",\"self\":%.15g,\"method_total\":%.15g,\"outermost\":%.15g", sum->self,
                  sum->total, listing->sums.focus_is_root);
    write_neighbours(listing, "callers", BY_CALLER);
    write_neighbours(listing, "callees", BY_CALLEE);
    write_applications(listing, profile);
    output_c_string(listing->output, "}\n");
}

bool query_methods_write(struct profile_input *input, const struct method_query *query, struct output *output,
                         struct error *error)
{
    struct method_listing listing = {.query = query, .output = output};
    uint32_t event = profile_input_main_event(input);
    struct profile_methods_options options = {.event = event,
                                              .weight = input->weight,
                                              .names = input->names,
                                              .focus = text_of(query->method == NULL ? "" : query->method)};
    /* So that a lambda is one method in all JVMs. */
    options.names.normalize = true;
    bool good = profile_methods_init(&listing.sums, &input->profile, &options, error);
    if (good && query->method != NULL && listing.sums.focus == NO_METHOD)
        good = error_set(error, ERROR_BAD_INPUT, "no sample has this method");
    if (good) {
        size_t rows = listing.sums.names.size + listing.sums.application_count;
        listing.order = malloc((rows + 1) * sizeof(*listing.order));
        good = listing.order != NULL || error_set_memory(error);
    }
    if (good) {
        write_head(&listing, input, event);
        if (query->method == NULL)
            write_hot_spots(&listing);
        else
            write_method(&listing, &input->profile);
    }
    free(listing.order);
    profile_methods_release(&listing.sums);
    return good;
}
