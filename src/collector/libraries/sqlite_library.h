/*
 * sqlite_library.h - SQLite, loaded by `sparkflame serve` only.
 */
#ifndef COLLECTOR_SQLITE_LIBRARY_H
#define COLLECTOR_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "base/attributes.h"
#include "base/error.h"

struct sqlite_library {
#define FUNCTION(name) __typeof__ (&(name))(name);
#include "collector/libraries/sqlite_functions.def"
#undef FUNCTION
};

extern struct sqlite_library sqlite;

bool sqlite_library_load(struct error *error) MUST_CHECK;

#endif
