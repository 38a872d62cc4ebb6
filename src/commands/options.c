#include "commands/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_view.h"
#include "commands/suggestion.h"

struct parser {
    int argc;
    char **argv;
    const struct option_group *groups;
    int at;
    struct error *error;
};

struct found {
    const struct option *option;
    void *target;
};

static bool takes_argument(const struct option *option)
{
    return option->kind != OPTION_FLAG && option->kind != OPTION_FLAG_OFF;
}

static bool refuse_unknown(struct parser *parser, struct text_view name)
{
    struct suggestion suggestion = {0};
    for (const struct option_group *group = parser->groups; group->title != NULL; group++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            if (option->help != NULL)
                suggestion_consider(&suggestion, name, option->name);
    if (suggestion.name == NULL)
        return error_set(parser->error, ERROR_USAGE, "unknown option --%.*s", TEXT_FORMAT(name));
    return error_set(parser->error, ERROR_USAGE, "unknown option --%.*s; did you mean --%s?",
                     TEXT_FORMAT(name), suggestion.name);
}

static bool find_long(struct parser *parser, struct text_view name, struct found *found)
{
    size_t matches = 0;
    const char *others[2] = {NULL, NULL};
    for (const struct option_group *group = parser->groups; group->title != NULL; group++) {
        for (const struct option *option = group->options; option->name != NULL; option++) {
            struct text_view whole = text_of(option->name);
            if (!text_starts_with(whole, name))
                continue;
            if (whole.size == name.size) {
                *found = (struct found){option, group->target};
                return true;
            }
            *found = (struct found){option, group->target};
            if (matches < 2)
                others[matches] = option->name;
            matches++;
        }
    }
    if (matches == 1)
        return true;
    if (matches > 1)
        return error_set(parser->error, ERROR_USAGE, "option --%.*s is ambiguous: --%s or --%s?",
                         TEXT_FORMAT(name), others[0], others[1]);
    return refuse_unknown(parser, name);
}

static bool find_letter(struct parser *parser, char letter, struct found *found)
{
    for (const struct option_group *group = parser->groups; group->title != NULL; group++) {
        for (const struct option *option = group->options; option->name != NULL; option++) {
            if (option->letter == letter) {
                *found = (struct found){option, group->target};
                return true;
            }
        }
    }
    return error_set(parser->error, ERROR_USAGE, "unknown option -%c", letter);
}

static bool store_choice(const struct option *option, struct text_view value, int *place, struct error *error)
{
    struct text_view rest = text_of(option->choices);
    for (int i = 0; rest.size > 0; i++) {
        if (text_equal(value, text_cut(&rest, ' '))) {
            *place = i;
            return true;
        }
    }
    return error_set(error, ERROR_USAGE, "--%s: \"%.*s\" is not one of: %s", option->name, TEXT_FORMAT(value),
                     option->choices);
}

static bool store_list(const struct option *option, const char *value, struct option_list *list,
                       struct error *error)
{
    if (list->size == OPTION_LIST_LIMIT)
        return error_set(error, ERROR_USAGE, "--%s may be given %d times at most", option->name,
                         OPTION_LIST_LIMIT);
    list->items[list->size++] = value;
    return true;
}

static bool store_operand(const struct option *option, const char *value, struct option_operands *list,
                          struct error *error)
{
    if (list->size == OPTION_OPERANDS_LIMIT)
        return error_set(error, ERROR_USAGE, "--%s may be given %d files at most", option->name,
                         OPTION_OPERANDS_LIMIT);
    list->items[list->size++] = value;
    return true;
}

static bool store(struct parser *parser, struct found found, const char *value)
{
    const struct option *option = found.option;
    char *place = (char *)found.target + option->offset;
    switch (option->kind) {
    case OPTION_FLAG:
    case OPTION_FLAG_OFF:
        *(bool *)place = option->kind == OPTION_FLAG;
        return true;
    case OPTION_TEXT:
        *(const char **)place = value;
        return true;
    case OPTION_COUNT:
        if (text_to_u64(text_of(value), (uint64_t *)place))
            return true;
        return error_set(parser->error, ERROR_USAGE, "--%s: \"%s\" is not a whole number", option->name,
                         value);
    case OPTION_NUMBER:
        if (text_to_double(text_of(value), (double *)place))
            return true;
        return error_set(parser->error, ERROR_USAGE, "--%s: \"%s\" is not a number", option->name, value);
    case OPTION_LIST:
        return store_list(option, value, (struct option_list *)place, parser->error);
    case OPTION_OPERANDS:
        return store_operand(option, value, (struct option_operands *)place, parser->error);
    case OPTION_CHOICE:
        return store_choice(option, text_of(value), (int *)place, parser->error);
    }
    return false;
}

/* The argument of an option, from the next word on. */
static bool store_following(struct parser *parser, struct found found)
{
    if (!store(parser, found, parser->argv[++parser->at]))
        return false;
    while (found.option->kind == OPTION_OPERANDS && parser->at + 1 < parser->argc &&
           parser->argv[parser->at + 1][0] != '-')
        if (!store(parser, found, parser->argv[++parser->at]))
            return false;
    return true;
}

static bool parse_long(struct parser *parser, const char *argument)
{
    struct text_view value = text_of(argument), name = text_cut(&value, '=');
    bool has_value = argument[name.size] == '=';
    struct found found;
    if (!find_long(parser, name, &found))
        return false;
    if (!takes_argument(found.option)) {
        if (has_value)
            return error_set(parser->error, ERROR_USAGE, "option --%s takes no value", found.option->name);
        return store(parser, found, NULL);
    }
    if (has_value)
        return store(parser, found, value.data);
    if (parser->at + 1 >= parser->argc)
        return error_set(parser->error, ERROR_USAGE, "option --%s needs %s", found.option->name,
                         found.option->argument);
    return store_following(parser, found);
}

static bool parse_letters(struct parser *parser, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        struct found found;
        if (!find_letter(parser, *letters, &found))
            return false;
        if (!takes_argument(found.option)) {
            if (!store(parser, found, NULL))
                return false;
            continue;
        }
        if (letters[1] != '\0')
            return store(parser, found, letters + 1);
        if (parser->at + 1 >= parser->argc)
            return error_set(parser->error, ERROR_USAGE, "option -%c needs %s", *letters,
                             found.option->argument);
        return store_following(parser, found);
    }
    return true;
}

static bool parse(struct parser *parser, bool stops_at_operand, int *operand_count, bool *wants_help)
{
    int operands = 0;
    *wants_help = false;
    for (parser->at = 1; parser->at < parser->argc; parser->at++) {
        char *argument = parser->argv[parser->at];
        bool ends = strcmp(argument, "--") == 0;
        bool is_operand = argument[0] != '-' || argument[1] == '\0';
        if (ends || (is_operand && stops_at_operand)) {
            for (parser->at += ends; parser->at < parser->argc; parser->at++)
                parser->argv[1 + operands++] = parser->argv[parser->at];
            break;
        }
        if (is_operand) {
            parser->argv[1 + operands++] = argument;
            continue;
        }
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            *wants_help = true;
            return true;
        }
        if (!(argument[1] == '-' ? parse_long(parser, argument + 2) : parse_letters(parser, argument + 1)))
            return false;
    }
    *operand_count = operands;
    return true;
}

bool options_parse(int argc, char **argv, const struct option_group *groups, int *operand_count,
                   bool *wants_help, struct error *error)
{
    struct parser parser = {.argc = argc, .argv = argv, .groups = groups, .error = error};
    return parse(&parser, false, operand_count, wants_help);
}

bool options_parse_leading(int argc, char **argv, const struct option_group *groups, int *operand_count,
                           bool *wants_help, struct error *error)
{
    struct parser parser = {.argc = argc, .argv = argv, .groups = groups, .error = error};
    return parse(&parser, true, operand_count, wants_help);
}

#define HELP_COLUMN 30
#define HELP_WIDTH 78

/* Words of the help, each line starting at HELP_COLUMN. */
static void print_wrapped(const char *help, int column)
{
    struct text_view rest = text_of(help);
    while (rest.size > 0) {
        struct text_view word = text_cut(&rest, ' ');
        if (column + (int)word.size + 1 > HELP_WIDTH && column > HELP_COLUMN) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += printf("%s%.*s", column == HELP_COLUMN ? "" : " ", TEXT_FORMAT(word));
    }
    printf("\n");
}

static void print_option(const struct option *option)
{
    char left[80];
    char letter[5] = "    ";
    if (option->letter != 0)
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    snprintf(left, sizeof(left), "  %s--%s%s%s", letter, option->name, option->argument == NULL ? "" : " ",
             option->argument == NULL ? "" : option->argument);
    if (strlen(left) + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    print_wrapped(option_help(option), HELP_COLUMN);
}

void options_print(const struct option_group *groups)
{
    for (const struct option_group *group = groups; group->title != NULL; group++) {
        if (group->options->name == NULL)
            continue;
        printf("\n%s:\n", group->title);
        for (const struct option *option = group->options; option->name != NULL; option++)
            if (option->help != NULL)
                print_option(option);
    }
}
