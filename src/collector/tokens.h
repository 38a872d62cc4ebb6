/*
 * tokens.h - who may do what: a file of tokens, each with its scopes and its group.
 *
 * A line is "ID SCOPES GROUP HASH": scopes are "read", "write" or "read,write", the group is a name or "*", the hash is
 * SHA-256 of the token in hexadecimal. A token has 256 random bits, so that its plain hash cannot be guessed.
 *
 * Owns: the list, until tokens_close(). Threads: any.
 * Limit: TOKEN_LIMIT tokens.
 */
#ifndef COLLECTOR_TOKENS_H
#define COLLECTOR_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define TOKEN_LIMIT 10000
#define TOKEN_ID_BYTES 8
/* "sft_", the id, "_", 64 digits and a zero byte. */
#define TOKEN_BYTES (4 + TOKEN_ID_BYTES + 1 + 64 + 1)

enum token_scope {
    SCOPE_READ = 1,
    SCOPE_WRITE = 2,
};

struct tokens;

/* A file that does not exist has no tokens. NULL with *error set. */
struct tokens *tokens_open(const char *path, struct error *error) MUST_CHECK;
/* NULL is allowed. */
void tokens_close(struct tokens *tokens);
/* Reads the file again if it changed. On failure the old tokens stay. */
bool tokens_refresh(struct tokens *tokens, struct error *error) MUST_CHECK;
/* True as soon as there was a token since tokens_open(): a server that lost its tokens does not become open. */
bool tokens_exist(struct tokens *tokens);

/* What a token allows. */
struct token_grant {
    char id[TOKEN_ID_BYTES + 1];
    unsigned scopes;
    char group[129]; /* "*": all */
};

/* False: there is no such token. */
bool tokens_find(struct tokens *tokens, struct text_view token, struct token_grant *grant);
bool token_allows(const struct token_grant *grant, enum token_scope scope, const char *group);

/* These two may run at the same time. As root the file gets the owner of its folder, so that the collector's user can
 * read it. */
/* Appends a token for "SCOPES:GROUP" to the file and returns the token, which is not kept anywhere. */
bool tokens_add(const char *path, const char *scopes_and_group, char token[TOKEN_BYTES],
                struct error *error) MUST_CHECK;
bool tokens_remove(const char *path, const char *id, struct error *error) MUST_CHECK;

#endif
