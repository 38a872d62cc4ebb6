/*
 * store_files.h - the folder of a store: its lock, and the segments and roll-ups in it.
 *
 * Owns: the lock and a descriptors of its folders, until store_files_close().
 */
#ifndef COLLECTOR_STORE_FILES_H
#define COLLECTOR_STORE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

struct store_files {
    int lock;
    int segments;
    int rollups;
};

#define STORE_ROLLUPS_NAME "rollups"

#define STORE_PATH_BYTES 4096

/* FOLDER/NAME, as "index.sqlite" and "segments". */
bool store_path(char to[STORE_PATH_BYTES], const char *folder, const char *name,
                struct error *error) MUST_CHECK;

#define STORE_FILES_CLOSED                        \
    {                                             \
        .lock = -1, .segments = -1, .rollups = -1 \
    }

/* Creates what is missing. Fails if another process has the lock. */
bool store_files_open(struct store_files *files, const char *folder, struct error *error) MUST_CHECK;
void store_files_close(struct store_files *files);
/* The numbers of all segments, ascending; the caller frees them. */
bool store_files_list(const struct store_files *files, uint64_t **numbers, size_t *count,
                      struct error *error) MUST_CHECK;
bool store_files_remove(const struct store_files *files, uint64_t number, struct error *error) MUST_CHECK;
/* Bytes that this process may still write to the disk; UINT64_MAX if that is unknown. */
uint64_t store_files_free_bytes(const struct store_files *files);

#endif
