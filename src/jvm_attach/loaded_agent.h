/*
 * loaded_agent.h - finds a copy of the agent that a process has already loaded, from any path.
 *
 * It is recognized by its exported symbols, read from the memory of the process, so that neither its file name nor its
 * version matters, nor whether the file still exists.
 *
 * Of several copies it is the one whose recording started first or, if none is recording, the one that was loaded
 * first; if the memory cannot be read, any.
 *
 * Owns: nothing between calls.
 */
#ifndef JVM_ATTACH_LOADED_AGENT_H
#define JVM_ATTACH_LOADED_AGENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loaded_agent {
    char path[PATH_MAX]; /* as the process sees it */
    bool is_deleted;     /* the file */
};

/* False: there is none, or the process cannot be read. preferred: path of the copy to use if it is loaded, or "". */
bool loaded_agent_find(pid_t pid, const char *preferred, struct loaded_agent *agent);

#endif
