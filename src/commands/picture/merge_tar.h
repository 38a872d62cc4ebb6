/*
 * merge_tar.h - adds the files of tar archives to a merge as they come, each while it is in memory.
 *
 * With stitching, the recordings of a process have to follow each other in their order.
 */
#ifndef COMMANDS_MERGE_TAR_H
#define COMMANDS_MERGE_TAR_H

#include "commands/picture/merge_work.h"

/* The error that ends the work is in `work`. */
void merge_tar_read(struct merge_work *work, char *const *paths, size_t count, struct merger *merger);

#endif
