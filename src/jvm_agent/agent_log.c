#include "jvm_agent/agent_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const level_names[] = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "NONE"};
static int log_descriptor = -1; /* log file; -1: none */
static enum agent_log_level log_level = LOG_INFO;

/* A replacement of async-profiler's library logs to the same stream. */
static int standard_descriptor(void)
{
    Dl_info info;
    const char *name = dladdr(level_names, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
    const char *slash = strrchr(name, '/');
    bool stands_in = strncmp(slash == NULL ? name : slash + 1, "libasyncProfiler", 16) == 0;
    return stands_in ? STDOUT_FILENO : STDERR_FILENO;
}

void agent_log_open(const char *path, const char *level)
{
    for (size_t i = 0; level != NULL && i < COUNT_OF(level_names); i++)
        if (strcasecmp(level, level_names[i]) == 0)
            log_level = (enum agent_log_level)i;
    if (path == NULL)
        return;
    bool standard = path[0] == 0 || strcmp(path, "stderr") == 0;
    int descriptor = standard ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_descriptor >= 0)
        close(log_descriptor);
    log_descriptor = descriptor;
    if (descriptor < 0 && !standard)
        agent_log(LOG_WARN, "cannot write the log file %s", path);
}

void agent_log(enum agent_log_level level, const char *format, ...)
{
    char line[1200];
    if (level < log_level)
        return;
    int used = snprintf(line, sizeof(line), "[%s] ", level_names[level]);
    va_list values;
    va_start(values, format);
    used += vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, values);
    va_end(values);
    size_t length = (size_t)used < sizeof(line) - 1 ? (size_t)used : sizeof(line) - 2;
    line[length++] = '\n';
    ssize_t written = write(log_descriptor >= 0 ? log_descriptor : standard_descriptor(), line, length);
    (void)written; /* a failed write cannot be reported */
}
