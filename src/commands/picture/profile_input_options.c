/*
 * profile_input_options.c - the option tables for reading, selecting and naming.
 */
#include <stddef.h>

#include "base/threads.h"
#include "commands/picture/profile_input.h"

#define AT(field) offsetof(struct profile_input_options, field)

const struct option profile_read_options[] = {
    {"input-format", 0, OPTION_TEXT, AT(format), "NAME", "Format of the input files (default: detected)"},
    {"threads", 'j', OPTION_COUNT, AT(threads), "N", "Threads to read with (default: all processors)"},
    {"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "Print no warnings or notices"},
    {"pid", 0, OPTION_FLAG, AT(with_pid), NULL, "perf text: process names with their pid"},
    {"tid", 0, OPTION_FLAG, AT(with_tid), NULL, "perf text: process names with pid and tid"},
    {"addrs", 0, OPTION_FLAG, AT(with_addresses), NULL, "perf text: addresses of frames without a name"},
    {"kernel", 0, OPTION_FLAG, AT(mark_kernel), NULL, "perf text: mark kernel frames with _[k]"},
    {"jit", 0, OPTION_FLAG, AT(mark_jit), NULL, "perf text: mark compiled frames with _[j]"},
    {"all", 0, OPTION_FLAG, AT(mark_all), NULL, "perf text: --kernel and --jit"},
    {"event-filter", 0, OPTION_TEXT, AT(event_filter), "EVENT", "perf text: only samples of this event"},
    {NULL, 0, 0, 0, NULL, NULL},
};

const struct option profile_select_options[] = {
    {"event", 'e', OPTION_TEXT, AT(event), "NAME", "Only this event: cpu, wall, alloc, live, lock, ..."},
    {"cpu", 0, OPTION_FLAG, AT(cpu), NULL, NULL},
    {"wall", 0, OPTION_FLAG, AT(wall), NULL, NULL},
    {"alloc", 0, OPTION_FLAG, AT(alloc), NULL, NULL},
    {"live", 0, OPTION_FLAG, AT(live), NULL, NULL},
    {"lock", 0, OPTION_FLAG, AT(lock), NULL, NULL},
    {"from", 0, OPTION_TEXT, AT(from), "TIME",
     "Only samples from this time on: 90s, 500ms or 2m after the first, -30s before the last, 14:05:00, or "
     "2026-01-31T14:05:00Z"},
    {"to", 0, OPTION_TEXT, AT(to), "TIME", "Only samples before this time"},
    {"thread", 't', OPTION_TEXT, AT(thread), "PATTERN", "Only threads with a matching name, or with this id"},
    {"state", 's', OPTION_TEXT, AT(state), "STATES", "Only these thread states, comma-separated"},
    {"application", 0, OPTION_TEXT, AT(application), "IDS", "Only these Spark applications"},
    {"executor", 0, OPTION_TEXT, AT(executor), "IDS", "Only these executors; \"driver\" is one"},
    {"job", 0, OPTION_TEXT, AT(job), "IDS", "Only these Spark jobs"},
    {"stage", 0, OPTION_TEXT, AT(stage), "IDS", "Only these stages, such as 3 or 3,4"},
    {"task", 0, OPTION_TEXT, AT(task), "IDS", "Only these task ids"},
    {"label", 'l', OPTION_LIST, AT(labels), "KEY=VALUES", "Only samples with this label; may be repeated"},
    {"include", 'I', OPTION_LIST, AT(include), "REGEX",
     "Only stacks with a frame that matches; may be repeated"},
    {"exclude", 'X', OPTION_LIST, AT(exclude), "REGEX",
     "Only stacks without a frame that matches; may be repeated"},
    {"only-frames", 0, OPTION_LIST, AT(only_frames), "REGEX",
     "Remove frames that do not match; their stacks stay"},
    {"drop-frames", 0, OPTION_LIST, AT(drop_frames), "REGEX", "Remove frames that match; their stacks stay"},
    {"base", 0, OPTION_LIST, AT(base), "REGEX", "Only stacks with a matching frame, cut off above it"},
    {"ignore-case", 0, OPTION_FLAG, AT(ignore_case), NULL, "Regular expressions ignore case"},
    {"min-share", 0, OPTION_NUMBER, AT(min_share), "PERCENT",
     "Merge subtrees below this share into \"[other]\""},
    {"by", 0, OPTION_TEXT, AT(by), "LABELS",
     "Group by label: thread, state, executor, stage, task, ... or several: stage,task"},
    {"stitch", 0, OPTION_FLAG, AT(stitch), NULL,
     "Spark: append Python stacks to the Java stacks of the tasks that wait for them"},
    {"reverse", 'r', OPTION_FLAG, AT(reverse), NULL, "Merge stacks from their innermost frame"},
    {"merge-recursion", 0, OPTION_FLAG, AT(collapse_recursion), NULL, "Show f;f;f as f"},
    {NULL, 0, 0, 0, NULL, NULL},
};

const struct option profile_name_options[] = {
    {"names", 0, OPTION_CHOICE, AT(names), "raw|readable", "Names as recorded, or simplified",
     "raw readable"},
    {"lines", 0, OPTION_FLAG, AT(lines), NULL, "Names with line numbers, where known"},
    {"bare-names", 0, OPTION_FLAG, AT(bare_names), NULL,
     "Python functions without their file in folded and CSV output"},
    {"kinds", 0, OPTION_FLAG, AT(kinds), NULL,
     "Names with the kind of code: _[j] compiled, _[i] inlined, _[k] kernel"},
    {"dot", 0, OPTION_FLAG, AT(dots), NULL, "java.lang.String instead of java/lang/String"},
    {"simple", 0, OPTION_FLAG, AT(simple), NULL, "Class names without package"},
    {"norm", 0, OPTION_FLAG, AT(normalize), NULL, "Names without the numbers of lambdas and hidden classes"},
    {"weight", 0, OPTION_CHOICE, AT(weight), "count|value",
     "Weight: number of samples, or bytes or time (default: depends on the event)", "default count value"},
    {NULL, 0, 0, 0, NULL, NULL},
};

void profile_input_options_init(struct profile_input_options *options)
{
    *options = (struct profile_input_options){.threads = threads_available(), .resolution = 10};
}
