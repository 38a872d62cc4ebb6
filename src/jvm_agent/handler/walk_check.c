#include "jvm_agent/handler/walk_check.h"

#include <ctype.h>
#include <string.h>

#include "base/text_view.h"
#include "jvm_agent/handler/walker.h"
#include "jvm_agent/vm/code_blob.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/machine.h"

#define CHECK_FRAMES 32
#define CHECK_ARENA_BYTES ((size_t)4 << 20)
#define CHECK_PLACES 4096 /* of each code heap */
#define CHECK_STRIDE 1597 /* between probes; odd, so that all addresses are probed */
#define CHECK_METHODS 64  /* of each code heap */
#define CHECK_OTHERS 64
#define CHECK_ENOUGH 8

/* Separate tables for one check. */
struct check {
    struct safe_arena arena;
    struct method_table methods;
    struct place_cache places;
    struct thread_record *record;
};

static bool check_open(struct check *check, struct error *error)
{
    memset(check, 0, sizeof(*check));
    safe_arena_init(&check->arena, CHECK_ARENA_BYTES);
    check->record = thread_table_add(thread_own_id());
    if (check->record == NULL || !method_table_init(&check->methods, &check->arena) ||
        !place_cache_init(&check->places, &check->arena))
        return error_set_memory(error);
    return fault_guard_install(error);
}

static void check_close(struct check *check)
{
    method_table_release(&check->methods);
    place_cache_release(&check->places);
    safe_arena_release(&check->arena);
}

static struct text_view class_of(const struct method *method)
{
    return (struct text_view){method->class_name, method->class_size};
}

/* "Lorg/example/Class;" is the JVM's signature of org/example/Class. Hidden Class+0x1 is "LClass.0x1;", and before
 * Java 15 an anonymous class is "LClass/0x1;" or "LClass/1;". */
static bool is_signature_of(struct text_view signature, struct text_view class_name)
{
    if (signature.size < class_name.size + 2)
        return false;
    for (size_t i = 0; i < class_name.size; i++) {
        char told = signature.data[i + 1], walked = class_name.data[i];
        if (told != walked && !(told == '.' && walked == '+'))
            return false;
    }
    struct text_view rest = text_part(signature, class_name.size + 1, signature.size - class_name.size - 2);
    return rest.size == 0 || (rest.size > 1 && (rest.data[0] == '/' || rest.data[0] == '.') &&
                              isdigit((unsigned char)rest.data[1]));
}

static bool is_method(const struct method *method, jmethodID expected)
{
    char *name = NULL, *signature = NULL;
    jclass holder = NULL;
    bool same = (*java_vm.tools)->GetMethodName(java_vm.tools, expected, &name, NULL, NULL) == 0 &&
                (*java_vm.tools)->GetMethodDeclaringClass(java_vm.tools, expected, &holder) == 0 &&
                (*java_vm.tools)->GetClassSignature(java_vm.tools, holder, &signature, NULL) == 0;
    if (same) {
        same = text_equal(text_of(name), (struct text_view){method->name, method->name_size}) &&
               is_signature_of(text_of(signature), class_of(method));
    }
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)name);
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)signature);
    return same;
}

static bool compare_frame(const struct check *check, frame_word frame, const jvmtiFrameInfo *expected,
                          int index, struct error *error)
{
    if (!frame_is_java(frame))
        return error_set(error, ERROR_UNSUPPORTED, "frame %d of a known stack was not found", index);
    const struct method *method = method_table_at(&check->methods, frame_low(frame));
    if (!is_method(method, expected->method))
        return error_set(error, ERROR_UNSUPPORTED, "frame %d of a known stack was read as %.*s", index,
                         TEXT_FORMAT(class_of(method)));
    if (expected->location >= 0 && frame_bytecode_index(frame) != expected->location)
        return error_set(error, ERROR_UNSUPPORTED, "wrong bytecode index in frame %d of a known stack",
                         index);
    return true;
}

static bool compare_frames(struct check *check, struct error *error)
{
    frame_word frames[CHECK_FRAMES + 1];
    jvmtiFrameInfo expected[CHECK_FRAMES];
    jint count = 0;
    bool waiting = false;
    struct walk_request request = {.record = check->record,
                                   .methods = &check->methods,
                                   .places = &check->places,
                                   .depth_limit = CHECK_FRAMES + 1};
    uint32_t depth = walker_walk(&request, frames, &waiting);
    if ((*java_vm.tools)->GetStackTrace(java_vm.tools, NULL, 0, CHECK_FRAMES, expected, &count) != 0)
        return error_set(error, ERROR_UNSUPPORTED, "the JVM does not report the current stack");
    if (count == 0 || (uint32_t)count > depth)
        return error_set(error, ERROR_UNSUPPORTED, "found %u of %d frames of a known stack", depth,
                         (int)count);
    for (jint i = 0; i < count; i++)
        if (!compare_frame(check, frames[i], &expected[i], (int)i, error))
            return false;
    return true;
}

static bool check_frames(JNIEnv *environment, struct error *error)
{
    struct check check;
    bool good = check_open(&check, error);
    if (good) {
        atomic_store(&check.record->java_thread,
                     (uintptr_t)environment - (uintptr_t)java_vm.environment_offset);
        good = compare_frames(&check, error);
    }
    check_close(&check);
    return good;
}

/* What was found at an address of a code heap. In memory before each read that may fault. */
struct code_look {
    bool has_method; /* start of compiled code that can be checked; dead code has no method */
    bool is_current; /* the method refers to this code, so both are alive */
    bool is_right;
};

/* Not inlined, so that its results are in memory when a fault returns to its caller. */
__attribute__((noinline)) static void look_at(struct check *check, uintptr_t heap, uintptr_t index,
                                              struct code_look *look)
{
    uintptr_t memory = field_of(heap, vm.code_heap_memory);
    uintptr_t low = load_word(field_of(memory, vm.space_low));
    uintptr_t spacing = (load_word(field_of(memory, vm.space_high)) - low) / CHECK_PLACES;
    uintptr_t place = low + index * spacing;
    uintptr_t blob = code_blob_find(place);
    if (blob == 0 || place >= blob + spacing || !code_blob_is_compiled(blob))
        return;
    uintptr_t method = load_word(field_of(blob, vm.compiled_method));
    if (method == 0 || compiled_has_no_places(blob))
        return;
    look->has_method = true;
    look->is_current = vm.method_code >= 0 && load_word(field_of(method, vm.method_code)) == blob;
    look->is_right = method_table_add(&check->methods, method) != 0 && compiled_is_consistent(blob);
}

static void look_guarded(struct check *check, uintptr_t heap, uintptr_t index, struct code_look *look)
{
    struct fault_point point;
    if (fault_point_set(&point) == 0) {
        check->record->fault_point = &point;
        look_at(check, heap, index, look);
    } else {
        look->has_method = true;
    }
    check->record->fault_point = NULL;
}

struct code_count {
    int checked, wrong;
};

/* Probes addresses all over the heap, each at most once, until enough live code was found. */
static void count_heap(struct check *check, uintptr_t heap, struct code_count *current,
                       struct code_count *others)
{
    int enough = current->checked + CHECK_METHODS;
    for (uintptr_t i = 0; i < CHECK_PLACES && current->checked < enough; i++) {
        struct code_look look = {0};
        look_guarded(check, heap, i * CHECK_STRIDE % CHECK_PLACES, &look);
        struct code_count *count = look.is_current ? current : others;
        if (!look.has_method || (!look.is_current && others->checked >= CHECK_OTHERS))
            continue;
        count->checked++;
        count->wrong += !look.is_right;
    }
}

/* Code that is created or freed meanwhile may look wrong; with a wrong layout most code does. The methods of
 * replaced code may be gone, so it is used only if there is hardly any other. */
static bool judge(struct code_count current, struct code_count others, struct error *error)
{
    struct code_count count = current;
    if (current.checked < CHECK_ENOUGH) {
        count.checked += others.checked;
        count.wrong += others.wrong;
    }
    if (count.wrong >= CHECK_ENOUGH && count.wrong * 2 > count.checked)
        return error_set(error, ERROR_UNSUPPORTED, "%d of %d compiled methods could not be read", count.wrong,
                         count.checked);
    return true;
}

static bool check_code(struct error *error)
{
    struct check check;
    struct code_count current = {0, 0}, others = {0, 0};
    bool good = check_open(&check, error);
    for (int i = 0; good && i < vm.heap_count; i++)
        count_heap(&check, vm.heaps[i], &current, &others);
    check_close(&check);
    return good && judge(current, others, error);
}

static bool walker_checked;

bool walk_check_is_done(void)
{
    return walker_checked || !java_vm.own_walker;
}

void walk_check_run(JNIEnv *environment)
{
    struct error error = {0};
    if (walk_check_is_done())
        return;
    walker_checked = true;
    if (!check_frames(environment, &error) || !check_code(&error))
        java_vm_refuse_walker(error.message);
}
