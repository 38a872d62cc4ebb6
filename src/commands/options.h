/*
 * options.h - options as tables: parsing, help, completion and the manual's test all walk them.
 *
 * An option stores into the struct of its group, at `offset`. Long names may be shortened to an unambiguous prefix;
 * "--name=value", "--name value", "-nvalue", "-n value" and bundled flags work; "--" ends the options; options and
 * operands may be mixed.
 */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

enum option_kind {
    OPTION_FLAG,     /* bool, set to true */
    OPTION_FLAG_OFF, /* bool, set to false */
    OPTION_TEXT,     /* const char * */
    OPTION_COUNT,    /* uint64_t, a whole number */
    OPTION_NUMBER,   /* double */
    OPTION_LIST,     /* struct option_list, may be given several times */
    OPTION_OPERANDS, /* struct option_operands: all that follows up to the next option; may be given several times */
    OPTION_CHOICE, /* int, index in `choices` */
};

#define OPTION_LIST_LIMIT 32

struct option_list {
    const char *items[OPTION_LIST_LIMIT];
    size_t size;
};

#define OPTION_OPERANDS_LIMIT 1000

struct option_operands {
    const char *items[OPTION_OPERANDS_LIMIT];
    size_t size;
};

struct option {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;
    const char *argument;           /* for the help text: "FILE"; NULL for flags */
    const char *help;               /* NULL: works, but is not shown (another tool's spelling) */
    const char *choices;            /* blank-separated, for OPTION_CHOICE */
    const char *(*make_help)(void); /* for a help text that tables decide, instead of `help`; NULL */
};

static inline const char *option_help(const struct option *option)
{
    return option->make_help == NULL ? option->help : option->make_help();
}

struct option_group {
    const char *title; /* NULL ends the groups */
    const struct option *options;
    void *target; /* the struct whose offsets the options hold */
};

/* Operands are moved to the front of argv[1…]; *operand_count says how many there are. "--help" anywhere sets
 * *wants_help and stops. Groups end with title NULL. */
bool options_parse(int argc, char **argv, const struct option_group *groups, int *operand_count,
                   bool *wants_help, struct error *error) MUST_CHECK;
/* Like options_parse(), but stops at the first operand (for "record -- command args") and leaves the rest alone. */
bool options_parse_leading(int argc, char **argv, const struct option_group *groups, int *operand_count,
                           bool *wants_help, struct error *error) MUST_CHECK;
/* The help text of all groups. */
void options_print(const struct option_group *groups);

#endif
