/*
 * runtime_stubs.h - names of the generated code that is no Java method (arraycopy, SHA-256, vtable stubs …), as the
 * JVM announces it.
 *
 * Owns: the names, for the life of the process.
 * Threads: runtime_stubs_add() and _publish() one at a time, under the table's own lock; runtime_stub_find() from
 *          anywhere, also signal handlers.
 * Limit: RUNTIME_STUBS_LIMIT; later ones stay nameless.
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
    const char *name; /* ends with zero */
    bool bare;        /* builds no frame: its return address is on top of the stack */
    bool barrier;     /* the end of a virtual thread's stack */
};

struct runtime_stub_list {
    size_t count;         /* by address */
    _Atomic size_t added; /* behind them, as they came */
    size_t room;          /* for those */
    struct runtime_stub stubs[];
};

extern _Atomic(struct runtime_stub_list *) runtime_stubs;

/* Visible at once when others are. */
void runtime_stubs_add(const char *name, const void *begin, size_t size);
/* Makes the added ones visible to runtime_stub_find(), and later ones, too. */
void runtime_stubs_publish(void);
/* NULL when no stub with a name is there. */
const struct runtime_stub *runtime_stub_find(uintptr_t pc);

#endif
