#include "failing_memory.h"

#include <stddef.h>

/* The linker sends the program's own calls to __wrap_NAME (--wrap); threads may call them at once. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *piece, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *piece, size_t size);

static size_t run;
static long left; /* allocations until the one that fails; 0 and below: none */
static bool failed;

void failing_memory_begin(void)
{
    run = 0;
    failed = true;
}

bool failing_memory_next(void)
{
    bool again = failed;
    failed = false;
    __atomic_store_n(&left, again ? (long)++run : 0, __ATOMIC_SEQ_CST);
    return again;
}

bool failing_memory_failed(void)
{
    return __atomic_load_n(&failed, __ATOMIC_SEQ_CST);
}

static bool fails(void)
{
    if (__atomic_load_n(&left, __ATOMIC_SEQ_CST) <= 0 || __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) != 0)
        return false;
    __atomic_store_n(&failed, true, __ATOMIC_SEQ_CST);
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *piece, size_t size)
{
    return fails() ? NULL : __real_realloc(piece, size);
}
