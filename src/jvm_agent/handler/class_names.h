/*
 * class_names.h - names of classes of allocated objects and locks, by number.
 *
 * Owns: the names, until class_names_release().
 * Threads: any, but not signal handlers; has its own lock.
 * Limit: limit_bytes; a name that does not fit gets number 0 and is counted in `refused`.
 */
#ifndef JVM_AGENT_CLASS_NAMES_H
#define JVM_AGENT_CLASS_NAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/string_table.h"
#include "base/text_view.h"

struct class_names {
    pthread_mutex_t mutex;
    struct string_table names;
    bool opened; /* allocated with the first name */
    size_t limit_bytes;
    _Atomic size_t used_bytes;
    _Atomic uint64_t refused;
};

void class_names_init(struct class_names *classes, size_t limit_bytes);
void class_names_release(struct class_names *classes);
/* From a JVM signature ("Ljava/lang/String;", "[I"). 0 if there is no space. */
uint32_t class_names_add(struct class_names *classes, const char *signature);
/* The same from a name. */
uint32_t class_names_add_name(struct class_names *classes, struct text_view name);
/* As in class files: "java/lang/String", "[I". Valid until class_names_release(). */
struct text_view class_names_text(struct class_names *classes, uint32_t number);

static inline size_t class_names_bytes(const struct class_names *classes)
{
    return atomic_load(&classes->used_bytes);
}

#endif
