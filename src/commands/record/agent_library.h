/*
 * agent_library.h - finds libsparkflame.so.
 */
#ifndef COMMANDS_AGENT_LIBRARY_H
#define COMMANDS_AGENT_LIBRARY_H

#include "base/error.h"

/* The given path if not NULL, else $SPARKFLAME_AGENT, else beside this program or in ../lib of it. Room for PATH_MAX
   bytes. */
bool agent_library_find(const char *given, char *path, struct error *error) MUST_CHECK;

#endif
