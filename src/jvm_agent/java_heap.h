/*
 * java_heap.h - how full the Java heap is, as java.lang.Runtime says.
 *
 * Threads: java_heap_open() and java_heap_read() on threads that the JVM knows; zeros on others.
 */
#ifndef JVM_AGENT_JAVA_HEAP_H
#define JVM_AGENT_JAVA_HEAP_H

#include <stdint.h>

struct java_heap {
    uint64_t used_bytes;
    uint64_t committed_bytes;
    uint64_t limit_bytes;
};

void java_heap_read(struct java_heap *heap);

#endif
