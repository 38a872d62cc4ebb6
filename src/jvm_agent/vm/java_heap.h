/*
 * java_heap.h - use of the Java heap, as reported by java.lang.Runtime.
 *
 * Threads: java_heap_open() and java_heap_read() on threads attached to the JVM; zeros on others.
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
