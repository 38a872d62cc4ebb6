#include "commands/record/agent_library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool take(const char *candidate, char *path)
{
    return realpath(candidate, path) != NULL && access(path, R_OK) == 0;
}

static bool find_near_program(char *path)
{
    static const char *const places[] = {"",
                                         "../lib/",
                                         "../lib/sparkflame/",
                                         "../lib64/",
                                         "../lib/x86_64-linux-gnu/",
                                         "../lib/aarch64-linux-gnu/"};
    char program[PATH_MAX], candidate[PATH_MAX + 64];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (size <= 0)
        return false;
    program[size] = '\0';
    char *slash = strrchr(program, '/');
    slash[1] = '\0';
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        snprintf(candidate, sizeof(candidate), "%s%slibsparkflame.so", program, places[i]);
        if (take(candidate, path))
            return true;
    }
    return false;
}

bool agent_library_find(const char *given, char *path, struct error *error)
{
    const char *named = given != NULL ? given : getenv("SPARKFLAME_AGENT");
    if (named != NULL)
        return take(named, path) || error_set_system(error, "%s", named);
    if (find_near_program(path))
        return true;
    return error_set(
        error, ERROR_SYSTEM,
        "libsparkflame.so is neither next to this program nor in ../lib; set SPARKFLAME_AGENT to its path");
}
