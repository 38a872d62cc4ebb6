#include "formats/reader.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#define READER(name) extern const struct reader reader_##name;
#include "formats/reader_table.def"
#undef READER

const struct reader *const readers[] = {
#define READER(name) &reader_##name,
#include "formats/reader_table.def"
#undef READER
    NULL,
};

const struct reader *reader_by_name(struct text_view name)
{
    for (size_t i = 0; readers[i] != NULL; i++)
        if (text_equal(name, text_of(readers[i]->name)))
            return readers[i];
    return NULL;
}

const struct reader *reader_recognize(struct text_view head)
{
    const struct reader *surest = NULL;
    int most = 0;
    for (size_t i = 0; readers[i] != NULL; i++) {
        int sure = readers[i]->recognizes(head);
        if (sure > most) {
            most = sure;
            surest = readers[i];
        }
    }
    return surest;
}

void reader_notice(const struct read_options *options, const char *format, ...)
{
    char text[PATH_MAX + 256];
    va_list arguments;
    if (options->notice == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    options->notice(options->notice_context, text);
}

void reader_pass_event(const struct read_options *options, struct text_view name)
{
    struct passed_events *passed = options->passed_events;
    if (passed == NULL || passed->count == PASSED_EVENT_LIMIT || name.size >= sizeof(passed->names[0]))
        return;
    for (size_t i = 0; i < passed->count; i++)
        if (text_equal(name, text_of(passed->names[i])))
            return;
    snprintf(passed->names[passed->count++], sizeof(passed->names[0]), "%.*s", TEXT_FORMAT(name));
}

void reader_notice_cut(const struct read_options *options, uint64_t stacks)
{
    if (stacks > 0)
        reader_notice(options, "%" PRIu64 " stack%s cut after %zu frames", stacks,
                      stacks == 1 ? " was" : "s were", READER_DEPTH_LIMIT);
}
