#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/picture/picture_difference.h"
#include "commands/picture/picture_output.h"
#include "commands/picture/profile_input.h"
#include "formats/folded/folded_difference.h"

extern const struct command command_diff;

static struct profile_input_options input_options;
static struct picture_options picture_options;
static struct difference_options diff_options;

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"normalize", 'n', OPTION_FLAG, offsetof(struct difference_options, normalize), NULL,
         "Scale the first profile to the total of the second"},
        {"strip-hex", 0, OPTION_FLAG, offsetof(struct difference_options, strip_addresses), NULL,
         "Compare names without hexadecimal addresses"},
        {"widths", 0, OPTION_CHOICE, offsetof(struct difference_options, widths), "both|after",
         "SVG: widths from both profiles, so that removed frames are visible, or from the second only",
         "both after"},
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

/* From text to text, if no option needs the lines to be parsed. False: not for these files. */
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
            exit_code = picture_difference_write(target, &picture_options, &diff_options, inputs,
                                                 (const char *const *)paths);
        profile_input_release(&inputs[1]);
    }
    profile_input_release(&inputs[0]);
    return exit_code;
}

static int run(int argc, char **argv)
{
    int operand_count, exit_code;
    profile_input_options_init(&input_options);
    picture_options_init(&picture_options);
    if (!command_parse_options(&command_diff, argc, argv, &operand_count, &exit_code))
        return exit_code;
    if (operand_count != 2)
        return command_usage_error(&command_diff, "give two profiles: BEFORE and AFTER");
    if (picture_options.chart)
        return command_usage_error(&command_diff, "--flamechart cannot show a difference");
    struct picture_target target;
    exit_code = picture_target_prepare(&target, &command_diff, &picture_options, "svg");
    if (exit_code != EXIT_GOOD)
        return exit_code;
    return compare(&target, argv + 1);
}

const struct command command_diff = {
    .name = "diff",
    .summary = "Compare two profiles: what grew, shrank, appeared or disappeared",
    .usage = "[OPTIONS] BEFORE AFTER",
    .details = "Red (in the page: orange) means growth, blue the opposite, by total time. Folded output has\n"
               "two counts per line, like difffolded.pl; sort it if the order matters.\n",
    .examples = "  sparkflame diff last-run.jfr this-run.jfr -o diff.html\n"
                "  sparkflame diff -n before.folded after.folded -o diff.svg\n"
                "      by share, if one ran longer than the other\n"
                "  sparkflame diff before.folded after.folded -f folded | flamegraph.pl > diff.svg\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
