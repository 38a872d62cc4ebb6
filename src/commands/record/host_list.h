/*
 * host_list.h - names of hosts, from the command line or from a file, as they may be given to ssh.
 *
 * Owns: the names, until host_list_release().
 * Limit: HOST_LIST_LIMIT names, HOST_LIST_FILE_BYTES of a file.
 */
#ifndef COMMANDS_HOST_LIST_H
#define COMMANDS_HOST_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define HOST_LIST_LIMIT 256
#define HOST_LIST_FILE_BYTES ((size_t)256 << 10)
#define HOST_NAME_BYTES 255

struct host_list {
    char **names;
    size_t count;
};

void host_list_init(struct host_list *list);
void host_list_release(struct host_list *list);
/* "h1,user@h2" or "@FILE". False with a reason when a name is invalid or given twice, or when there is none. */
bool host_list_read(struct host_list *list, const char *argument, struct error *error) MUST_CHECK;
/* The content of such a file: names in lines or separated by commas; comments begin with "#". */
bool host_list_parse(struct host_list *list, struct text_view text, struct error *error) MUST_CHECK;
/* One more. False when it is invalid or there already. */
bool host_list_add(struct host_list *list, struct text_view name, struct error *error) MUST_CHECK;
/* Names of hosts do not depend on case. */
bool host_list_has(const struct host_list *list, struct text_view name);
/* Letters, digits and "._-:@", beginning with a letter, digit, "_" or ":", so that no name is an option of ssh. */
bool host_name_is_valid(struct text_view name);

#endif
