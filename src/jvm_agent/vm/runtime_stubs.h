/*
 * runtime_stubs.h - names of generated code other than Java methods (arraycopy, SHA-256, vtable stubs …), as announced
 * by the JVM.
 *
 * Owns: the names, for the life of the process.
 * Threads: runtime_stubs_add() and _publish() one at a time, under the table's own lock; runtime_stub_find() from
 * anywhere, including signal handlers.
 * Limit: RUNTIME_STUBS_LIMIT; later ones have no names.
 */
#ifndef JVM_AGENT_RUNTIME_STUBS_H
#define JVM_AGENT_RUNTIME_STUBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_STUBS_LIMIT 65536

struct runtime_stub {
    uintptr_t begin, end;
    const char *name; /* null-terminated */
    bool bare;        /* builds no frame: its return address is on top of the stack */
    bool barrier;     /* the end of a virtual thread's stack */
};

struct runtime_stub_list {
    size_t count;         /* sorted by address */
    _Atomic size_t added; /* not yet sorted, after them */
    size_t room;          /* capacity */
    struct runtime_stub stubs[];
};

extern _Atomic(struct runtime_stub_list *) runtime_stubs;

/* Visible immediately once stubs have been published. */
void runtime_stubs_add(const char *name, const void *begin, size_t size);
/* Makes stubs added so far and later visible to runtime_stub_find(). */
void runtime_stubs_publish(void);
/* NULL if there is no named stub. */
const struct runtime_stub *runtime_stub_find(uintptr_t pc);

#endif
