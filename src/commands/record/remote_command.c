#include "commands/record/remote_command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PATH_BYTES 4096

bool remote_text_is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:=/_+-@%";
    return text[0] != '\0' && text[strspn(text, letters)] == '\0';
}

/* ---- checks ---- */

static bool is_program_in(struct text_view folder, struct text_view name)
{
    char path[MOST_PATH_BYTES];
    if (folder.size + name.size + 2 > sizeof(path))
        return false;
    memcpy(path, folder.data, folder.size);
    path[folder.size] = '/';
    memcpy(path + folder.size + 1, name.data, name.size);
    path[folder.size + 1 + name.size] = '\0';
    return access(path, X_OK) == 0;
}

static bool find_ssh(const char *ssh, struct error *error)
{
    struct text_view words = text_trim(text_of(ssh)), name = text_cut(&words, ' ');
    if (name.size == 0)
        return error_set(error, ERROR_USAGE, "--ssh: no command given");
    const char *path = getenv("PATH");
    struct text_view folders = path == NULL ? TEXT("/usr/bin:/bin") : text_of(path);
    if (text_find_byte(name, '/') != TEXT_NOT_FOUND)
        folders = name.data[0] == '/' ? TEXT("") : TEXT(".");
    do {
        struct text_view folder = text_cut(&folders, ':');
        if (is_program_in(folder, name))
            return true;
    } while (folders.size > 0);
    return error_set(error, ERROR_SYSTEM, "cannot run %.*s: no such program; --ssh COMMAND names another",
                     TEXT_FORMAT(name));
}

bool remote_command_check(const struct remote_command *command, struct error *error)
{
    if (command->user != NULL && (!remote_text_is_plain(command->user) || command->user[0] == '-'))
        return error_set(error, ERROR_USAGE, "--ssh-user: \"%s\" is not a user name", command->user);
    if (command->port > UINT16_MAX)
        return error_set(error, ERROR_USAGE, "--ssh-port: %llu is not between 1 and 65535",
                         (unsigned long long)command->port);
    if (command->path != NULL && (!remote_text_is_plain(command->path) || command->path[0] != '/'))
        return error_set(error, ERROR_USAGE, "--remote-binary: \"%s\" is not an absolute path without blanks",
                         command->path);
    return find_ssh(command->ssh, error);
}

/* ---- making ---- */

/* Without a single quote, in which the whole stands, for login shells like sh and for fish. Its input ends when the
 * recording is to end, also because the connection is gone. */
static void add_script(const struct remote_command *command, struct text_builder *text)
{
    text_builder_format(
        text,
        "exec sh -c 'f=%s; if [ -f \"$f\" ] && [ -x \"$f\" ]; then :; else "
        "f=$(mktemp \"${TMPDIR:-/tmp}/sparkflame.XXXXXX\") || exit 1; trap \"rm -f \\\"\\$f\\\"\" EXIT; "
        "trap \"exit 129\" HUP; trap \"exit 130\" INT; trap \"exit 141\" PIPE; trap \"exit 143\" TERM; "
        "echo " REMOTE_COPY "; "
        "head -c %zu > \"$f\" && chmod 700 \"$f\" || exit 1; fi; "
        "\"$f\" version > /dev/null || exit 1; echo " REMOTE_READY "; read -r go || exit 1; exec 3<&0; "
        "\"$f\" %s < /dev/null 3<&- & p=$!; (read -r stop <&3; kill $p) > /dev/null 2>&1 & w=$!; "
        "wait $p; s=$?; exec 2> /dev/null; kill $w; exit $s'",
        command->path == NULL ? "" : command->path, command->program_bytes, command->arguments);
}

static void add_word(struct text_builder *text, const char *word)
{
    text_builder_add_c_string(text, word);
    text_builder_add_byte(text, '\0');
}

static void add_options(const struct remote_command *command, struct text_builder *text)
{
    static const char *const options[] = {"BatchMode=yes",          "ConnectTimeout=20",
                                          "ServerAliveInterval=15", "ServerAliveCountMax=4",
                                          "LogLevel=ERROR",         "ClearAllForwardings=yes"};
    add_word(text, "-T");
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        add_word(text, "-o");
        add_word(text, options[i]);
    }
    if (command->port != 0) {
        text_builder_add_c_string(text, "-p");
        text_builder_add_u64(text, command->port);
        text_builder_add_byte(text, '\0');
    }
    if (command->user != NULL) {
        add_word(text, "-l");
        add_word(text, command->user);
    }
}

bool remote_command_make(const struct remote_command *command, const char *host, struct text_builder *text,
                         char *words[REMOTE_WORD_LIMIT], struct error *error)
{
    size_t count = 0;
    struct text_view ssh = text_trim(text_of(command->ssh));
    text_builder_clear(text);
    while (ssh.size > 0) {
        struct text_view word = text_cut(&ssh, ' ');
        text_builder_add(text, word);
        if (word.size > 0)
            text_builder_add_byte(text, '\0');
    }
    add_options(command, text);
    add_word(text, "--");
    add_word(text, host);
    add_script(command, text);
    text_builder_add_byte(text, '\0');
    if (text->failed)
        return error_set_memory(error);
    for (size_t at = 0; at < text->size; at += strlen(text->data + at) + 1) {
        if (count + 1 == REMOTE_WORD_LIMIT)
            return error_set(error, ERROR_USAGE, "--ssh: too many words");
        words[count++] = text->data + at;
    }
    words[count] = NULL;
    return true;
}
