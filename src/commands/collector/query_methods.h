/*
 * query_methods.h - the methods of a query's profile as JSON: hot spots, or one method with its callers and callees.
 */
#ifndef COMMANDS_QUERY_METHODS_H
#define COMMANDS_QUERY_METHODS_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "commands/picture/profile_input.h"

/* What one sample stands for in recordings that only count them, as in `fleet`. */
#define QUERY_CPU_INTERVAL_NS 10000000
#define QUERY_WALL_INTERVAL_NS 100000000

struct method_query {
    uint64_t top; /* methods, callers, callees and applications that are listed; 0: the query is another */
    const char *search; /* only methods with this text in their name; NULL: all */
    const char *method; /* of this one its callers and callees; NULL: hot spots */
    bool by_total;      /* hot spots in the order of what they took with what they called */
};

/* False with ERROR_BAD_INPUT: the profile does not have the method. */
bool query_methods_write(struct profile_input *input, const struct method_query *query, struct output *output,
                         struct error *error) MUST_CHECK;

#endif
