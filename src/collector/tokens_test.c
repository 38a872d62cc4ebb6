#include "collector/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static char folder[64];
static char path[80];

static void make_path(void)
{
    snprintf(folder, sizeof(folder), "/tmp/tokens_test_XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/tokens", folder);
}

static void remove_path(void)
{
    unlink(path);
    CHECK_INT(rmdir(folder), 0);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "we");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK_INT(fclose(file), 0);
}

TEST(a_token_is_found_until_it_is_removed)
{
    struct error error = {0};
    struct token_grant grant;
    char first[TOKEN_BYTES];
    char second[TOKEN_BYTES];
    make_path();
    CHECK_OK(error, tokens_add(path, "write:etl", first, &error));
    CHECK_OK(error, tokens_add(path, "read,write:*", second, &error));
    struct tokens *tokens = tokens_open(path, &error);
    CHECK(tokens != NULL && tokens_exist(tokens));
    CHECK(tokens_find(tokens, text_of(first), &grant));
    CHECK(token_allows(&grant, SCOPE_WRITE, "etl"));
    CHECK(!token_allows(&grant, SCOPE_WRITE, "etl2"));
    CHECK(!token_allows(&grant, SCOPE_READ, "etl"));
    CHECK(tokens_find(tokens, text_of(second), &grant));
    CHECK(token_allows(&grant, SCOPE_READ, "any") && token_allows(&grant, SCOPE_WRITE, "any"));
    CHECK(!tokens_find(tokens, text_part(text_of(first), 0, TOKEN_BYTES - 2), &grant));
    CHECK(!tokens_find(tokens, TEXT(""), &grant));
    char id[TOKEN_ID_BYTES + 1];
    snprintf(id, sizeof(id), "%.8s", first + 4);
    CHECK_OK(error, tokens_remove(path, id, &error));
    CHECK(!tokens_remove(path, id, &error));
    CHECK_OK(error, tokens_refresh(tokens, &error));
    CHECK(!tokens_find(tokens, text_of(first), &grant));
    CHECK(tokens_find(tokens, text_of(second), &grant));
    tokens_close(tokens);
    remove_path();
}

TEST(a_file_that_is_wrong_changes_nothing)
{
    static const char *const wrong[] = {
        "x\n",  "12345678 read etl 00\n", "12345678 admin etl ", "12345678 read ../x ", "1234567 read etl ",
        " ,\n",
    };
    struct error error = {0};
    struct token_grant grant;
    char token[TOKEN_BYTES];
    char text[256];
    make_path();
    CHECK_OK(error, tokens_add(path, "read:etl", token, &error));
    struct tokens *tokens = tokens_open(path, &error);
    CHECK(tokens != NULL);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        snprintf(text, sizeof(text), "# a comment\n%s%064d\n", wrong[i], 0);
        write_file(text);
        CHECK(!tokens_refresh(tokens, &error));
        CHECK(tokens_find(tokens, text_of(token), &grant));
        CHECK(tokens_open(path, &error) == NULL);
    }
    tokens_close(tokens);
    remove_path();
}

TEST(scopes_and_groups_that_are_wrong)
{
    static const char *const wrong[] = {"",          "read", "read:",    "admin:etl",
                                        "read,:etl", ":etl", "read:a b", "read:.."};
    struct error error = {0};
    char token[TOKEN_BYTES];
    make_path();
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        CHECK(!tokens_add(path, wrong[i], token, &error));
    remove_path();
}

TEST(the_file_belongs_to_the_owner_of_its_folder)
{
    struct error error = {0};
    struct stat status;
    struct stat folder_status;
    char token[TOKEN_BYTES];
    make_path();
    /* Only root can give files away. */
    if (geteuid() == 0)
        CHECK_INT(chown(folder, 12345, 12346), 0);
    CHECK_OK(error, tokens_add(path, "read:etl", token, &error));
    CHECK_INT(stat(path, &status), 0);
    CHECK_INT(stat(folder, &folder_status), 0);
    CHECK_INT(status.st_uid, folder_status.st_uid);
    CHECK_INT(status.st_gid, folder_status.st_gid);
    CHECK_INT(status.st_mode & 0777, 0600);
    remove_path();
}

TEST(tokens_that_are_gone_were_there)
{
    struct error error = {0};
    char token[TOKEN_BYTES];
    make_path();
    struct tokens *tokens = tokens_open(path, &error);
    CHECK(tokens != NULL && !tokens_exist(tokens));
    CHECK_OK(error, tokens_add(path, "read:etl", token, &error));
    CHECK_OK(error, tokens_refresh(tokens, &error));
    CHECK(tokens_exist(tokens));
    unlink(path);
    CHECK_OK(error, tokens_refresh(tokens, &error));
    CHECK(tokens_exist(tokens));
    tokens_close(tokens);
    CHECK_INT(rmdir(folder), 0);
}
