#include "commands/collector/rollup_section.h"

#include "base/text_builder.h"
#include "formats/partial/partial_format.h"
#include "model/context_table.h"

/* Sums of another version are not read, but made again. */
_Static_assert(ROLLUP_SECTION_VERSION == PARTIAL_VERSION, "roll-ups hold partial sums");

bool rollup_keeps(struct text_view name)
{
    switch (label_key_by_name(name)) {
    case LABEL_APPLICATION:
    case LABEL_STATE:
    case LABEL_JOB:
    case LABEL_STAGE:
    case LABEL_STAGE_ATTEMPT:
    case LABEL_SQL:
        return true;
    default:
        return false;
    }
}

bool rollup_has_label(const struct stored_recording *recording, struct text_view name)
{
    struct text_view lines = text_of(recording->labels);
    while (lines.size > 0) {
        struct text_view line = text_cut(&lines, '\n');
        if (text_equal(text_cut(&line, '='), name))
            return true;
    }
    return false;
}

bool rollup_has_line(struct text_view lines, struct text_view name)
{
    while (lines.size > 0)
        if (text_equal(text_cut(&lines, '\n'), name))
            return true;
    return false;
}

bool rollup_section_has(const struct rollup_section *section, struct text_view name)
{
    if (rollup_keeps(name))
        return true;
    if (section->is_union || label_key_by_name(name) != LABEL_KNOWN_COUNT)
        return false;
    return rollup_has_label(&section->series, name) ||
           !(rollup_has_line(section->drops, name) || rollup_has_line(section->drops, TEXT("*")));
}

static const struct sum_options sum_options = {.labels = true};
const struct read_options rollup_read_options = {
    .threads = 1, .needs_contexts = true, .sum = &sum_options, .event = {"", 0}};

bool rollup_section_read(const struct rollup_file *file, const struct rollup_section *section,
                         struct profile *profile, struct error *error)
{
    struct text_builder bytes;
    const struct reader *reader = reader_by_name(TEXT("partial"));
    text_builder_init(&bytes, ROLLUP_SECTION_BYTES + 1);
    struct byte_source *source = NULL;
    bool good = rollup_file_read(file, section, &bytes, error) &&
                (source = byte_source_open_memory(text_builder_view(&bytes), "roll-up", error)) != NULL &&
                (reader != NULL || error_set(error, ERROR_UNSUPPORTED, "partial sums cannot be read")) &&
                reader->read(source, &rollup_read_options, profile, error);
    byte_source_close(source);
    text_builder_release(&bytes);
    return good;
}
