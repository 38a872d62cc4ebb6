#include "commands/picture/picture_difference.h"

#include "model/comparison.h"

/* The page compares two profiles itself; other outputs get one with the events "before" and "after". */
int picture_difference_write(const struct picture_target *target, struct picture_options *picture,
                             const struct difference_options *difference, struct profile_input inputs[2],
                             const char *const names[2])
{
    struct error error = {0};
    if (target->kind == PICTURE_HTML)
        return picture_write(target, picture, &inputs[1], &inputs[0], names);
    uint32_t events[2] = {profile_input_main_event(&inputs[0]), profile_input_main_event(&inputs[1])};
    struct text_view kinds[2];
    for (size_t side = 0; side < 2; side++)
        kinds[side] = profile_text(&inputs[side].profile, inputs[side].profile.events[events[side]].name);
    if (!text_equal(kinds[0], kinds[1]))
        command_complain(inputs[1].command, "%s has %.*s, but %s has %.*s: choose one with --event", names[0],
                         TEXT_FORMAT(kinds[0]), names[1], TEXT_FORMAT(kinds[1]));
    struct comparison_options options = {
        .normalize = difference->normalize,
        .strip_addresses = difference->strip_addresses,
        .weight = inputs[1].weight,
    };
    struct profile_input both = inputs[1];
    selection_init(&both.selection);
    both.profile = (struct profile){.samples = NULL};
    both.weight = WEIGHT_VALUE;
    both.incomplete = inputs[0].incomplete || inputs[1].incomplete;
    if (picture->count_name == NULL)
        picture->count_name = profile_input_unit(&inputs[1], events[1]);
    int exit_code = EXIT_FAILED;
    if (comparison_make(&inputs[0].profile, events[0], &inputs[1].profile, events[1], &options, &both.profile,
                        &error))
        exit_code = picture_write(target, picture, &both, NULL, difference->widths == 0 ? names : NULL);
    else
        command_complain(inputs[1].command, "%s", error.message);
    profile_release(&both.profile);
    return exit_code;
}
