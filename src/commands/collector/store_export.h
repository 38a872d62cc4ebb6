/*
 * store_export.h - writes recordings of a collector's data directory as files, named as the Spark plugin names them, so
 * that `report` and other commands read them.
 */
#ifndef COMMANDS_STORE_EXPORT_H
#define COMMANDS_STORE_EXPORT_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/store/recording_index.h"

/* FOLDER/APPLICATION[/ATTEMPT]/exec-N/SEQUENCE.jfr, and event logs in FOLDER/APPLICATION[/ATTEMPT]/events/. Fails when
 * there are more bytes than the limit, or no recordings. */
bool store_export(const char *store, const struct recording_query *query, const char *folder,
                  uint64_t limit_bytes, struct error *error) MUST_CHECK;

#endif
