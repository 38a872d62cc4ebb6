/*
 * feature_choice.h - shared by the two files of features.h.
 */
#ifndef JVM_AGENT_FEATURE_CHOICE_H
#define JVM_AGENT_FEATURE_CHOICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define COMPILER_ENTRIES 2

struct feature_choice {
    bool receivers;      /* vtable */
    bool compiler_tasks; /* comptask */
    bool asks_vm;        /* agct */
    bool mixed;
    uint64_t compiler_entries[COMPILER_ENTRIES];
    bool has_thread_key;
    pthread_key_t thread_key; /* key of the JVM's thread structure */
    bool compressed_classes;
    bool compact_headers;
};

extern struct feature_choice feature_choice;

#endif
