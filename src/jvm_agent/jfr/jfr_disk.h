/*
 * jfr_disk.h - the bytes of a recording on disk, valid for readers at any moment.
 *
 * Readers, the JDK's among them, accept a file only if its last chunk ends at the end of the file. As a file's size and
 * a chunk's header cannot change in one step, the last chunk ends with a padding event, and no visible step is larger
 * than a few bytes of one page, which the kernel writes completely or not at all, even if the process is killed
 * meanwhile:
 *
 *  - The file grows by pages, each of which is an empty chunk. Then the padding and the size in the chunk's header
 *    are extended to the new end, which makes the empty chunks part of the padding.
 *  - Events are written into the padding. Then the header is updated with the offset of their constants, and last
 *    the size of the padding before them is reduced.
 *  - A new chunk is also written into the padding. Then the size of the previous chunk is reduced to end where it
 *    starts.
 *  - A finished file shrinks in reverse order: an empty chunk in the padding, sizes, ftruncate().
 *
 * Padding is a checkpoint event without constants, which readers skip. A file gets its name when its first chunk is
 * complete. If a step fails (full disk), the previous content stays readable and the step can be repeated.
 *
 * Owns: the descriptor, until jfr_disk_end().
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_JFR_DISK_H
#define JVM_AGENT_JFR_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_view.h"

#define JFR_PATH_BYTES 4096
#define JFR_HEADER_BYTES 68u
#define JFR_PAGE_BYTES 4096u

/* Content of a chunk's header, except sizes. */
struct jfr_chunk_head {
    uint64_t pools_offset;  /* in the chunk */
    uint64_t begin_wall_ns; /* since 1970 */
    uint64_t begin_ticks;
    uint64_t duration_ns;
};

struct jfr_disk {
    int descriptor; /* -1: none */
    char path[JFR_PATH_BYTES];
    uint64_t chunk_begin;   /* of the last chunk */
    uint64_t padding_begin; /* its last event */
    uint64_t size;          /* end of the file, of the last chunk and of the padding */
    struct jfr_chunk_head head;
    char empty_chunk[JFR_PAGE_BYTES];
};

/* Creates a file with one chunk; events start after the header. An existing file of that name is replaced. */
bool jfr_disk_create(struct jfr_disk *disk, const char *path, const struct jfr_chunk_head *head,
                     struct text_view events, struct error *error) MUST_CHECK;
/* Offset of the next events in the chunk. */
uint64_t jfr_disk_next_offset(const struct jfr_disk *disk);
bool jfr_disk_append(struct jfr_disk *disk, const struct jfr_chunk_head *head, struct text_view events,
                     struct error *error) MUST_CHECK;
bool jfr_disk_begin_chunk(struct jfr_disk *disk, const struct jfr_chunk_head *head, struct text_view events,
                          struct error *error) MUST_CHECK;
/* True if a file could be created there now. */
bool jfr_disk_probe(const char *path);
/* Removes the padding. On failure the file is valid, but longer. */
void jfr_disk_trim(struct jfr_disk *disk);
/* Replaces the content of the whole file, or leaves it unchanged. */
void jfr_disk_replace(struct jfr_disk *disk, struct text_view bytes);
/* Syncs the file and its directory entry to disk, and closes it. */
bool jfr_disk_end(struct jfr_disk *disk, struct error *error) MUST_CHECK;

#endif
