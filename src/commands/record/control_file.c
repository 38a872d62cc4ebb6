#include "commands/record/control_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "base/text_builder.h"
#include "commands/time_text.h"

#define LIMIT_BYTES 4096
#define MILLISECOND_NS 1000000

bool control_file_is_meant(const char *operand)
{
    struct stat status;
    return strcmp(operand, "-") == 0 || (stat(operand, &status) == 0 && S_ISDIR(status.st_mode));
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / MILLISECOND_NS;
}

static bool is_number_of(struct text_view text, size_t most)
{
    bool good = text.size > 0 && text.size <= most;
    for (size_t i = 0; good && i < text.size; i++)
        good = text.data[i] >= '0' && text.data[i] <= '9';
    return good;
}

static bool is_count(struct text_view text)
{
    return is_number_of(text, 9) && text.data[0] != '0';
}

/* "0.1"; 1 is all of them, and needs no word. */
static bool is_fraction(struct text_view text)
{
    return text_starts_with(text, TEXT("0.")) && is_number_of(text_from(text, 2), 9);
}

static bool add_word(struct text_builder *text, struct text_builder *arguments, const char *word,
                     struct error *error)
{
    struct text_view rest = text_of(word);
    struct text_view key = text_cut(&rest, '=');
    if (text_equal(key, TEXT("executor")) && rest.size > 0) {
        text_builder_format(text, "executors=%.*s\n", TEXT_FORMAT(rest));
    } else if (text_equal(key, TEXT("slowest"))) {
        if (!is_count(rest))
            return error_set(error, ERROR_USAGE, "\"%s\": use for example slowest=3", word);
        text_builder_format(text, "slowest=%.*s\n", TEXT_FORMAT(rest));
    } else if (text_equal(key, TEXT("fraction"))) {
        if (!is_fraction(rest))
            return error_set(error, ERROR_USAGE, "\"%s\": use for example fraction=0.1", word);
        text_builder_format(text, "fraction=%.*s\n", TEXT_FORMAT(rest));
    } else if (strcmp(word, "straggling") == 0) {
        text_builder_add(text, TEXT("straggling=true\n"));
    } else if (text_equal(key, TEXT("for"))) {
        int64_t duration_ns;
        enum time_form form;
        if (!time_text_parse(rest.data, &duration_ns, &form, error))
            return false;
        if (form != TIME_RELATIVE || duration_ns <= 0)
            return error_set(error, ERROR_USAGE, "\"%s\": use for example for=30s", word);
        int64_t until_ms = now_ms() + duration_ns / MILLISECOND_NS;
        text_builder_format(text, "until=%" PRId64 "\n", until_ms);
    } else {
        text_builder_format(arguments, "%s%s", arguments->size > 0 ? "," : "", word);
    }
    return true;
}

static bool make_text(struct text_builder *text, char **words, int count, struct error *error)
{
    struct text_builder arguments;
    text_builder_init(&arguments, LIMIT_BYTES);
    text_builder_format(text, "profile=%s\n", words[0]);
    bool good = true;
    for (int i = 1; good && i < count; i++)
        good = add_word(text, &arguments, words[i], error);
    if (arguments.size > 0)
        text_builder_format(text, "args=%.*s\n", TEXT_FORMAT(text_builder_view(&arguments)));
    if (good && (text->failed || arguments.failed))
        good = error_set(error, ERROR_USAGE, "a control file has at most %d bytes", LIMIT_BYTES);
    text_builder_release(&arguments);
    return good;
}

/* Written under another name and renamed, so that readers never see a part of it. */
static bool write_file(const char *folder, struct text_view text, struct error *error)
{
    char path[LIMIT_BYTES], unfinished[LIMIT_BYTES + 16];
    struct output output;
    snprintf(path, sizeof(path), "%s/.control", folder);
    snprintf(unfinished, sizeof(unfinished), "%s.unfinished", path);
    if (!output_open(&output, unfinished, error))
        return false;
    output_write(&output, text.data, text.size);
    if (output.close_descriptor)
        fchmod(output.descriptor, 0644); /* executors may run as other users */
    bool good = output_finish(&output, error);
    output_release(&output);
    if (good && rename(unfinished, path) != 0)
        good = error_set_system(error, "cannot write %s", path);
    return good;
}

static bool remove_file(const char *folder, struct error *error)
{
    char path[LIMIT_BYTES];
    snprintf(path, sizeof(path), "%s/.control", folder);
    return unlink(path) == 0 || errno == ENOENT || error_set_system(error, "cannot delete %s", path);
}

bool control_file_write(const char *folder, char **words, int count, struct error *error)
{
    struct text_builder text;
    bool is_standard = strcmp(folder, "-") == 0;
    if (strcmp(words[0], "reset") == 0 && count == 1 && !is_standard)
        return remove_file(folder, error);
    if (strcmp(words[0], "on") != 0 && strcmp(words[0], "off") != 0)
        return error_set(error, ERROR_USAGE, "no action \"%s\" for an application's folder: on, off or reset",
                         words[0]);
    text_builder_init(&text, LIMIT_BYTES);
    bool good = make_text(&text, words, count, error);
    if (good && is_standard)
        fwrite(text.data, 1, text.size, stdout);
    else if (good)
        good = write_file(folder, text_builder_view(&text), error);
    text_builder_release(&text);
    return good;
}
