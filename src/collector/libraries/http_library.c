#include "collector/libraries/http_library.h"

#include "collector/libraries/shared_library.h"

struct http_library http;

bool http_library_load(struct error *error)
{
    static const char *const names[] = {
#define FUNCTION(name) #name,
#include "collector/libraries/http_functions.def"
#undef FUNCTION
    };
    static const struct shared_library library = {"libmicrohttpd.so.12", "libmicrohttpd12", names,
                                                  COUNT_OF(names)};
    return shared_library_load(&library, &http, error);
}
