/*
 * file_limit.h - how many files this process may have open.
 */
#ifndef BASE_FILE_LIMIT_H
#define BASE_FILE_LIMIT_H

/* As many as the hard limit allows. */
void file_limit_raise(void);

#endif
