#include <string.h>

#include "jvm_agent/handler/feature_choice.h"
#include "jvm_agent/handler/features.h"
#include "jvm_agent/vm/code_blob.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/machine.h"
#include "jvm_agent/vm/method_table.h"
#include "jvm_agent/vm/runtime_stubs.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

#define OBJECT_CLASS_OFFSET 8
#define MOST_CLASS_SHIFT 31
#define COMPACT_CLASS_SHIFT 42 /* in the mark word, with compact object headers */

struct feature_choice feature_choice;

static uintptr_t class_of(uintptr_t object)
{
    if (feature_choice.compact_headers || feature_choice.compressed_classes) {
        uint64_t narrow = feature_choice.compact_headers ? load_word(object) >> COMPACT_CLASS_SHIFT
                                                         : (uint32_t)load_int(object + OBJECT_CLASS_OFFSET);
        if (vm.class_base == 0 || vm.class_shift == 0)
            return 0;
        uintptr_t base = load_word(vm.class_base);
        unsigned shift = (unsigned)load_int(vm.class_shift);
        return shift > MOST_CLASS_SHIFT ? 0 : base + (uintptr_t)(narrow << shift);
    }
    return load_word(object + OBJECT_CLASS_OFFSET);
}

static bool is_dispatch(frame_word leaf)
{
    if (frame_kind_of(leaf) != AGENT_FRAME_STUB)
        return false;
    const struct runtime_stub *stub = runtime_stub_find((uintptr_t)frame_address_of(leaf));
    return stub != NULL && (strcmp(stub->name, "vtable stub") == 0 || strcmp(stub->name, "itable stub") == 0);
}

/* The receiver is still in the register in which calls pass it. */
static uint32_t add_receiver(const void *context, struct method_table *methods, frame_word *frames,
                             uint32_t depth)
{
    uintptr_t object = machine_receiver(context);
    uintptr_t object_class = is_plausible(object) ? class_of(object) : 0;
    uint32_t number = is_plausible(object_class) ? method_table_add_class(methods, object_class) : 0;
    if (number == 0)
        return depth;
    memmove(frames + 1, frames, depth * sizeof(*frames));
    frames[0] = frame_number(AGENT_FRAME_CLASS, number);
    return depth + 1;
}

static uintptr_t task_method(void)
{
    uintptr_t thread =
        feature_choice.has_thread_key ? (uintptr_t)pthread_getspecific(feature_choice.thread_key) : 0;
    if (thread == 0 || vm.compiler_thread_environment < 0 || vm.compiler_environment_task < 0 ||
        vm.compile_task_method < 0)
        return 0;
    uintptr_t environment = load_word(field_of(thread, vm.compiler_thread_environment));
    uintptr_t task =
        is_plausible(environment) ? load_word(field_of(environment, vm.compiler_environment_task)) : 0;
    return is_plausible(task) ? load_word(field_of(task, vm.compile_task_method)) : 0;
}

/* Below the frame that compiles it. */
static uint32_t add_task(struct method_table *methods, frame_word *frames, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        uint64_t address = frame_address_of(frames[i]);
        if (frame_kind_of(frames[i]) != AGENT_FRAME_NATIVE || address == 0 ||
            (address != feature_choice.compiler_entries[0] && address != feature_choice.compiler_entries[1]))
            continue;
        uint32_t number = method_table_add(methods, task_method());
        if (number == 0)
            return depth;
        memmove(frames + i + 1, frames + i, (depth - i) * sizeof(*frames));
        frames[i] = frame_java(AGENT_FRAME_COMPILED, number, 0);
        return depth + 1;
    }
    return depth;
}

/* Not inlined, so that its results are in memory when a fault returns to its caller. */
__attribute__((noinline)) static void add_guarded(const void *context, struct method_table *methods,
                                                  frame_word *frames, uint32_t *depth)
{
    if (feature_choice.receivers && *depth > 0 && is_dispatch(frames[0]))
        *depth = add_receiver(context, methods, frames, *depth);
    else if (feature_choice.compiler_tasks)
        *depth = add_task(methods, frames, *depth);
}

uint32_t features_add(struct thread_record *record, const void *context, struct method_table *methods,
                      frame_word *frames, uint32_t depth)
{
    struct fault_point point, *outer = record->fault_point;
    uint32_t now = depth;
    if ((!feature_choice.receivers && !feature_choice.compiler_tasks) || context == NULL)
        return depth;
    if (fault_point_set(&point) == 0) {
        record->fault_point = &point;
        add_guarded(context, methods, frames, &now);
    }
    record->fault_point = outer;
    return now;
}
