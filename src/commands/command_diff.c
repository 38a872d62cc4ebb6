#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/picture_output.h"
#include "commands/profile_input.h"
#include "formats/folded_difference.h"
#include "model/comparison.h"

extern const struct command command_diff;

struct diff_options {
    bool normalize;
    bool strip_addresses;
    int widths; /* both, after */
};

static struct profile_input_options input_options;
static struct picture_options picture_options;
static struct diff_options diff_options;

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"normalize", 'n', OPTION_FLAG, offsetof(struct diff_options, normalize), NULL,
         "Scale the first profile to the total of the second"},
        {"strip-hex", 0, OPTION_FLAG, offsetof(struct diff_options, strip_addresses), NULL,
         "Compare names without hexadecimal addresses"},
        {"widths", 0, OPTION_CHOICE, offsetof(struct diff_options, widths), "both|after",
         "SVG: widths so that removed frames show too, or as in the second profile only", "both after"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Comparing", own, &diff_options},
        {"Output", picture_file_options, &picture_options},
        {"Selecting", profile_select_options, &input_options},
        {"Names and weights", profile_name_options, &input_options},
        {"Looks", picture_look_options, &picture_options},
        {"Reading", profile_read_options, &input_options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* The page compares two profiles by itself; everything else takes one with the events "before" and "after". */
static int write_difference(const struct picture_target *target, struct profile_input inputs[2], char **names)
{
    struct error error = {0};
    const char *side_names[2] = {names[0], names[1]};
    if (target->kind == PICTURE_HTML)
        return picture_write(target, &picture_options, &inputs[1], &inputs[0], side_names);
    uint32_t events[2] = {profile_input_main_event(&inputs[0]), profile_input_main_event(&inputs[1])};
    struct text_view kinds[2];
    for (size_t side = 0; side < 2; side++)
        kinds[side] = profile_text(&inputs[side].profile, inputs[side].profile.events[events[side]].name);
    if (!text_equal(kinds[0], kinds[1]))
        command_complain(&command_diff, "%s has %.*s, but %s has %.*s: choose one with --event", names[0],
                         TEXT_FORMAT(kinds[0]), names[1], TEXT_FORMAT(kinds[1]));
    struct comparison_options options = {
        .normalize = diff_options.normalize,
        .strip_addresses = diff_options.strip_addresses,
        .weight = inputs[1].weight,
    };
    struct profile_input both = inputs[1];
    selection_init(&both.selection);
    both.profile = (struct profile){.samples = NULL};
    both.weight = WEIGHT_VALUE;
    both.incomplete = inputs[0].incomplete || inputs[1].incomplete;
    if (picture_options.count_name == NULL)
        picture_options.count_name = profile_input_unit(&inputs[1], events[1]);
    int exit_code = EXIT_FAILED;
    if (comparison_make(&inputs[0].profile, events[0], &inputs[1].profile, events[1], &options, &both.profile,
                        &error))
        exit_code = picture_write(target, &picture_options, &both, NULL,
                                  diff_options.widths == 0 ? side_names : NULL);
    else
        command_complain(&command_diff, "%s", error.message);
    profile_release(&both.profile);
    return exit_code;
}

static double scale_to(struct profile *profile, uint32_t event, double wanted, enum weight weight)
{
    double total = 0;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].event == event)
            total += weight_of(profile, &profile->samples[i], weight);
    for (size_t i = 0; i < profile->sample_count && wanted > 0 && total > 0; i++) {
        if (profile->samples[i].event == event) {
            profile->samples[i].value *= wanted / total;
            profile->samples[i].count *= wanted / total;
        }
    }
    return total;
}

static int write_shared(const struct picture_target *target, struct profile_input *both, char **paths)
{
    const char *names[2] = {paths[0], paths[1]};
    if (diff_options.normalize)
        scale_to(&both->profile, 0, scale_to(&both->profile, 1, 0, both->weight), both->weight);
    return picture_write(target, &picture_options, both, NULL, diff_options.widths == 0 ? names : NULL);
}

/* From text to text, when nothing is asked for that needs to know what the lines mean. False: not these files. */
static bool compare_lines(const struct picture_target *target, char **paths, int *exit_code)
{
    bool is_plain = target->kind == PICTURE_FILE && strcmp(target->writer->name, "folded") == 0 &&
                    !diff_options.normalize && !diff_options.strip_addresses &&
                    profile_input_is_as_read(&input_options, "folded");
    struct folded_difference *difference =
        is_plain ? folded_difference_new(paths, (size_t)input_options.threads) : NULL;
    if (difference == NULL)
        return false;
    struct error error = {0};
    struct packed_output packed;
    bool good = picture_open(target, &packed, &error);
    if (good) {
        folded_difference_write(difference, &packed.output);
        good = packed_output_finish(&packed, &error);
    }
    if (!good)
        command_complain(&command_diff, "%s", error.message);
    folded_difference_free(difference);
    *exit_code = good ? EXIT_GOOD : EXIT_FAILED;
    return true;
}

static int compare(const struct picture_target *target, char **paths)
{
    struct profile_needs needs = picture_needs(target, &picture_options);
    struct profile_input inputs[2];
    int exit_code;
    if (compare_lines(target, paths, &exit_code))
        return exit_code;
    if (target->kind != PICTURE_HTML && !diff_options.strip_addresses) {
        bool done;
        bool good = profile_input_read_pair(&inputs[0], &command_diff, &input_options, &needs, paths, &done,
                                            &exit_code);
        if (done) {
            exit_code = good ? write_shared(target, &inputs[0], paths) : exit_code;
            profile_input_release(&inputs[0]);
            return exit_code;
        }
    }
    bool good = profile_input_read(&inputs[0], &command_diff, &input_options, &needs, paths, 1, &exit_code);
    if (good) {
        good =
            profile_input_read(&inputs[1], &command_diff, &input_options, &needs, paths + 1, 1, &exit_code);
        if (good)
            exit_code = write_difference(target, inputs, paths);
        profile_input_release(&inputs[1]);
    }
    profile_input_release(&inputs[0]);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    int operand_count;
    bool wants_help;
    profile_input_options_init(&input_options);
    picture_options_init(&picture_options);
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_diff, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_diff);
        return EXIT_GOOD;
    }
    if (operand_count != 2)
        return command_usage_error(&command_diff, "give two profiles: BEFORE and AFTER");
    if (picture_options.chart)
        return command_usage_error(&command_diff, "--flamechart cannot show a difference");
    struct picture_target target;
    int exit_code = picture_target_prepare(&target, &command_diff, &picture_options, "svg");
    if (exit_code != EXIT_GOOD)
        return exit_code;
    return compare(&target, argv + 1);
}

const struct command command_diff = {
    .name = "diff",
    .summary = "Compare two profiles: what grew, what shrank, what is new and what is gone",
    .usage = "[OPTIONS] BEFORE AFTER",
    .details =
        "Red (in the page orange) grew, blue shrank, by time with callees. Written as folded stacks,\n"
        "each line has two counts, as difffolded.pl writes them; sort them where their order matters.\n",
    .examples = "  sparkflame diff last-run.jfr this-run.jfr -o diff.html\n"
                "  sparkflame diff -n before.folded after.folded -o diff.svg\n"
                "      as shares, when one ran longer than the other\n"
                "  sparkflame diff before.folded after.folded -f folded | flamegraph.pl > diff.svg\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
