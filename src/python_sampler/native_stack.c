#include "python_sampler/native_stack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/attributes.h"
#include "symbols/demangle.h"

#define PAGE_BYTES 4096
#define REFRESH_NS INT64_C(500000000)
#define MOST_NAME_BYTES 1024
/* Values in the map of functions: the interpreter loop, and hidden functions. */
#define IS_EVAL (UINT32_MAX - 1)
#define IS_HIDDEN (UINT32_MAX - 2)
#define UNKNOWN_NAME TEXT("[unknown]")

/* Functions of the interpreter that only lead from one call to the next. */
static const char *const PLUMBING[] = {
    "_PyEval_",
    "PyEval_",
    "_PyObject_",
    "PyObject_Call",
    "PyObject_Vectorcall",
    "_PyFunction_",
    "_PyVector",
    "PyVectorcall_",
    "vectorcall_",
    "cfunction_",
    "method_vectorcall",
    "object_vacall",
    "slot_tp_",
    "type_call",
    "_Py_",
    "Py_",
    "pymain_",
    "PyRun_",
    "_PyRun_",
    "run_mod",
    "run_eval_",
    "PyCFunction_",
    "builtin___build_",
    "builtin_exec",
    "partial_call",
    "PyGen_",
    "gen_",
    "_PyGen_",
    "_PyCFunction",
    "thread_run",
    "call_function",
    "function_code_fastcall",
    "do_call_core",
};

bool native_copy_init(struct native_copy *copy)
{
    *copy = (struct native_copy){.bytes = malloc(NATIVE_STACK_BYTES)};
    return copy->bytes != NULL;
}

void native_copy_release(struct native_copy *copy)
{
    free(copy->bytes);
    copy->bytes = NULL;
}

/* Page by page: the kernel stops at the first unmapped one, which is above the stack. */
bool native_copy_take(struct native_copy *copy, const struct thread_pause *pause,
                      struct process_memory *memory)
{
    struct iovec ranges[NATIVE_STACK_BYTES / PAGE_BYTES];
    if (!thread_pause_registers(pause, &copy->registers))
        return false;
    uint64_t at = copy->registers.sp;
    size_t count = 0;
    for (size_t size = 0; count < COUNT_OF(ranges); count++) {
        size_t part = PAGE_BYTES - (at & (PAGE_BYTES - 1));
        if (size + part > NATIVE_STACK_BYTES)
            break;
        ranges[count] = (struct iovec){(void *)(uintptr_t)at, part};
        size += part;
        at += part;
    }
    copy->size = process_memory_read_some(memory, ranges, count, copy->bytes, NATIVE_STACK_BYTES);
    return true;
}

void native_modules_init(struct native_modules *modules, pid_t pid)
{
    *modules = (struct native_modules){.refreshed_ns = 0};
    module_map_init(&modules->map, pid);
    id_map_init(&modules->functions);
}

void native_modules_release(struct native_modules *modules)
{
    module_map_release(&modules->map);
    id_map_release(&modules->functions);
}

void native_stack_release(struct native_stack *stack)
{
    free(stack->frames);
    *stack = (struct native_stack){.frames = NULL};
}

static bool read_copy(void *context, uint64_t address, uint64_t *value)
{
    const struct native_copy *copy = context;
    uint64_t offset = address - copy->registers.sp;
    if (address < copy->registers.sp || offset + 8 > copy->size)
        return false;
    *value = load_u64(copy->bytes + offset);
    return true;
}

/* Libraries may be loaded at any time; unknown addresses are searched again, but not for each sample. */
static struct module *find_module(struct native_modules *modules, uint64_t address, int64_t now_ns)
{
    const struct module *module = modules->map.index == NULL ? NULL : module_map_find(&modules->map, address);
    if (module == NULL && (modules->refreshed_ns == 0 || now_ns - modules->refreshed_ns > REFRESH_NS)) {
        modules->refreshed_ns = now_ns;
        if (module_map_refresh(&modules->map, NULL))
            module = module_map_find(&modules->map, address);
    }
    return (struct module *)(uintptr_t)module;
}

static const struct unwind_rule *find_rule(struct native_modules *modules, uint64_t address, int64_t now_ns)
{
    struct module *module = find_module(modules, address, now_ns);
    if (module == NULL || !module_load_unwind(module, NULL))
        return NULL;
    return module_find_rule(module, address);
}

static bool is_plumbing(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(PLUMBING); i++) {
        if (strncmp(name, PLUMBING[i], strlen(PLUMBING[i])) == 0)
            return true;
    }
    return false;
}

/* The interpreter's module contains its runtime in its data. */
static bool is_interpreter(const struct module *module, uint64_t runtime)
{
    struct elf_segment segment;
    for (uint32_t i = 0; elf_file_segment(&module->file, i, &segment); i++) {
        uint64_t start = segment.address + module->bias;
        if (segment.type == PT_LOAD && runtime >= start && runtime - start < segment.size_in_memory)
            return true;
    }
    return false;
}

/* IS_EVAL, IS_HIDDEN or the number of a function. */
static uint32_t name_address(struct native_modules *modules, struct python_functions *functions,
                             uint64_t address, uint64_t runtime, int64_t now_ns)
{
    struct symbol_match match;
    char name[MOST_NAME_BYTES];
    struct module *module = find_module(modules, address, now_ns);
    if (module == NULL)
        return python_functions_add_native(functions, UNKNOWN_NAME, TEXT(""));
    bool is_own = module->readable && is_interpreter(module, runtime);
    bool is_named = module_load_symbols(&modules->map, module, NULL) && module->has_symbols &&
                    module_find_symbol(module, address, &match);
    if (is_own && (!is_named || is_plumbing(match.name)))
        return is_named && strncmp(match.name, "_PyEval_EvalFrameDefault", 24) == 0 ? IS_EVAL : IS_HIDDEN;
    if (!is_named)
        return python_functions_add_native(functions, UNKNOWN_NAME, text_of(module->name));
    (void)demangle(match.name, DEMANGLE_NAME_ONLY, name, sizeof(name));
    return python_functions_add_native(functions, text_of(name), text_of(module->name));
}

/* Several frames of a library without symbols are shown as one. */
static bool is_unknown_again(const struct native_stack *stack, const struct python_functions *functions,
                             uint32_t function)
{
    return stack->count > 0 && stack->frames[stack->count - 1].function == function &&
           text_equal(python_function_name(functions, function), UNKNOWN_NAME);
}

static bool add_frame(struct native_stack *stack, struct native_modules *modules,
                      struct python_functions *functions, uint64_t address, uint64_t runtime, int64_t now_ns)
{
    uint32_t *place = id_map_place(&modules->functions, address);
    if (place == NULL ||
        !array_reserve(&stack->frames, &stack->capacity, stack->count + 1, NATIVE_MOST_FRAMES))
        return false;
    if (*place == NO_ID) {
        uint32_t number = name_address(modules, functions, address, runtime, now_ns);
        *place = number == NO_FUNCTION ? IS_HIDDEN : number;
    }
    struct native_frame frame = {.function = *place, .is_eval = *place == IS_EVAL};
    if (frame.function == IS_EVAL || frame.function == IS_HIDDEN)
        frame.function = NO_FUNCTION;
    else if (is_unknown_again(stack, functions, frame.function))
        return true;
    stack->frames[stack->count++] = frame;
    return true;
}

bool native_stack_walk(struct native_stack *stack, struct native_modules *modules,
                       const struct native_copy *copy, struct python_functions *functions, uint64_t runtime,
                       int64_t now_ns)
{
    struct unwind_memory memory = {read_copy, (void *)(uintptr_t)copy};
    struct unwind_registers registers = {.pc = copy->registers.pc,
                                         .sp = copy->registers.sp,
                                         .fp = copy->registers.fp,
                                         .link = copy->registers.link,
                                         .interrupted = true};
    stack->count = 0;
    for (size_t steps = 0; steps < NATIVE_MOST_FRAMES && registers.pc >= PAGE_BYTES; steps++) {
        uint64_t address = registers.pc - (registers.interrupted ? 0 : 1);
        if (!add_frame(stack, modules, functions, address, runtime, now_ns))
            return false;
        const struct unwind_rule *rule = find_rule(modules, address, now_ns);
        if (unwind_step(rule == NULL ? &unwind_by_frame_pointer : rule, &registers, &memory) !=
            UNWIND_STEPPED)
            break;
    }
    return true;
}

static size_t count_calls(const struct native_stack *native)
{
    size_t calls = 0;
    for (size_t i = 0; i < native->count; i++)
        calls += native->frames[i].is_eval;
    return calls;
}

static size_t count_entries(const struct merged_python *python, size_t count)
{
    size_t entries = 0;
    for (size_t i = 0; i < count; i++)
        entries += python[i].is_entry;
    return entries;
}

/* Adds the Python frames of one call; returns the index of the next call's first one. */
static size_t put_call(const struct merged_python *python, size_t count, size_t at,
                       struct python_frame *merged, size_t *merged_count)
{
    for (; at < count; at++) {
        if (python[at].frame.function != NO_FUNCTION)
            merged[(*merged_count)++] = python[at].frame;
        if (python[at].is_entry)
            return at + 1;
    }
    return at;
}

size_t native_stack_merge(const struct native_stack *native, const struct merged_python *python,
                          size_t python_count, struct python_frame *merged)
{
    size_t calls = count_calls(native);
    bool fits = calls == count_entries(python, python_count);
    size_t merged_count = 0, at = 0;
    /* Without a call the position of the native frames is unknown. */
    for (size_t i = 0; calls > 0 && i < native->count && at < python_count; i++) {
        const struct native_frame *frame = &native->frames[i];
        if (frame->function != NO_FUNCTION)
            merged[merged_count++] = (struct python_frame){frame->function, 0};
        if (frame->is_eval && !fits)
            break;
        if (frame->is_eval)
            at = put_call(python, python_count, at, merged, &merged_count);
    }
    while (at < python_count)
        at = put_call(python, python_count, at, merged, &merged_count);
    return merged_count;
}
