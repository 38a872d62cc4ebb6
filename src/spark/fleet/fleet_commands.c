#include "spark/fleet/fleet_commands.h"

#include <string.h>

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,/:=@%+"
#define OF_FILES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define SPECIAL "\\^$.[]|()?*+{}"
#define MOST_FILE_LETTERS 80

static bool is_one_of(char letter, const char *letters)
{
    return letter != '\0' && strchr(letters, letter) != NULL;
}

static bool is_plain(struct text_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!is_one_of(text.data[i], PLAIN))
            return false;
    return text.size > 0;
}

/* One word of the shell: `option` and the text, which is not an option in any case. */
static void add_word(struct text_builder *command, const char *option, struct text_view text)
{
    text_builder_add_byte(command, ' ');
    text_builder_add_c_string(command, option);
    if (is_plain(text)) {
        text_builder_add(command, text);
        return;
    }
    text_builder_add_byte(command, '\'');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\'')
            text_builder_add_c_string(command, "'\\''");
        else
            text_builder_add_byte(command, text.data[i]);
    }
    text_builder_add_byte(command, '\'');
}

/* A name that needs no quotes and is in this folder. */
static void add_file(struct text_builder *command, struct text_view name)
{
    text_builder_add_c_string(command, " -o ");
    for (size_t i = 0; i < name.size && i < MOST_FILE_LETTERS; i++) {
        bool is_good = is_one_of(name.data[i], OF_FILES) && (i > 0 || name.data[i] != '-');
        text_builder_add_byte(command, is_good ? name.data[i] : '_');
    }
    text_builder_add_c_string(command, ".html");
}

void fleet_command_of_group(struct text_builder *command, struct text_view group)
{
    text_builder_add_c_string(command, "sparkflame fleet FOLDER");
    add_word(command, "--group=", group);
    add_file(command, group);
}

void fleet_command_of_application(struct text_builder *command, struct text_view application)
{
    text_builder_add_c_string(command, "sparkflame report FOLDER");
    add_word(command, "--application=", application);
    add_file(command, application);
}

static void add_day(struct text_builder *command, const char *option, int32_t day)
{
    char text[FLEET_DAY_TEXT_BYTES];
    text_builder_format(command, " %s %sT00:00:00Z", option, fleet_day_text(text, day));
}

void fleet_command_of_method(struct text_builder *command, struct text_view method, enum fleet_event event,
                             int32_t first, int32_t last)
{
    struct text_builder pattern;
    text_builder_init(&pattern, command->limit_bytes);
    text_builder_add_byte(&pattern, '^');
    for (size_t i = 0; i < method.size; i++) {
        if (is_one_of(method.data[i], SPECIAL))
            text_builder_add_byte(&pattern, '\\');
        text_builder_add_byte(&pattern, method.data[i]);
    }
    text_builder_add_byte(&pattern, '$');
    text_builder_format(command, "sparkflame merge FOLDER -e %s", fleet_event_name(event));
    if (first != FLEET_NO_DAY) {
        add_day(command, "--from", first);
        add_day(command, "--to", last + 1);
    }
    add_word(command, "--include=", text_builder_view(&pattern));
    text_builder_add_c_string(command, " -o method.html");
    command->failed = command->failed || pattern.failed;
    text_builder_release(&pattern);
}
