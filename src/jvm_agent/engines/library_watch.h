/*
 * library_watch.h - detects libraries that are loaded during a recording: reads their symbols and frame tables, and
 * hooks the functions through which they start threads and, if requested, allocate (import_patch.h).
 *
 * Import tables may only be written when the loader has finished with a library, so this waits for it. A constructor
 * can keep the loader busy for long, or wait for us: a separate thread does the waiting, and commands and the writer
 * continue.
 *
 * Threads: any, but not signal handlers; has its own locks.
 */
#ifndef JVM_AGENT_LIBRARY_WATCH_H
#define JVM_AGENT_LIBRARY_WATCH_H

/* Handles the libraries that are loaded, and each one that Java code loads from now on. */
void library_watch_start(void);
/* Removes hooks that are no longer wanted. */
void library_watch_stop(void);
/* Checks for libraries loaded by code other than Java code. */
void library_watch_refresh(void);
/* Installs or removes hooks according to their groups. Returns when done or after two seconds; then it is finished
 * when the loader permits. */
void library_watch_update(void);

#endif
