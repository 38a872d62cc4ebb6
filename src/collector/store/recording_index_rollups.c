/*
 * recording_index_rollups.c - the roll-ups that recording_index.h lists.
 */
#include "collector/store/index_statements.h"
#include "collector/store/recording_index.h"

bool recording_index_add_rollup(struct recording_index *index, const struct stored_rollup *rollup,
                                struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_ADD_ROLLUP];
    const int64_t numbers[] = {(int64_t)rollup->level,
                               (int64_t)rollup->first,
                               (int64_t)rollup->last,
                               rollup->first_ms,
                               rollup->last_ms,
                               (int64_t)rollup->recordings,
                               (int64_t)rollup->fingerprint,
                               (int64_t)rollup->bytes};
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)rollup->number);
    index_bind_text(statement, 2, rollup->group);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sqlite.sqlite3_bind_int64(statement, 3 + (int)i, numbers[i]);
    return index_step_once(index, statement, error);
}

bool recording_index_remove_rollup(struct recording_index *index, uint64_t number, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_REMOVE_ROLLUP];
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    return index_step_once(index, statement, error);
}

static void read_rollup(sqlite3_stmt *statement, struct stored_rollup *rollup)
{
    index_copy_column(statement, 1, rollup->group, sizeof(rollup->group));
    rollup->number = (uint64_t)sqlite.sqlite3_column_int64(statement, 0);
    rollup->level = (uint32_t)sqlite.sqlite3_column_int64(statement, 2);
    rollup->first = (uint64_t)sqlite.sqlite3_column_int64(statement, 3);
    rollup->last = (uint64_t)sqlite.sqlite3_column_int64(statement, 4);
    rollup->first_ms = sqlite.sqlite3_column_int64(statement, 5);
    rollup->last_ms = sqlite.sqlite3_column_int64(statement, 6);
    rollup->recordings = (uint64_t)sqlite.sqlite3_column_int64(statement, 7);
    rollup->fingerprint = (uint64_t)sqlite.sqlite3_column_int64(statement, 8);
    rollup->bytes = (uint64_t)sqlite.sqlite3_column_int64(statement, 9);
}

bool recording_index_get_rollup(struct recording_index *index, uint64_t number, bool *found,
                                struct stored_rollup *rollup, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_GET_ROLLUP];
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    int code = sqlite.sqlite3_step(statement);
    *found = code == SQLITE_ROW;
    if (*found)
        read_rollup(statement, rollup);
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || index_fail(index, error, "cannot read");
    sqlite.sqlite3_reset(statement);
    return good;
}

struct rollup_taker {
    bool (*take)(void *context, const struct stored_rollup *rollup);
    void *context;
};

static bool take_rollup(void *context, sqlite3_stmt *statement)
{
    const struct rollup_taker *taker = context;
    struct stored_rollup rollup;
    read_rollup(statement, &rollup);
    return taker->take(taker->context, &rollup);
}

bool recording_index_each_rollup(struct recording_index *index, const char *group, uint64_t from,
                                 uint64_t before,
                                 bool (*take)(void *context, const struct stored_rollup *rollup),
                                 void *context, struct error *error)
{
    struct rollup_taker taker = {take, context};
    sqlite3_stmt *statement = index->statements[group == NULL ? STATEMENT_ROLLUPS_ALL : STATEMENT_ROLLUPS];
    index_bind_text(statement, 1, group);
    sqlite.sqlite3_bind_int64(statement, 2, (sqlite3_int64)from);
    sqlite.sqlite3_bind_int64(statement, 3, (sqlite3_int64)before);
    return index_each_row(index, statement, take_rollup, &taker, error);
}

bool recording_index_rollup_end(struct recording_index *index, const char *group, unsigned level,
                                uint64_t *last, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_ROLLUP_END];
    index_bind_text(statement, 1, group);
    sqlite.sqlite3_bind_int64(statement, 2, (sqlite3_int64)level);
    bool good = sqlite.sqlite3_step(statement) == SQLITE_ROW || index_fail(index, error, "cannot read");
    if (good)
        *last = (uint64_t)sqlite.sqlite3_column_int64(statement, 0);
    sqlite.sqlite3_reset(statement);
    return good;
}
