#include "collector/store/recording_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/store/index_statements.h"

#define VERSION "3"
#define COLUMNS                                                                                          \
    "number, group_name, application, attempt, executor, sequence, kind, labels, received_ms, segment, " \
    "begin_at, "                                                                                         \
    "end_at, meta_bytes, body_bytes, crc"

#define SELECTION                                                            \
    "(?2 IS NULL OR application = ?2) AND (?3 IS NULL OR attempt = ?3) AND " \
    "(?4 IS NULL OR executor = ?4) AND received_ms >= ?5 AND received_ms < ?6 "
/* Numbers are in an index with the group, times are not. */
#define NUMBERS "AND number >= ?10 AND number < ?11 "
#define OTHER_CONDITIONS SELECTION "AND number > ?7 AND number < ?9 ORDER BY number LIMIT ?8"
#define ROLLUP_COLUMNS                                                                                   \
    "number, group_name, level, first_number, last_number, first_ms, last_ms, recordings, fingerprint, " \
    "bytes"
#define OF_GROUP "FROM recordings WHERE group_name = ?1 AND " SELECTION NUMBERS

static const char *const statement_texts[STATEMENT_COUNT] = {
    [STATEMENT_FIND] = "SELECT " COLUMNS " FROM recordings WHERE group_name = ?1 AND application = ?2 AND "
                       "attempt = ?3 AND executor = ?4 AND sequence = ?5",
    [STATEMENT_GET] = "SELECT " COLUMNS " FROM recordings WHERE number = ?1",
    [STATEMENT_ADD] =
        "INSERT OR IGNORE INTO recordings(" COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
        "?10, ?11, ?12, ?13, ?14, ?15)",
    [STATEMENT_REMOVE_SEGMENT] = "DELETE FROM recordings WHERE segment = ?1",
    [STATEMENT_TOTALS] = "SELECT count(*), coalesce(sum(body_bytes), 0), "
                         "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'recordings'), 0), "
                         "coalesce(max(received_ms), 0) FROM recordings",
    [STATEMENT_SEGMENTS] =
        "SELECT segment, max(end_at), max(received_ms) FROM recordings GROUP BY segment ORDER BY 1",
    [STATEMENT_QUERY] = "SELECT " COLUMNS " FROM recordings WHERE group_name = ?1 AND " OTHER_CONDITIONS,
    [STATEMENT_QUERY_ALL] = "SELECT " COLUMNS " FROM recordings WHERE ?1 IS NULL AND " OTHER_CONDITIONS,
    [STATEMENT_GROUPS] =
        "SELECT group_name, NULL, NULL, count(DISTINCT application), 0, count(*), "
        "sum(body_bytes), min(received_ms), max(received_ms) FROM recordings GROUP BY group_name",
    [STATEMENT_APPLICATIONS] =
        "SELECT group_name, application, attempt, 1, "
        "count(DISTINCT CASE WHEN kind != 'event_log' THEN executor END), count(*), "
        "sum(body_bytes), min(received_ms), max(received_ms) FROM recordings "
        "WHERE group_name = ?1 GROUP BY application, attempt ORDER BY 9 DESC, 2, 3 LIMIT ?2",
    /* An executor's number means nothing in another application. */
    [STATEMENT_STEPS] = "SELECT (received_ms - ?5) / ?7, count(*), sum(body_bytes), "
                        "count(DISTINCT CASE WHEN kind != 'event_log' THEN application || ' ' || attempt || "
                        "' ' || executor END) " OF_GROUP "GROUP BY 1 ORDER BY 1",
    [STATEMENT_LABELS] = "SELECT DISTINCT labels " OF_GROUP "AND labels != '' ORDER BY 1 LIMIT ?7",
    [STATEMENT_SERIES] = "SELECT DISTINCT application, attempt, executor, kind, labels " OF_GROUP "LIMIT ?7",
    [STATEMENT_SPAN] = "SELECT coalesce(min(received_ms), 0), coalesce(max(received_ms), 0) " OF_GROUP,
    [STATEMENT_FIRST_SINCE] = "SELECT number, received_ms FROM recordings WHERE number >= ?1 "
                              "ORDER BY number LIMIT 1",
    /* SQLite adds without overflow, or fails: the checksums have 32 bits. */
    [STATEMENT_RANGE] = "SELECT count(*), coalesce(min(number), 0), coalesce(max(number), 0), "
                        "coalesce(min(received_ms), 0), coalesce(max(received_ms), 0), "
                        "coalesce(sum(crc), 0) FROM (SELECT number, received_ms, crc FROM recordings "
                        "WHERE group_name = ?1 AND number >= ?2 AND number < ?3 ORDER BY number LIMIT ?4)",
    /* The index of the key has all columns of this, and is in the order of applications. */
    [STATEMENT_COUNT_OF] = "SELECT count(*) FROM (SELECT 1 FROM recordings WHERE group_name = ?1 AND "
                           "application = ?2 AND (?3 IS NULL OR attempt = ?3) AND "
                           "(?4 IS NULL OR executor = ?4) AND number > ?5 AND number < ?6 LIMIT ?7)",
    [STATEMENT_CHANGED] = "SELECT group_name, max(number) FROM recordings NOT INDEXED WHERE number > ?1 "
                          "GROUP BY group_name",
    [STATEMENT_SEGMENT_END] = "SELECT coalesce(max(number), 0), coalesce(min(group_name), '') "
                              "FROM recordings WHERE segment = ?1",
    [STATEMENT_ADD_ROLLUP] =
        "INSERT INTO rollups(" ROLLUP_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [STATEMENT_GET_ROLLUP] = "SELECT " ROLLUP_COLUMNS " FROM rollups WHERE number = ?1",
    [STATEMENT_REMOVE_ROLLUP] = "DELETE FROM rollups WHERE number = ?1",
    [STATEMENT_ROLLUPS] = "SELECT " ROLLUP_COLUMNS " FROM rollups WHERE group_name = ?1 AND "
                          "first_number >= ?2 AND last_number < ?3 ORDER BY first_number, last_number DESC",
    [STATEMENT_ROLLUPS_ALL] = "SELECT " ROLLUP_COLUMNS " FROM rollups WHERE ?1 IS NULL AND "
                              "first_number >= ?2 AND last_number < ?3 ORDER BY number",
    [STATEMENT_ROLLUP_END] =
        "SELECT coalesce(max(last_number), 0) FROM rollups WHERE group_name = ?1 AND level = ?2",
};

/* AUTOINCREMENT keeps the highest number, so that none is given again after its recording was deleted. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS recordings("
    "number INTEGER PRIMARY KEY AUTOINCREMENT, group_name TEXT NOT NULL, application TEXT NOT NULL, "
    "attempt TEXT NOT NULL, executor TEXT NOT NULL, sequence INTEGER NOT NULL, "
    "kind TEXT NOT NULL, labels TEXT NOT NULL, received_ms INTEGER NOT NULL, "
    "segment INTEGER NOT NULL, begin_at INTEGER NOT NULL, end_at INTEGER NOT NULL, "
    "meta_bytes INTEGER NOT NULL, body_bytes INTEGER NOT NULL, crc INTEGER NOT NULL, "
    "UNIQUE(group_name, application, attempt, executor, sequence));"
    "CREATE INDEX IF NOT EXISTS recordings_by_segment ON recordings(segment, end_at, received_ms);"
    "CREATE INDEX IF NOT EXISTS recordings_by_group ON recordings(group_name, number);"
    "CREATE TABLE IF NOT EXISTS rollups("
    "number INTEGER PRIMARY KEY, group_name TEXT NOT NULL, level INTEGER NOT NULL, "
    "first_number INTEGER NOT NULL, last_number INTEGER NOT NULL, first_ms INTEGER NOT NULL, "
    "last_ms INTEGER NOT NULL, recordings INTEGER NOT NULL, fingerprint INTEGER NOT NULL, "
    "bytes INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS rollups_by_group ON rollups(group_name, first_number);"
    "PRAGMA user_version = " VERSION;

static bool execute(struct recording_index *index, const char *text, struct error *error)
{
    return sqlite.sqlite3_exec(index->connection, text, NULL, NULL, NULL) == SQLITE_OK ||
           index_fail(index, error, "cannot write");
}

static bool prepare_all(struct recording_index *index, struct error *error)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        if (sqlite.sqlite3_prepare_v2(index->connection, statement_texts[i], -1, &index->statements[i],
                                      NULL) != SQLITE_OK)
            return index_fail(index, error, "cannot read");
    return true;
}

static struct recording_index *open_file(const char *path, int flags, struct error *error)
{
    struct recording_index *index = calloc(1, sizeof(*index));
    if (index == NULL) {
        error_set_memory(error);
        return NULL;
    }
    if (sqlite.sqlite3_open_v2(path, &index->connection, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        sqlite.sqlite3_busy_timeout(index->connection, 10000) == SQLITE_OK)
        return index;
    index_fail(index, error, "cannot open");
    recording_index_close(index);
    return NULL;
}

/* The version of the file; 0: new; -1: damaged, or of another program. */
static int64_t read_version(struct recording_index *index)
{
    sqlite3_stmt *statement;
    int64_t version = -1;
    if (sqlite.sqlite3_prepare_v2(index->connection, "PRAGMA user_version", -1, &statement, NULL) !=
        SQLITE_OK)
        return -1;
    if (sqlite.sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite.sqlite3_column_int64(statement, 0);
    sqlite.sqlite3_finalize(statement);
    return version;
}

/* Finds damaged pages, also those that only some later request would read. */
static bool check_pages(struct recording_index *index, struct error *error)
{
    sqlite3_stmt *statement;
    if (sqlite.sqlite3_prepare_v2(index->connection, "PRAGMA quick_check(1)", -1, &statement, NULL) !=
        SQLITE_OK)
        return index_fail(index, error, "cannot read");
    bool good = sqlite.sqlite3_step(statement) == SQLITE_ROW || index_fail(index, error, "cannot read");
    const char *text = good ? (const char *)sqlite.sqlite3_column_text(statement, 0) : NULL;
    if (good && (text == NULL || strcmp(text, "ok") != 0))
        good = error_set(error, ERROR_BAD_INPUT, "index: damaged");
    sqlite.sqlite3_finalize(statement);
    return good;
}

struct recording_index *recording_index_open(const char *path, bool *is_damaged, struct error *error)
{
    struct error opening = {0};
    *is_damaged = false;
    struct recording_index *index = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    if (index == NULL)
        return NULL;
    int64_t version = read_version(index);
    *is_damaged = version != 0 && version != strtol(VERSION, NULL, 10);
    /* A checkpoint may wait for readers, so the file that it empties is kept small instead. */
    bool good = !*is_damaged && execute(index, "PRAGMA journal_mode = WAL", &opening) &&
                execute(index, "PRAGMA synchronous = NORMAL", &opening) &&
                execute(index, "PRAGMA journal_size_limit = 16777216", &opening) &&
                execute(index, schema, &opening) && prepare_all(index, &opening) &&
                check_pages(index, &opening);
    if (good)
        return index;
    if (*is_damaged)
        error_set(&opening, ERROR_BAD_INPUT, "index: damaged, or of another version");
    *is_damaged = opening.code == ERROR_BAD_INPUT;
    error_set(error, opening.code, "%s", opening.message);
    recording_index_close(index);
    return NULL;
}

struct recording_index *recording_index_open_reader(const char *path, struct error *error)
{
    struct recording_index *index = open_file(path, SQLITE_OPEN_READWRITE, error);
    if (index == NULL || (execute(index, "PRAGMA query_only = 1", error) && prepare_all(index, error)))
        return index;
    recording_index_close(index);
    return NULL;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int is_late(void *context)
{
    const struct recording_index *index = context;
    return monotonic_ms() > index->end_ms;
}

void recording_index_limit_time(struct recording_index *index, unsigned seconds)
{
    enum { STEPS_BETWEEN = 10000 };
    index->limit_ms = seconds * INT64_C(1000);
    recording_index_start_clock(index);
    sqlite.sqlite3_progress_handler(index->connection, STEPS_BETWEEN, is_late, index);
}

void recording_index_start_clock(struct recording_index *index)
{
    index->end_ms = monotonic_ms() + index->limit_ms;
}

void recording_index_close(struct recording_index *index)
{
    if (index == NULL)
        return;
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        sqlite.sqlite3_finalize(index->statements[i]);
    sqlite.sqlite3_close(index->connection);
    free(index);
}

void recording_index_remove(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[4096];
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

bool recording_index_begin(struct recording_index *index, struct error *error)
{
    return execute(index, "BEGIN IMMEDIATE", error);
}

bool recording_index_commit(struct recording_index *index, struct error *error)
{
    return execute(index, "COMMIT", error);
}

void recording_index_roll_back(struct recording_index *index)
{
    sqlite.sqlite3_exec(index->connection, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- statements ---- */

static void read_row(sqlite3_stmt *statement, struct stored_recording *recording)
{
    recording->number = (uint64_t)sqlite.sqlite3_column_int64(statement, 0);
    index_copy_column(statement, 1, recording->group, sizeof(recording->group));
    index_copy_column(statement, 2, recording->application, sizeof(recording->application));
    index_copy_column(statement, 3, recording->attempt, sizeof(recording->attempt));
    index_copy_column(statement, 4, recording->executor, sizeof(recording->executor));
    recording->sequence = (uint64_t)sqlite.sqlite3_column_int64(statement, 5);
    index_copy_column(statement, 6, recording->kind, sizeof(recording->kind));
    index_copy_column(statement, 7, recording->labels, sizeof(recording->labels));
    recording->received_ms = sqlite.sqlite3_column_int64(statement, 8);
    recording->segment = (uint64_t)sqlite.sqlite3_column_int64(statement, 9);
    recording->offset = (uint64_t)sqlite.sqlite3_column_int64(statement, 10);
    recording->end = (uint64_t)sqlite.sqlite3_column_int64(statement, 11);
    recording->meta_bytes = (uint32_t)sqlite.sqlite3_column_int64(statement, 12);
    recording->body_bytes = (uint32_t)sqlite.sqlite3_column_int64(statement, 13);
    recording->crc = (uint32_t)sqlite.sqlite3_column_int64(statement, 14);
}

/* Runs a statement that has at most one row. */
static bool read_one(struct recording_index *index, sqlite3_stmt *statement, bool *found,
                     struct stored_recording *recording, struct error *error)
{
    int code = sqlite.sqlite3_step(statement);
    *found = code == SQLITE_ROW;
    if (*found)
        read_row(statement, recording);
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || index_fail(index, error, "cannot read");
    sqlite.sqlite3_reset(statement);
    return good;
}

bool recording_index_find(struct recording_index *index, const struct stored_recording *key, bool *found,
                          struct stored_recording *recording, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_FIND];
    index_bind_text(statement, 1, key->group);
    index_bind_text(statement, 2, key->application);
    index_bind_text(statement, 3, key->attempt);
    index_bind_text(statement, 4, key->executor);
    sqlite.sqlite3_bind_int64(statement, 5, (sqlite3_int64)key->sequence);
    return read_one(index, statement, found, recording, error);
}

bool recording_index_get(struct recording_index *index, uint64_t number, bool *found,
                         struct stored_recording *recording, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_GET];
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    return read_one(index, statement, found, recording, error);
}

bool recording_index_add(struct recording_index *index, const struct stored_recording *recording, bool *added,
                         struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_ADD];
    const int64_t numbers[] = {
        recording->received_ms,  (int64_t)recording->segment, (int64_t)recording->offset,
        (int64_t)recording->end, recording->meta_bytes,       recording->body_bytes,
        recording->crc};
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)recording->number);
    index_bind_text(statement, 2, recording->group);
    index_bind_text(statement, 3, recording->application);
    index_bind_text(statement, 4, recording->attempt);
    index_bind_text(statement, 5, recording->executor);
    sqlite.sqlite3_bind_int64(statement, 6, (sqlite3_int64)recording->sequence);
    index_bind_text(statement, 7, recording->kind);
    index_bind_text(statement, 8, recording->labels);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sqlite.sqlite3_bind_int64(statement, 9 + (int)i, numbers[i]);
    bool good = index_step_once(index, statement, error);
    *added = good && sqlite.sqlite3_changes(index->connection) == 1;
    return good;
}

bool recording_index_remove_segment(struct recording_index *index, uint64_t segment, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_REMOVE_SEGMENT];
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)segment);
    return index_step_once(index, statement, error);
}

bool recording_index_totals(struct recording_index *index, struct index_totals *totals, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_TOTALS];
    bool good = sqlite.sqlite3_step(statement) == SQLITE_ROW || index_fail(index, error, "cannot read");
    if (good)
        *totals = (struct index_totals){(uint64_t)sqlite.sqlite3_column_int64(statement, 0),
                                        (uint64_t)sqlite.sqlite3_column_int64(statement, 1),
                                        (uint64_t)sqlite.sqlite3_column_int64(statement, 2),
                                        sqlite.sqlite3_column_int64(statement, 3)};
    sqlite.sqlite3_reset(statement);
    return good;
}

/* ---- lists ---- */

struct segment_taker {
    bool (*take)(void *context, const struct indexed_segment *segment);
    void *context;
};

static bool take_segment(void *context, sqlite3_stmt *statement)
{
    const struct segment_taker *taker = context;
    struct indexed_segment segment = {(uint64_t)sqlite.sqlite3_column_int64(statement, 0),
                                      (uint64_t)sqlite.sqlite3_column_int64(statement, 1),
                                      sqlite.sqlite3_column_int64(statement, 2)};
    return taker->take(taker->context, &segment);
}

bool recording_index_each_segment(struct recording_index *index,
                                  bool (*take)(void *context, const struct indexed_segment *segment),
                                  void *context, struct error *error)
{
    struct segment_taker taker = {take, context};
    return index_each_row(index, index->statements[STATEMENT_SEGMENTS], take_segment, &taker, error);
}

struct recording_taker {
    bool (*take)(void *context, const struct stored_recording *recording);
    void *context;
};

static bool take_recording(void *context, sqlite3_stmt *statement)
{
    const struct recording_taker *taker = context;
    struct stored_recording recording;
    read_row(statement, &recording);
    return taker->take(taker->context, &recording);
}

/* The numbers of recordings that were received in [from_ms, to_ms). */
static bool find_numbers(struct recording_index *index, const struct recording_query *query, uint64_t *from,
                         uint64_t *before, struct error *error)
{
    *from = query->after + 1;
    *before = query->before == 0 ? INT64_MAX : query->before;
    uint64_t first = 1, end = INT64_MAX;
    if ((query->from_ms > 0 && !recording_index_first_since(index, query->from_ms, &first, error)) ||
        (query->to_ms < INT64_MAX && !recording_index_first_since(index, query->to_ms, &end, error)))
        return false;
    *from = first > *from ? first : *from;
    *before = end < *before ? end : *before;
    return true;
}

static void bind_query(sqlite3_stmt *statement, const struct recording_query *query)
{
    index_bind_text(statement, 1, query->group);
    index_bind_text(statement, 2, query->application);
    index_bind_text(statement, 3, query->attempt);
    index_bind_text(statement, 4, query->executor);
    sqlite.sqlite3_bind_int64(statement, 5, query->from_ms);
    sqlite.sqlite3_bind_int64(statement, 6, query->to_ms);
}

/* One with NUMBERS and perhaps a further number; NULL with *error set. */
static sqlite3_stmt *bind_selection(struct recording_index *index, enum statement_kind kind,
                                    const struct recording_query *query, uint64_t further,
                                    struct error *error)
{
    sqlite3_stmt *statement = index->statements[kind];
    uint64_t from, before;
    if (!find_numbers(index, query, &from, &before, error))
        return NULL;
    bind_query(statement, query);
    sqlite.sqlite3_bind_int64(statement, 7, (sqlite3_int64)further);
    sqlite.sqlite3_bind_int64(statement, 10, (sqlite3_int64)from);
    sqlite.sqlite3_bind_int64(statement, 11, (sqlite3_int64)before);
    return statement;
}

bool recording_index_each(struct recording_index *index, const struct recording_query *query,
                          bool (*take)(void *context, const struct stored_recording *recording),
                          void *context, struct error *error)
{
    struct recording_taker taker = {take, context};
    sqlite3_stmt *statement = index->statements[query->group == NULL ? STATEMENT_QUERY_ALL : STATEMENT_QUERY];
    uint64_t from, before;
    if (!find_numbers(index, query, &from, &before, error))
        return false;
    bind_query(statement, query);
    sqlite.sqlite3_bind_int64(statement, 7, (sqlite3_int64)from - 1);
    sqlite.sqlite3_bind_int64(statement, 8, (sqlite3_int64)query->limit);
    sqlite.sqlite3_bind_int64(statement, 9, (sqlite3_int64)before);
    return index_each_row(index, statement, take_recording, &taker, error);
}

struct sum_taker {
    recording_sum_taker take;
    void *context;
};

static bool take_sum(void *context, sqlite3_stmt *statement)
{
    const struct sum_taker *taker = context;
    struct recording_sum sum = {
        .group = (const char *)sqlite.sqlite3_column_text(statement, 0),
        .application = (const char *)sqlite.sqlite3_column_text(statement, 1),
        .attempt = (const char *)sqlite.sqlite3_column_text(statement, 2),
        .applications = (uint64_t)sqlite.sqlite3_column_int64(statement, 3),
        .executors = (uint64_t)sqlite.sqlite3_column_int64(statement, 4),
        .recordings = (uint64_t)sqlite.sqlite3_column_int64(statement, 5),
        .bytes = (uint64_t)sqlite.sqlite3_column_int64(statement, 6),
        .first_ms = sqlite.sqlite3_column_int64(statement, 7),
        .last_ms = sqlite.sqlite3_column_int64(statement, 8),
    };
    return taker->take(taker->context, &sum);
}

bool recording_index_each_group(struct recording_index *index, recording_sum_taker take, void *context,
                                struct error *error)
{
    struct sum_taker taker = {take, context};
    return index_each_row(index, index->statements[STATEMENT_GROUPS], take_sum, &taker, error);
}

bool recording_index_each_application(struct recording_index *index, const char *group, uint64_t limit,
                                      recording_sum_taker take, void *context, struct error *error)
{
    struct sum_taker taker = {take, context};
    sqlite3_stmt *statement = index->statements[STATEMENT_APPLICATIONS];
    index_bind_text(statement, 1, group);
    sqlite.sqlite3_bind_int64(statement, 2, (sqlite3_int64)limit);
    return index_each_row(index, statement, take_sum, &taker, error);
}

struct step_taker {
    bool (*take)(void *context, const struct recording_step *step);
    void *context;
    int64_t from_ms, step_ms;
};

static bool take_step(void *context, sqlite3_stmt *statement)
{
    const struct step_taker *taker = context;
    struct recording_step step = {
        .time_ms = taker->from_ms + sqlite.sqlite3_column_int64(statement, 0) * taker->step_ms,
        .recordings = (uint64_t)sqlite.sqlite3_column_int64(statement, 1),
        .bytes = (uint64_t)sqlite.sqlite3_column_int64(statement, 2),
        .executors = (uint64_t)sqlite.sqlite3_column_int64(statement, 3),
    };
    return taker->take(taker->context, &step);
}

bool recording_index_each_step(struct recording_index *index, const struct recording_query *query,
                               int64_t step_ms,
                               bool (*take)(void *context, const struct recording_step *step), void *context,
                               struct error *error)
{
    struct step_taker taker = {take, context, query->from_ms, step_ms};
    sqlite3_stmt *statement = bind_selection(index, STATEMENT_STEPS, query, (uint64_t)step_ms, error);
    return statement != NULL && index_each_row(index, statement, take_step, &taker, error);
}

struct labels_taker {
    bool (*take)(void *context, struct text_view labels);
    void *context;
};

static bool take_labels(void *context, sqlite3_stmt *statement)
{
    const struct labels_taker *taker = context;
    return taker->take(taker->context, text_of((const char *)sqlite.sqlite3_column_text(statement, 0)));
}

bool recording_index_each_labels(struct recording_index *index, const struct recording_query *query,
                                 bool (*take)(void *context, struct text_view labels), void *context,
                                 struct error *error)
{
    struct labels_taker taker = {take, context};
    sqlite3_stmt *statement = bind_selection(index, STATEMENT_LABELS, query, query->limit, error);
    return statement != NULL && index_each_row(index, statement, take_labels, &taker, error);
}

struct series_taker {
    bool (*take)(void *context, const struct recording_series *series);
    void *context;
};

static bool take_series(void *context, sqlite3_stmt *statement)
{
    const struct series_taker *taker = context;
    struct recording_series series;
    struct text_view *places[] = {&series.application, &series.attempt, &series.executor, &series.kind,
                                  &series.labels};
    for (int i = 0; i < (int)COUNT_OF(places); i++)
        *places[i] = text_of((const char *)sqlite.sqlite3_column_text(statement, i));
    return taker->take(taker->context, &series);
}

bool recording_index_each_series(struct recording_index *index, const struct recording_query *query,
                                 bool (*take)(void *context, const struct recording_series *series),
                                 void *context, struct error *error)
{
    struct series_taker taker = {take, context};
    sqlite3_stmt *statement = bind_selection(index, STATEMENT_SERIES, query, query->limit, error);
    return statement != NULL && index_each_row(index, statement, take_series, &taker, error);
}

struct index_span {
    int64_t first_ms, last_ms;
};

static bool take_span(void *context, sqlite3_stmt *statement)
{
    struct index_span *span = context;
    span->first_ms = sqlite.sqlite3_column_int64(statement, 0);
    span->last_ms = sqlite.sqlite3_column_int64(statement, 1);
    return false;
}

bool recording_index_span(struct recording_index *index, const struct recording_query *query,
                          int64_t *first_ms, int64_t *last_ms, struct error *error)
{
    struct index_span span = {0, 0};
    sqlite3_stmt *statement = bind_selection(index, STATEMENT_SPAN, query, 0, error);
    bool good = statement != NULL && index_each_row(index, statement, take_span, &span, error);
    *first_ms = span.first_ms;
    *last_ms = span.last_ms;
    return good;
}

/* ---- ranges of numbers ---- */

/* Numbers and times of receipt grow together, so this is a bisection of the primary key. */
bool recording_index_first_since(struct recording_index *index, int64_t received_ms, uint64_t *number,
                                 struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_FIRST_SINCE];
    uint64_t low = 1;
    uint64_t high = INT64_MAX;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)middle);
        int code = sqlite.sqlite3_step(statement);
        int64_t found_ms = INT64_MAX;
        uint64_t found = (uint64_t)INT64_MAX;
        if (code == SQLITE_ROW) {
            found = (uint64_t)sqlite.sqlite3_column_int64(statement, 0);
            found_ms = sqlite.sqlite3_column_int64(statement, 1);
        }
        bool good = code == SQLITE_ROW || code == SQLITE_DONE || index_fail(index, error, "cannot read");
        sqlite.sqlite3_reset(statement);
        if (!good)
            return false;
        if (found_ms < received_ms)
            low = found + 1;
        else
            high = middle;
    }
    *number = low;
    return true;
}

bool recording_index_range(struct recording_index *index, const char *group, uint64_t from, uint64_t before,
                           uint64_t limit, struct recording_span *range, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_RANGE];
    index_bind_text(statement, 1, group);
    sqlite.sqlite3_bind_int64(statement, 2, (sqlite3_int64)from);
    sqlite.sqlite3_bind_int64(statement, 3, (sqlite3_int64)before);
    sqlite.sqlite3_bind_int64(statement, 4, (sqlite3_int64)limit);
    bool good = sqlite.sqlite3_step(statement) == SQLITE_ROW || index_fail(index, error, "cannot read");
    if (good)
        *range = (struct recording_span){(uint64_t)sqlite.sqlite3_column_int64(statement, 0),
                                         (uint64_t)sqlite.sqlite3_column_int64(statement, 1),
                                         (uint64_t)sqlite.sqlite3_column_int64(statement, 2),
                                         sqlite.sqlite3_column_int64(statement, 3),
                                         sqlite.sqlite3_column_int64(statement, 4),
                                         (uint64_t)sqlite.sqlite3_column_int64(statement, 5)};
    sqlite.sqlite3_reset(statement);
    return good;
}

bool recording_index_count(struct recording_index *index, const struct recording_query *query,
                           uint64_t *count, struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_COUNT_OF];
    const int64_t numbers[] = {(int64_t)query->after, query->before == 0 ? INT64_MAX : (int64_t)query->before,
                               (int64_t)query->limit};
    index_bind_text(statement, 1, query->group);
    index_bind_text(statement, 2, query->application);
    index_bind_text(statement, 3, query->attempt);
    index_bind_text(statement, 4, query->executor);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sqlite.sqlite3_bind_int64(statement, 5 + (int)i, numbers[i]);
    bool good = sqlite.sqlite3_step(statement) == SQLITE_ROW || index_fail(index, error, "cannot read");
    if (good)
        *count = (uint64_t)sqlite.sqlite3_column_int64(statement, 0);
    sqlite.sqlite3_reset(statement);
    return good;
}

struct change_taker {
    bool (*take)(void *context, const char *group, uint64_t last);
    void *context;
};

static bool take_change(void *context, sqlite3_stmt *statement)
{
    const struct change_taker *taker = context;
    return taker->take(taker->context, (const char *)sqlite.sqlite3_column_text(statement, 0),
                       (uint64_t)sqlite.sqlite3_column_int64(statement, 1));
}

bool recording_index_each_change(struct recording_index *index, uint64_t after,
                                 bool (*take)(void *context, const char *group, uint64_t last), void *context,
                                 struct error *error)
{
    struct change_taker taker = {take, context};
    sqlite3_stmt *statement = index->statements[STATEMENT_CHANGED];
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)after);
    return index_each_row(index, statement, take_change, &taker, error);
}

bool recording_index_segment_end(struct recording_index *index, uint64_t segment, uint64_t *last,
                                 char group[RECORDING_ID_BYTES + 1], struct error *error)
{
    sqlite3_stmt *statement = index->statements[STATEMENT_SEGMENT_END];
    sqlite.sqlite3_bind_int64(statement, 1, (sqlite3_int64)segment);
    bool good = sqlite.sqlite3_step(statement) == SQLITE_ROW || index_fail(index, error, "cannot read");
    if (good) {
        *last = (uint64_t)sqlite.sqlite3_column_int64(statement, 0);
        index_copy_column(statement, 1, group, RECORDING_ID_BYTES + 1);
    }
    sqlite.sqlite3_reset(statement);
    return good;
}
