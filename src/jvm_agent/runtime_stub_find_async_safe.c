#include "jvm_agent/runtime_stubs.h"

_Atomic(const struct runtime_stub_list *) runtime_stubs;

const struct runtime_stub *runtime_stub_find(uintptr_t pc)
{
    const struct runtime_stub_list *list = atomic_load_explicit(&runtime_stubs, memory_order_acquire);
    size_t low = 0, high = list == NULL ? 0 : list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->stubs[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc < list->stubs[low - 1].end ? &list->stubs[low - 1] : NULL;
}
