/*
 * yarn_hosts.h - asks YARN's ResourceManager for the hosts of a cluster.
 */
#ifndef COMMANDS_YARN_HOSTS_H
#define COMMANDS_YARN_HOSTS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/record/host_list.h"

/* Adds the hosts of all nodes that run. The address is that of the ResourceManager's web interface. */
bool yarn_hosts_read(struct host_list *list, const char *address, struct error *error) MUST_CHECK;

#endif
