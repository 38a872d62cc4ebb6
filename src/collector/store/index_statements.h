/*
 * index_statements.h - what the files of recording_index.h share: the connection, its statements, how they are run.
 *
 * Owns: what recording_index.h says.
 */
#ifndef COLLECTOR_INDEX_STATEMENTS_H
#define COLLECTOR_INDEX_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/libraries/sqlite_library.h"

enum statement_kind {
    STATEMENT_FIND,
    STATEMENT_GET,
    STATEMENT_ADD,
    STATEMENT_REMOVE_SEGMENT,
    STATEMENT_TOTALS,
    STATEMENT_SEGMENTS,
    STATEMENT_QUERY,
    STATEMENT_QUERY_ALL,
    STATEMENT_GROUPS,
    STATEMENT_APPLICATIONS,
    STATEMENT_STEPS,
    STATEMENT_LABELS,
    STATEMENT_SERIES,
    STATEMENT_SPAN,
    STATEMENT_FIRST_SINCE,
    STATEMENT_RANGE,
    STATEMENT_COUNT_OF,
    STATEMENT_CHANGED,
    STATEMENT_SEGMENT_END,
    STATEMENT_ADD_ROLLUP,
    STATEMENT_GET_ROLLUP,
    STATEMENT_REMOVE_ROLLUP,
    STATEMENT_ROLLUPS,
    STATEMENT_ROLLUPS_ALL,
    STATEMENT_ROLLUP_END,
    STATEMENT_COUNT,
};

struct recording_index {
    sqlite3 *connection;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    int64_t limit_ms; /* of one clock; 0: none */
    int64_t end_ms;   /* on the monotonic clock */
};

/* What SQLite says, after `what`. */
bool index_fail(struct recording_index *index, struct error *error, const char *what);
/* NULL stays NULL; other texts live until the statement is reset. */
void index_bind_text(sqlite3_stmt *statement, int at, const char *text);
void index_copy_column(sqlite3_stmt *statement, int at, char *to, size_t room);
/* Runs a statement that has no rows. */
bool index_step_once(struct recording_index *index, sqlite3_stmt *statement, struct error *error) MUST_CHECK;
/* Calls `take_row` for each row, until it returns false. */
bool index_each_row(struct recording_index *index, sqlite3_stmt *statement,
                    bool (*take_row)(void *context, sqlite3_stmt *statement), void *context,
                    struct error *error) MUST_CHECK;

#endif
