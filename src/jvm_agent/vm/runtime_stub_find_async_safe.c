#include "jvm_agent/vm/runtime_stubs.h"

_Atomic(struct runtime_stub_list *) runtime_stubs;

static const struct runtime_stub *find_added(const struct runtime_stub_list *list, uintptr_t pc)
{
    size_t end = list->count + atomic_load_explicit(&list->added, memory_order_acquire);
    for (size_t i = list->count; i < end; i++)
        if (pc >= list->stubs[i].begin && pc < list->stubs[i].end)
            return &list->stubs[i];
    return NULL;
}

const struct runtime_stub *runtime_stub_find(uintptr_t pc)
{
    const struct runtime_stub_list *list = atomic_load_explicit(&runtime_stubs, memory_order_acquire);
    if (list == NULL)
        return NULL;
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->stubs[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc < list->stubs[low - 1].end ? &list->stubs[low - 1] : find_added(list, pc);
}
