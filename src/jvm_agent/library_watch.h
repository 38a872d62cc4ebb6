/*
 * library_watch.h - notices libraries that are loaded while a recording runs: their symbols and frame tables are read, and
 * the functions are replaced through which they start threads and, if so wished, allocate.
 *
 * Threads: any, but no signal handler; has a lock of its own.
 */
#ifndef JVM_AGENT_LIBRARY_WATCH_H
#define JVM_AGENT_LIBRARY_WATCH_H

/* Of the libraries that are there, and of each that Java code loads from now on. */
void library_watch_start(void);
/* Looks for those that libraries have loaded themselves. */
void library_watch_refresh(void);

#endif
