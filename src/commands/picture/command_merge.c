#include <stddef.h>

#include "commands/picture/merge_input.h"
#include "commands/picture/picture_command.h"

extern const struct command command_merge;

static struct profile_input_options input_options;
static struct picture_options picture_options;

#define AT(field) offsetof(struct profile_input_options, field)

static const struct option merge_options[] = {
    {"resolution", 0, OPTION_NUMBER, AT(resolution), "SECONDS",
     "Round times of samples down to multiples of this; 0 keeps them (default: 10)"},
    {"skip-broken", 0, OPTION_FLAG, AT(skip_broken), NULL,
     "Exit with status 0 although files were skipped that cannot be read"},
    {"tar", 0, OPTION_FLAG, AT(tar), NULL, "Files are tar archives of the files to merge; \"-\" is one, too"},
    {"partial", 0, OPTION_FLAG, AT(partial), NULL,
     "Write what another merge with the same options needs of these files, instead of the files"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Output", picture_file_options, &picture_options},
        {"Tables", picture_table_options, &picture_options},
        {"Merging", merge_options, &input_options},
        {"Selecting", profile_select_options, &input_options},
        {"Names and weights", profile_name_options, &input_options},
        {"Reading", profile_read_options, &input_options},
        {NULL, NULL, NULL},
    };
    return all;
}

static int run(int argc, char **argv)
{
    struct picture_command call = {
        .command = &command_merge,
        .input = &input_options,
        .picture = &picture_options,
        .fallback = "folded",
        .read_files = merge_input_read_files,
    };
    return picture_command_run(&call, argc, argv);
}

const struct command command_merge = {
    .name = "merge",
    .summary = "Sum up many profiles on all processors; the result does not depend on their order",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .examples = "  sparkflame merge profiles/ -o merged.pb.gz\n"
                "      all recordings below a folder in one pprof file\n"
                "  sparkflame merge profiles/etl/ -o etl.html --resolution 60\n"
                "      a page with one step of time for each minute\n"
                "  sparkflame merge --stitch profiles/etl/ -o etl.folded\n"
                "      Python stacks below the Java stacks of their tasks\n"
                "  ssh host1 tar c profiles | sparkflame merge --tar --partial -f html - -o host1.part\n"
                "      a partial sum of the recordings of another machine, for a page\n"
                "  sparkflame merge *.part -f html -o all.html\n"
                "      the page, as from all recordings at once\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
