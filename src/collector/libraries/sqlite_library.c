#include "collector/libraries/sqlite_library.h"

#include "collector/libraries/shared_library.h"

struct sqlite_library sqlite;

bool sqlite_library_load(struct error *error)
{
    static const char *const names[] = {
#define FUNCTION(name) #name,
#include "collector/libraries/sqlite_functions.def"
#undef FUNCTION
    };
    static const struct shared_library library = {"libsqlite3.so.0", "libsqlite3-0", names, COUNT_OF(names)};
    return shared_library_load(&library, &sqlite, error);
}
