/*
 * remote_command.h - the ssh command of one host, and what the shell there runs.
 *
 * The shell prints a line REMOTE_COPY when it wants the program's bytes, and REMOTE_READY before it waits for a line.
 * Then it runs the program, until that ends or its own input does.
 *
 * Owns: nothing; texts are the caller's.
 */
#ifndef COMMANDS_REMOTE_COMMAND_H
#define COMMANDS_REMOTE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"

#define REMOTE_COPY "sparkflame:copy"
#define REMOTE_READY "sparkflame:ready"
#define REMOTE_WORD_LIMIT 64

struct remote_command {
    const char *ssh;       /* the command with its options, separated by blanks */
    const char *user;      /* NULL: as ssh is configured */
    uint64_t port;         /* 0: the same */
    const char *path;      /* of the program on the hosts; NULL: it is always copied */
    const char *arguments; /* of the program, for the shell there */
    size_t program_bytes;
};

/* Letters, digits and ".,:=/_+-@%", of which a shell changes none. */
bool remote_text_is_plain(const char *text);
/* What the user gave, and that there is such an ssh. */
bool remote_command_check(const struct remote_command *command, struct error *error) MUST_CHECK;
/* Fills argv, which points into `text` and ends with NULL. */
bool remote_command_make(const struct remote_command *command, const char *host, struct text_builder *text,
                         char *words[REMOTE_WORD_LIMIT], struct error *error) MUST_CHECK;

#endif
