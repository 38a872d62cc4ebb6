#include "collector/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/output.h"
#include "base/text_builder.h"
#include "collector/file_status.h"
#include "collector/store/stored_recording.h"
#include "collector/libraries/shared_library.h"
#include "input/byte_source.h"

enum { HASH_BYTES = 32 };
#define FILE_LIMIT_BYTES ((size_t)16 << 20)

struct token {
    struct token_grant grant;
    unsigned char hash[HASH_BYTES];
};

struct token_list {
    struct token *items;
    size_t count, capacity;
};

struct tokens {
    pthread_mutex_t mutex;
    struct token_list list;
    bool were_there; /* at any time */
    char *path;
    struct stat read; /* the file as it was read; st_ino 0: there was none */
};

static struct hash_library {
#define FUNCTION(name) __typeof__ (&(name))(name);
#include "collector/libraries/hash_functions.def"
#undef FUNCTION
} gnutls;

static bool load_hash(struct error *error)
{
    static const char *const names[] = {
#define FUNCTION(name) #name,
#include "collector/libraries/hash_functions.def"
#undef FUNCTION
    };
    static const struct shared_library library = {"libgnutls.so.30", "libgnutls30", names, COUNT_OF(names)};
    return gnutls.gnutls_hash_fast != NULL || shared_library_load(&library, &gnutls, error);
}

/* ---- the file ---- */

static void write_hexadecimal(char *to, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

static bool read_hash(struct text_view text, unsigned char hash[HASH_BYTES])
{
    uint64_t byte = 0;
    if (text.size != 2 * HASH_BYTES)
        return false;
    for (size_t i = 0; i < HASH_BYTES; i++) {
        if (!text_to_hex64(text_part(text, 2 * i, 2), &byte))
            return false;
        hash[i] = (unsigned char)byte;
    }
    return true;
}

static bool read_scopes(struct text_view text, unsigned *scopes)
{
    *scopes = 0;
    if (text_ends_with(text, TEXT(",")))
        return false;
    while (text.size > 0) {
        struct text_view scope = text_cut(&text, ',');
        if (text_equal(scope, TEXT("read")))
            *scopes |= SCOPE_READ;
        else if (text_equal(scope, TEXT("write")))
            *scopes |= SCOPE_WRITE;
        else
            return false;
    }
    return *scopes != 0;
}

static bool read_group(struct text_view text, char group[RECORDING_ID_BYTES + 1])
{
    if (!text_equal(text, TEXT("*")))
        return recording_set_id(group, "group", text, NULL);
    snprintf(group, 2, "*");
    return true;
}

static bool read_token(struct text_view line, struct token *token)
{
    struct text_view id = text_cut(&line, ' ');
    struct text_view scopes = text_cut(&line, ' ');
    struct text_view group = text_cut(&line, ' ');
    if (id.size != TOKEN_ID_BYTES || !recording_id_is_valid(id))
        return false;
    memcpy(token->grant.id, id.data, id.size);
    token->grant.id[id.size] = '\0';
    return read_scopes(scopes, &token->grant.scopes) && read_group(group, token->grant.group) &&
           read_hash(line, token->hash);
}

static bool read_lines(struct text_view text, struct token_list *list, struct error *error)
{
    for (unsigned line = 1; text.size > 0; line++) {
        struct text_view trimmed = text_trim(text_cut(&text, '\n'));
        struct token token;
        if (trimmed.size == 0 || trimmed.data[0] == '#')
            continue;
        if (!read_token(trimmed, &token))
            return error_set(error, ERROR_BAD_INPUT, "line %u: not \"ID SCOPES GROUP HASH\"", line);
        if (!array_reserve(&list->items, &list->capacity, list->count + 1, TOKEN_LIMIT))
            return error_set(error, ERROR_MEMORY, "more than %d tokens", TOKEN_LIMIT);
        list->items[list->count++] = token;
    }
    return true;
}

/* A file that is not there is empty. */
static bool read_file(const char *path, struct token_list *list, struct stat *status, struct error *error)
{
    struct text_view text;
    *list = (struct token_list){.items = NULL};
    if (stat(path, status) != 0) {
        *status = (struct stat){.st_ino = 0};
        return errno == ENOENT || error_set_system(error, "%s", path);
    }
    struct byte_source *source = byte_source_open(path, error);
    bool good = source != NULL && byte_source_all(source, FILE_LIMIT_BYTES, &text, error) &&
                read_lines(text, list, error);
    if (!good) {
        free(list->items);
        *list = (struct token_list){.items = NULL};
        error_prefix(error, "%s", path);
    }
    byte_source_close(source);
    return good;
}

/* ---- the tokens of a server ---- */

struct tokens *tokens_open(const char *path, struct error *error)
{
    if (!load_hash(error))
        return NULL;
    struct tokens *tokens = calloc(1, sizeof(*tokens));
    if (tokens == NULL || (tokens->path = strdup(path)) == NULL) {
        free(tokens);
        error_set_memory(error);
        return NULL;
    }
    pthread_mutex_init(&tokens->mutex, NULL);
    if (read_file(path, &tokens->list, &tokens->read, error)) {
        tokens->were_there = tokens->list.count > 0;
        return tokens;
    }
    tokens_close(tokens);
    return NULL;
}

void tokens_close(struct tokens *tokens)
{
    if (tokens == NULL)
        return;
    pthread_mutex_destroy(&tokens->mutex);
    free(tokens->list.items);
    free(tokens->path);
    free(tokens);
}

bool tokens_refresh(struct tokens *tokens, struct error *error)
{
    struct stat status;
    struct token_list list;
    if (!file_status_differs(tokens->path, &tokens->read, &status))
        return true;
    bool good = read_file(tokens->path, &list, &status, error);
    tokens->read = status; /* a file that is wrong is reported once */
    if (!good)
        return false;
    pthread_mutex_lock(&tokens->mutex);
    free(tokens->list.items);
    tokens->list = list;
    tokens->were_there |= list.count > 0;
    pthread_mutex_unlock(&tokens->mutex);
    return true;
}

bool tokens_exist(struct tokens *tokens)
{
    pthread_mutex_lock(&tokens->mutex);
    bool exist = tokens->were_there;
    pthread_mutex_unlock(&tokens->mutex);
    return exist;
}

/* In a time that does not depend on where they differ. */
static bool is_same_hash(const unsigned char *left, const unsigned char *right)
{
    unsigned difference = 0;
    for (size_t i = 0; i < HASH_BYTES; i++)
        difference |= (unsigned)(left[i] ^ right[i]);
    return difference == 0;
}

bool tokens_find(struct tokens *tokens, struct text_view token, struct token_grant *grant)
{
    unsigned char hash[HASH_BYTES];
    bool found = false;
    if (token.size >= TOKEN_BYTES ||
        gnutls.gnutls_hash_fast(GNUTLS_DIG_SHA256, token.data, token.size, hash) != 0)
        return false;
    pthread_mutex_lock(&tokens->mutex);
    for (size_t i = 0; i < tokens->list.count; i++) {
        if (is_same_hash(tokens->list.items[i].hash, hash)) {
            *grant = tokens->list.items[i].grant;
            found = true;
        }
    }
    pthread_mutex_unlock(&tokens->mutex);
    return found;
}

bool token_allows(const struct token_grant *grant, enum token_scope scope, const char *group)
{
    return (grant->scopes & scope) != 0 &&
           (strcmp(grant->group, "*") == 0 || strcmp(grant->group, group) == 0);
}

/* ---- changing the file ---- */

/* The folder of the file, locked until it is closed: the file itself is replaced. -1 with *error set. */
static int lock_folder(const char *path, struct error *error)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        error_set_memory(error);
        return -1;
    }
    const char *folder = dirname(copy);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || flock(descriptor, LOCK_EX) != 0) {
        error_set_system(error, "cannot lock %s", folder);
        if (descriptor >= 0)
            close(descriptor);
        descriptor = -1;
    }
    free(copy);
    return descriptor;
}

/* What root writes, the user of the collector has to read. */
static bool set_owner(const struct output *output, int folder, struct error *error)
{
    struct stat status;
    return geteuid() != 0 ||
           (fstat(folder, &status) == 0 && fchown(output->descriptor, status.st_uid, status.st_gid) == 0) ||
           error_set_system(error, "cannot set the owner of the tokens");
}

/* Writes the lines of the file but that of `removed`, and then `added`; either may be NULL. */
static bool rewrite_locked(const char *path, int folder, const char *removed, const char *added,
                           struct error *error)
{
    struct token_list list;
    struct stat status;
    struct output output;
    char hash[2 * HASH_BYTES + 1];
    bool found = removed == NULL;
    if (!read_file(path, &list, &status, error))
        return false;
    bool good = output_open(&output, path, error);
    for (size_t i = 0; good && i < list.count; i++) {
        const struct token_grant *grant = &list.items[i].grant;
        if (removed != NULL && strcmp(grant->id, removed) == 0) {
            found = true;
            continue;
        }
        write_hexadecimal(hash, list.items[i].hash, HASH_BYTES);
        output_format(&output, "%s %s%s%s %s %s\n", grant->id,
                      (grant->scopes & SCOPE_READ) != 0 ? "read" : "",
                      grant->scopes == (SCOPE_READ | SCOPE_WRITE) ? "," : "",
                      (grant->scopes & SCOPE_WRITE) != 0 ? "write" : "", grant->group, hash);
    }
    if (good) {
        if (added != NULL)
            output_c_string(&output, added);
        good = found ? set_owner(&output, folder, error) && output_finish(&output, error)
                     : error_set(error, ERROR_USAGE, "%s: no token has the id %s", path, removed);
        output_release(&output);
    }
    free(list.items);
    return good;
}

static bool rewrite(const char *path, const char *removed, const char *added, struct error *error)
{
    int folder = lock_folder(path, error);
    if (folder < 0)
        return false;
    bool good = rewrite_locked(path, folder, removed, added, error);
    close(folder);
    return good;
}

bool tokens_add(const char *path, const char *scopes_and_group, char token[TOKEN_BYTES], struct error *error)
{
    unsigned char secret[TOKEN_ID_BYTES / 2 + HASH_BYTES];
    unsigned char hash[HASH_BYTES];
    char text[sizeof(secret) * 2 + 1];
    char hash_text[2 * HASH_BYTES + 1];
    char line[512];
    char group_name[RECORDING_ID_BYTES + 1];
    unsigned bits;
    struct text_view group = text_of(scopes_and_group);
    struct text_view scopes = text_cut(&group, ':');
    if (!read_scopes(scopes, &bits) || !read_group(group, group_name))
        return error_set(error, ERROR_USAGE,
                         "a token is given as read:GROUP, write:GROUP or read,write:GROUP; "
                         "\"*\" stands for all groups");
    if (!load_hash(error))
        return false;
    if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
        return error_set_system(error, "no random numbers");
    write_hexadecimal(text, secret, sizeof(secret));
    snprintf(token, TOKEN_BYTES, "sft_%.*s_%s", TOKEN_ID_BYTES, text, text + TOKEN_ID_BYTES);
    if (gnutls.gnutls_hash_fast(GNUTLS_DIG_SHA256, token, TOKEN_BYTES - 1, hash) != 0)
        return error_set(error, ERROR_UNSUPPORTED, "GnuTLS has no SHA-256");
    write_hexadecimal(hash_text, hash, sizeof(hash));
    snprintf(line, sizeof(line), "%.*s %.*s %s %s\n", TOKEN_ID_BYTES, text, TEXT_FORMAT(scopes), group_name,
             hash_text);
    return rewrite(path, NULL, line, error);
}

bool tokens_remove(const char *path, const char *id, struct error *error)
{
    return rewrite(path, id, NULL, error);
}
