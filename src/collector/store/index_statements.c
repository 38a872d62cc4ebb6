#include "collector/store/index_statements.h"

#include <stdio.h>

bool index_fail(struct recording_index *index, struct error *error, const char *what)
{
    int code = sqlite.sqlite3_errcode(index->connection);
    if (code == SQLITE_INTERRUPT)
        return error_set(error, ERROR_MEMORY, "the list took more than %lld s: ask for less",
                         (long long)(index->limit_ms / 1000));
    return error_set(error, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERROR_BAD_INPUT : ERROR_SYSTEM,
                     "index: %s: %s", what, sqlite.sqlite3_errmsg(index->connection));
}

void index_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    /* NULL stays NULL; other texts live until the statement is reset. */
    if (text != NULL)
        sqlite.sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
    else
        sqlite.sqlite3_bind_text(statement, at, NULL, 0, SQLITE_STATIC);
}

void index_copy_column(sqlite3_stmt *statement, int at, char *to, size_t room)
{
    const unsigned char *text = sqlite.sqlite3_column_text(statement, at);
    snprintf(to, room, "%s", text == NULL ? "" : (const char *)text);
}

bool index_step_once(struct recording_index *index, sqlite3_stmt *statement, struct error *error)
{
    bool good = sqlite.sqlite3_step(statement) == SQLITE_DONE || index_fail(index, error, "cannot write");
    sqlite.sqlite3_reset(statement);
    return good;
}

bool index_each_row(struct recording_index *index, sqlite3_stmt *statement,
                    bool (*take_row)(void *context, sqlite3_stmt *statement), void *context,
                    struct error *error)
{
    int code;
    while ((code = sqlite.sqlite3_step(statement)) == SQLITE_ROW && take_row(context, statement))
        ;
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || index_fail(index, error, "cannot read");
    sqlite.sqlite3_reset(statement);
    return good;
}
