#include "commands/record/host_report.h"

#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/output.h"
#include "base/printable.h"
#include "native_sampler/host_outliers.h"

#define MOST_IN_MATRIX 16
#define MOST_NAME_WIDTH 48
#define NAME_BYTES 200

/* ---- text ---- */

/* Names come from the hosts: control characters are replaced. */
static const char *copy_name(struct text_view text, char name[NAME_BYTES])
{
    text = text_part(text, 0, NAME_BYTES - 1);
    memcpy(name, text.data, text.size);
    name[text.size] = '\0';
    make_printable(name, text.size);
    return name;
}

static const char *name_of(const struct host_comparison *all, const struct host_difference *one,
                           char name[NAME_BYTES])
{
    return copy_name(profile_frame_name(all->profile, one->frame), name);
}

/* " in stage 4 of app-1", by the application only if there are several. */
static const char *place_of(const struct host_comparison *all, const struct host_part *part,
                            char place[2 * NAME_BYTES + 32])
{
    char stage[NAME_BYTES], application[NAME_BYTES];
    bool is_other = false;
    for (size_t i = 1; i < all->part_count; i++)
        is_other |= all->parts[i].application != part->application;
    place[0] = '\0';
    if (part->stage == 0)
        return place;
    copy_name(profile_text(all->profile, part->stage), stage);
    copy_name(profile_text(all->profile, part->application), application);
    snprintf(place, 2 * NAME_BYTES + 32, " in stage %s%s%s", stage, is_other ? " of " : "",
             is_other ? application : "");
    return place;
}

static size_t matrix_size(const struct host_comparison *all)
{
    return all->host_count < HOST_MATRIX_LIMIT ? all->host_count : HOST_MATRIX_LIMIT;
}

static void print_matrix(const struct command *command, const struct host_comparison *all)
{
    struct text_builder line;
    text_builder_init(&line, 65536);
    bool is_part = all->host_count > MOST_IN_MATRIX;
    size_t stride = matrix_size(all);
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
        for (size_t j = 0; j <= i; j++) {
            double value = all->parts[0].similarity[i * stride + j];
            if (value < 0)
                text_builder_add_c_string(&line, "    -");
            else
                text_builder_format(&line, " %4.2f", value);
        }
        command_complain(command, "  %s", text_builder_c_string(&line));
    }
    text_builder_release(&line);
}

static void print_difference(const struct command *command, const struct host_comparison *all,
                             const struct host_part *part, const struct host_difference *one)
{
    char name[NAME_BYTES], place[2 * NAME_BYTES + 32];
    (void)name_of(all, one, name);
    (void)place_of(all, part, place);
    if (one->host == SIZE_MAX)
        command_complain(command, "hosts differ%s: %s has between %.1f %% and %.1f %% of a host's time",
                         place, name, 100 * one->others, 100 * one->share);
    else
        command_complain(command, "host %s differs%s: %s %s %.1f %% of its time, %.1f %% of the other hosts'",
                         all->names[one->host], place, name, one->is_self ? "itself has" : "has",
                         100 * one->share, 100 * one->others);
}

static void print_differences(const struct command *command, const struct host_comparison *all,
                              const struct host_part *part)
{
    char place[2 * NAME_BYTES + 32];
    (void)place_of(all, part, place);
    for (size_t i = 0; i < part->difference_count; i++)
        print_difference(command, all, part, &part->differences[i]);
    if (part->has_more)
        command_complain(command, "hosts differ in further functions%s, by less", place);
    if (part->names_hosts && part->difference_count == 0)
        command_complain(command, "no host differs significantly from the others%s", place);
}

void host_report_print(const struct command *command, const struct host_comparison *all)
{
    const struct host_part *whole = &all->parts[0];
    if (all->part_count == 0 || whole->present == 0)
        return;
    print_matrix(command, all);
    if (whole->names_hosts && whole->sampled < all->host_count)
        command_complain(command, "%zu of %zu hosts have fewer than %d samples and are not compared",
                         all->host_count - whole->sampled, all->host_count, OUTLIER_LEAST_SAMPLES);
    print_differences(command, all, whole);
    if (!whole->names_hosts)
        command_complain(
            command, "outliers are not reported: this needs %d hosts with %d samples each; there %s %zu",
            OUTLIER_LEAST_HOSTS, OUTLIER_LEAST_SAMPLES, whole->sampled == 1 ? "is" : "are", whole->sampled);
    for (size_t i = 1; i < all->part_count; i++)
        print_differences(command, all, &all->parts[i]);
}

/* ---- JSON ---- */

static void write_similarity(const struct host_comparison *all, const struct host_part *part,
                             struct output *json)
{
    size_t count = matrix_size(all);
    output_c_string(json, ",\"similarity\":[");
    for (size_t i = 0; i < count; i++) {
        output_c_string(json, i == 0 ? "[" : ",[");
        for (size_t j = 0; j <= i; j++) {
            double value = part->similarity[i * count + j];
            output_c_string(json, j == 0 ? "" : ",");
            if (value < 0)
                output_c_string(json, "null");
            else
                output_format(json, "%.3g", value);
        }
        output_byte(json, ']');
    }
    output_byte(json, ']');
}

static void write_difference(const struct host_comparison *all, const struct host_difference *one,
                             struct output *json)
{
    output_c_string(json, "{");
    if (one->host != SIZE_MAX)
        output_format(json, "\"host\":%zu,", one->host);
    output_c_string(json, "\"function\":");
    json_text_write(json, profile_frame_name(all->profile, one->frame));
    output_format(json, ",\"self\":%s,\"share\":%.4f,\"others\":%.4f}", one->is_self ? "true" : "false",
                  one->share, one->others);
}

static void write_part(const struct host_comparison *all, const struct host_part *part, struct output *json)
{
    output_format(json, "{\"sampled\":%zu,\"named\":%s", part->sampled, part->names_hosts ? "true" : "false");
    if (part->stage != 0) {
        output_c_string(json, ",\"stage\":");
        json_text_write(json, profile_text(all->profile, part->stage));
        output_c_string(json, ",\"application\":");
        json_text_write(json, profile_text(all->profile, part->application));
    }
    write_similarity(all, part, json);
    output_c_string(json, ",\"differences\":[");
    for (size_t i = 0; i < part->difference_count; i++) {
        output_c_string(json, i == 0 ? "" : ",");
        write_difference(all, &part->differences[i], json);
    }
    output_c_string(json, "]}");
}

bool host_report_json(const struct host_comparison *all, struct text_builder *to, struct error *error)
{
    struct output json;
    if (!output_open_memory(&json, to, error))
        return false;
    output_format(&json, "{\"needed_hosts\":%d,\"needed_samples\":%d,\"names\":[", OUTLIER_LEAST_HOSTS,
                  OUTLIER_LEAST_SAMPLES);
    for (size_t i = 0; i < all->host_count; i++) {
        output_c_string(&json, i == 0 ? "" : ",");
        json_text_write(&json, text_of(all->names[i]));
    }
    output_c_string(&json, "],\"parts\":[");
    for (size_t i = 0; i < all->part_count; i++) {
        output_c_string(&json, i == 0 ? "" : ",");
        write_part(all, &all->parts[i], &json);
    }
    output_c_string(&json, "]}");
    bool good = output_finish(&json, error);
    output_release(&json);
    return good;
}
