/*
 * yarn_rest.h - parses the answer of YARN's ResourceManager on the nodes of the cluster.
 *
 * Owns: all names, in its arena, until yarn_rest_release().
 * Threads: one at a time.
 * Limit: YARN_REST_LIMIT nodes.
 */
#ifndef PROCESSES_YARN_REST_H
#define PROCESSES_YARN_REST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { YARN_REST_LIMIT = 100000 };

struct yarn_rest {
    struct arena arena;
    const char **hosts; /* of the nodes that run, as YARN names them; several nodes may have one host */
    size_t host_count, host_capacity;
};

void yarn_rest_init(struct yarn_rest *rest);
void yarn_rest_release(struct yarn_rest *rest);
/* The answer to GET /ws/v1/cluster/nodes. */
bool yarn_rest_add_nodes(struct yarn_rest *rest, struct text_view json, struct error *error) MUST_CHECK;

#endif
