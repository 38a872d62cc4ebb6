#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *error, enum error_code code, const char *format, ...)
{
    if (error == NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return false;
}

bool error_set_system(struct error *error, const char *format, ...)
{
    int number = errno;
    if (error == NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    error->code = ERROR_SYSTEM;
    int used = vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used < sizeof(error->message)) {
        char text[128];
        snprintf(error->message + used, sizeof(error->message) - (size_t)used, ": %s",
                 strerror_r(number, text, sizeof(text)));
    }
    return false;
}

bool error_set_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory");
}

bool error_prefix(struct error *error, const char *format, ...)
{
    if (error == NULL)
        return false;
    char old[sizeof(error->message)];
    memcpy(old, error->message, sizeof(old));
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used < sizeof(error->message))
        snprintf(error->message + used, sizeof(error->message) - (size_t)used, ": %s", old);
    return false;
}
