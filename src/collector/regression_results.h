/*
 * regression_results.h - which applications were compared with their earlier runs, and the regressions among them; and
 * the file that keeps both.
 *
 * A line of the file is "CHECKED_MS REPORTED_MS GROUP APPLICATION ATTEMPT JSON", with "-" for no attempt and for no
 * regression; REPORTED_MS is 0 if it was not reported. Lines that are not understood are skipped.
 *
 * Owns: its items, until regression_results_release(). Threads: one at a time.
 * Limit: RESULT_LIMIT results and REGRESSION_LIMIT texts of at most REGRESSION_TEXT_BYTES, or UNREPORTED_LIMIT while
 * they are not reported; the oldest go, results without a regression first.
 */
#ifndef COLLECTOR_REGRESSION_RESULTS_H
#define COLLECTOR_REGRESSION_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"

#define RESULT_LIMIT 2000
#define REGRESSION_LIMIT 200
#define UNREPORTED_LIMIT 400
#define REGRESSION_TEXT_BYTES ((size_t)128 << 10)
#define REGRESSION_FILE_BYTES ((size_t)64 << 20)

struct regression_key {
    char group[RECORDING_ID_BYTES + 1];
    char application[RECORDING_ID_BYTES + 1];
    char attempt[RECORDING_ID_BYTES + 1];
};

void regression_key_set(struct regression_key *key, const char *group, const char *application,
                        const char *attempt);
uint64_t regression_key_hash(const struct regression_key *key);

struct regression_result {
    struct regression_key key;
    int64_t checked_ms; /* when the last recording was received that counted */
    char *json;         /* one line; NULL: it is no regression */
    /* checked_ms of the regression of this application that was reported, or given up, in the day before checked_ms;
     * 0: there is none, and this one is to be reported. */
    int64_t reported_ms;
    unsigned attempts; /* to report it, since the start */
    int64_t next_ms;   /* of the next one */
};

struct regression_results {
    struct regression_result *items; /* the newest last */
    size_t count, capacity;
};

void regression_results_release(struct regression_results *results);
/* NULL: none is known. Valid until the next is added. */
struct regression_result *regression_results_find(const struct regression_results *results,
                                                  const struct regression_key *key);
/* In place of an older one of the key. An empty text is no regression, and one that is too long is cut down to none.
 * False: no memory. */
bool regression_results_add(struct regression_results *results, const struct regression_key *key,
                            int64_t checked_ms, struct text_view json) MUST_CHECK;
void regression_results_write(const struct regression_results *results, struct text_builder *to);
/* To be released in any case. A file that does not exist is empty. */
bool regression_results_read(struct regression_results *results, const char *path,
                             struct error *error) MUST_CHECK;

#endif
