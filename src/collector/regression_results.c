#include "collector/regression_results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "input/byte_source.h"

void regression_key_set(struct regression_key *key, const char *group, const char *application,
                        const char *attempt)
{
    snprintf(key->group, sizeof(key->group), "%s", group);
    snprintf(key->application, sizeof(key->application), "%s", application);
    snprintf(key->attempt, sizeof(key->attempt), "%s", attempt);
}

uint64_t regression_key_hash(const struct regression_key *key)
{
    uint64_t hash = hash_bytes(key->group, strlen(key->group));
    hash =
        hash_mix(hash ^ HASH_SEED, hash_bytes(key->application, strlen(key->application)) ^ HASH_MULTIPLIER);
    return hash_mix(hash ^ HASH_SEED, hash_bytes(key->attempt, strlen(key->attempt)) ^ HASH_MULTIPLIER);
}

void regression_results_release(struct regression_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        free(results->items[i].json);
    free(results->items);
    *results = (struct regression_results){.items = NULL};
}

static bool is_same(const struct regression_key *left, const struct regression_key *right)
{
    return strcmp(left->application, right->application) == 0 && strcmp(left->attempt, right->attempt) == 0 &&
           strcmp(left->group, right->group) == 0;
}

struct regression_result *regression_results_find(const struct regression_results *results,
                                                  const struct regression_key *key)
{
    for (size_t i = results->count; i-- > 0;)
        if (is_same(&results->items[i].key, key))
            return &results->items[i];
    return NULL;
}

static void remove_item(struct regression_results *results, size_t number)
{
    free(results->items[number].json);
    results->count--;
    memmove(&results->items[number], &results->items[number + 1],
            (results->count - number) * sizeof(*results->items));
}

static void drop_oldest(struct regression_results *results)
{
    size_t texts = 0, first = 0;
    for (size_t i = 0; i < results->count; i++)
        texts += results->items[i].json != NULL;
    for (size_t i = 0; i < results->count && texts > REGRESSION_LIMIT; i++)
        if (results->items[i].json != NULL &&
            (results->items[i].reported_ms != 0 || texts > UNREPORTED_LIMIT)) {
            free(results->items[i].json);
            results->items[i].json = NULL;
            texts--;
        }
    /* There are far fewer with a text. */
    while (results->count > RESULT_LIMIT) {
        while (results->items[first].json != NULL)
            first++;
        remove_item(results, first);
    }
}

bool regression_results_add(struct regression_results *results, const struct regression_key *key,
                            int64_t checked_ms, struct text_view json)
{
    const struct regression_result *known = regression_results_find(results, key);
    json = text_trim(json);
    char *copy = json.size == 0 || json.size > REGRESSION_TEXT_BYTES ? NULL : strndup(json.data, json.size);
    if ((copy == NULL && json.size > 0 && json.size <= REGRESSION_TEXT_BYTES) ||
        !array_reserve(&results->items, &results->capacity, results->count + 1, RESULT_LIMIT + 1)) {
        free(copy);
        return false;
    }
    if (known != NULL)
        remove_item(results, (size_t)(known - results->items));
    results->items[results->count++] =
        (struct regression_result){.key = *key, .checked_ms = checked_ms, .json = copy};
    drop_oldest(results);
    return true;
}

/* ---- the file ---- */

void regression_results_write(const struct regression_results *results, struct text_builder *to)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct regression_result *result = &results->items[i];
        text_builder_format(to, "%lld %lld %s %s %s ", (long long)result->checked_ms,
                            (long long)result->reported_ms, result->key.group, result->key.application,
                            result->key.attempt[0] == '\0' ? "-" : result->key.attempt);
        text_builder_add_c_string(to, result->json == NULL ? "-" : result->json);
        text_builder_add_byte(to, '\n');
    }
}

/* False: no memory. */
static bool read_line(struct regression_results *results, struct text_view line)
{
    struct regression_key key;
    uint64_t checked_ms, reported_ms;
    bool good = text_to_u64(text_cut(&line, ' '), &checked_ms) && checked_ms <= INT64_MAX &&
                text_to_u64(text_cut(&line, ' '), &reported_ms) && reported_ms <= checked_ms &&
                recording_set_id(key.group, "group", text_cut(&line, ' '), NULL) &&
                recording_set_id(key.application, "application", text_cut(&line, ' '), NULL);
    struct text_view attempt = text_cut(&line, ' ');
    key.attempt[0] = '\0';
    good =
        good && (text_equal(attempt, TEXT("-")) || recording_set_id(key.attempt, "attempt", attempt, NULL));
    bool is_regression = line.size > 2 && line.data[0] == '{' && line.data[line.size - 1] == '}';
    if (!good || !(is_regression || text_equal(line, TEXT("-"))))
        return true;
    good = regression_results_add(results, &key, (int64_t)checked_ms, is_regression ? line : TEXT(""));
    if (good)
        results->items[results->count - 1].reported_ms = (int64_t)reported_ms;
    return good;
}

bool regression_results_read(struct regression_results *results, const char *path, struct error *error)
{
    struct stat status;
    struct text_view all;
    *results = (struct regression_results){.items = NULL};
    if (stat(path, &status) != 0)
        return errno == ENOENT || error_set_system(error, "%s", path);
    struct byte_source *source = byte_source_open(path, error);
    bool good = source != NULL &&
                (status.st_size == 0 || byte_source_all(source, REGRESSION_FILE_BYTES, &all, error));
    while (good && status.st_size > 0 && all.size > 0)
        good = read_line(results, text_cut(&all, '\n')) || error_set_memory(error);
    byte_source_close(source);
    return good || error_prefix(error, "%s", path);
}
