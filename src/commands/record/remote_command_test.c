#include "commands/record/remote_command.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static struct remote_command command(void)
{
    return (struct remote_command){
        .ssh = "/bin/sh -x", .arguments = "record --host --duration 1 --format jfr", .program_bytes = 123};
}

/* All words but the last, with blanks between them. */
static const char *make(const struct remote_command *made, const char *host, char **last)
{
    static char result[2000];
    static struct text_builder text;
    char *words[REMOTE_WORD_LIMIT];
    struct error error = {0};
    size_t used = 0;
    result[0] = '\0';
    text_builder_release(&text);
    text_builder_init(&text, 65536);
    CHECK_OK(error, remote_command_make(made, host, &text, words, &error));
    for (size_t i = 0; words[i + 1] != NULL; i++) {
        used += (size_t)snprintf(result + used, sizeof(result) - used, "%s%s", i == 0 ? "" : " ", words[i]);
        *last = words[i + 1];
    }
    return result;
}

#define OPTIONS                                                                                       \
    "-T -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4 -o " \
    "LogLevel=ERROR -o ClearAllForwardings=yes"

TEST(the_host_comes_after_all_options)
{
    struct remote_command plain = command();
    char *script;
    CHECK_TEXT(make(&plain, "h1", &script), "/bin/sh -x " OPTIONS " -- h1");
    plain.user = "spark";
    plain.port = 2222;
    plain.ssh = "  ssh  -i key ";
    CHECK_TEXT(make(&plain, "h1", &script), "ssh -i key " OPTIONS " -p2222 -l spark -- h1");
}

TEST(the_script_is_one_quoted_word)
{
    struct remote_command plain = command();
    char *script;
    plain.path = "/opt/sparkflame";
    (void)make(&plain, "h1", &script);
    struct text_view text = text_of(script);
    CHECK(text_starts_with(text, TEXT("exec sh -c 'f=/opt/sparkflame; ")) && text_ends_with(text, TEXT("'")));
    CHECK(text_find_byte(text_part(text, 12, text.size - 13), '\'') == TEXT_NOT_FOUND);
    CHECK(text_find_byte(text, '\n') == TEXT_NOT_FOUND);
    CHECK(text_find(text, TEXT("head -c 123 >")) != TEXT_NOT_FOUND);
    CHECK(text_find(text, TEXT("\"$f\" record --host --duration 1 --format jfr <")) != TEXT_NOT_FOUND);
}

TEST(too_many_words)
{
    char ssh[400] = "ssh", *words[REMOTE_WORD_LIMIT];
    struct remote_command many = command();
    struct text_builder text;
    struct error error = {0};
    for (size_t i = 0; i < 60; i++)
        snprintf(ssh + 3 + 3 * i, 4, " -v");
    many.ssh = ssh;
    text_builder_init(&text, 65536);
    CHECK(!remote_command_make(&many, "h1", &text, words, &error));
    CHECK_TEXT(error.message, "--ssh: too many words");
    text_builder_release(&text);
}

static const char *check(const struct remote_command *checked)
{
    static struct error error;
    error = (struct error){0};
    return remote_command_check(checked, &error) ? "good" : error.message;
}

TEST(what_the_user_gives_is_checked)
{
    struct remote_command given = command();
    CHECK_TEXT(check(&given), "good");
    given.ssh = " ";
    CHECK_TEXT(check(&given), "--ssh: no command given");
    given.ssh = "/no/such/ssh -v";
    CHECK_TEXT(check(&given), "cannot run /no/such/ssh: no such program; --ssh COMMAND names another");
    given = command();
    given.user = "-oProxyCommand=id";
    CHECK_TEXT(check(&given), "--ssh-user: \"-oProxyCommand=id\" is not a user name");
    given.user = "a b";
    CHECK_TEXT(check(&given), "--ssh-user: \"a b\" is not a user name");
    given.user = "";
    CHECK_TEXT(check(&given), "--ssh-user: \"\" is not a user name");
    given = command();
    given.port = 65536;
    CHECK_TEXT(check(&given), "--ssh-port: 65536 is not between 1 and 65535");
    given = command();
    given.path = "bin/sparkflame";
    CHECK_TEXT(check(&given), "--remote-binary: \"bin/sparkflame\" is not an absolute path without blanks");
    given.path = "/opt/$(id)";
    CHECK_TEXT(check(&given), "--remote-binary: \"/opt/$(id)\" is not an absolute path without blanks");
}
