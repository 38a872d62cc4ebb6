/*
 * query_heap.h - the memory of the JVMs of a query over time as JSON: their heaps, and which classes they allocated.
 *
 * Heaps are numbers that JFR recordings have (sparkflame.ProcessMetrics, jdk.GCHeapSummary, …); classes are those of
 * the samples alloc and live.
 */
#ifndef COMMANDS_QUERY_HEAP_H
#define COMMANDS_QUERY_HEAP_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "collector/store/recording_index.h"
#include "commands/picture/profile_input.h"

/* Processes and classes that are listed at most: `top`. What the store knows of recordings selects; one that cannot be
 * read is left out. */
bool query_heap_write(const char *store, const struct recording_query *query,
                      const struct profile_input_options *input, uint64_t top, struct output *output,
                      struct error *error) MUST_CHECK;

#endif
