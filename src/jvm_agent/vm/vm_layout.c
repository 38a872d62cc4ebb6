#include "jvm_agent/vm/vm_layout.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text_view.h"
#include "jvm_agent/vm/machine.h"

enum need { ALWAYS, JAVA, LINES, EXTRA, FRAMES = MACHINE_SENDER_SLOT == 0 ? JAVA : EXTRA };
enum entry_sort { SORT_OFFSET, SORT_STATIC, SORT_SIZE, SORT_INTEGER };

struct wanted {
    enum entry_sort sort;
    enum need need;
    const char *types;
    const char *field;
    size_t destination;
};

static const struct wanted wanted_entries[] = {
#define OFFSET(name, types, field, need) {SORT_OFFSET, need, types, field, offsetof(struct vm_layout, name)},
#define STATIC(name, types, field, need) {SORT_STATIC, need, types, field, offsetof(struct vm_layout, name)},
#define SIZE(name, type, need) {SORT_SIZE, need, type, "", offsetof(struct vm_layout, name)},
#define INTEGER(name, constant, need) {SORT_INTEGER, need, constant, "", offsetof(struct vm_layout, name)},
#include "jvm_agent/vm/vm_fields.def"
#undef OFFSET
#undef STATIC
#undef SIZE
#undef INTEGER
};

/* One of libjvm's exported arrays: its start, the size of an entry, and the offsets of its fields. */
struct vm_array {
    const char *at;
    uint64_t stride;
};

static void *vm_library;

static void open_library(const void *address)
{
    Dl_info info;
    if (vm_library == NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL)
        vm_library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static bool exported(const char *name, uint64_t *value)
{
    const uint64_t *address = dlsym(vm_library == NULL ? RTLD_DEFAULT : vm_library, name);
    if (address != NULL)
        *value = *address;
    return address != NULL;
}

void *vm_layout_function(const char *name)
{
    return dlsym(vm_library == NULL ? RTLD_DEFAULT : vm_library, name);
}

static bool open_array(struct vm_array *array, const char *array_name, const char *stride_name,
                       struct error *error)
{
    uint64_t begin = 0;
    array->stride = 0;
    if (!exported(array_name, &begin) || !exported(stride_name, &array->stride) || begin == 0 ||
        array->stride == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "this JVM does not export %s; HotSpot 11 or newer is needed", array_name);
    array->at = (const char *)(uintptr_t)begin;
    return true;
}

static const char *text_at(const char *entry, uint64_t offset)
{
    return *(const char *const *)(entry + offset);
}

/* True if `name` is one of the alternatives in "a|b|c". */
static bool one_of(const char *alternatives, const char *name)
{
    struct text_view rest = text_of(alternatives);
    while (rest.size > 0)
        if (text_equal(text_cut(&rest, '|'), text_of(name)))
            return true;
    return false;
}

static void note_width(const struct wanted *wanted, const char *type)
{
    bool narrow = type != NULL &&
                  (strcmp(type, "int16_t") == 0 || strcmp(type, "u2") == 0 || strcmp(type, "uint16_t") == 0);
    if (wanted->destination == offsetof(struct vm_layout, blob_frame_complete))
        vm.frame_complete_bytes = narrow ? 2 : 4;
    if (wanted->destination == offsetof(struct vm_layout, compiled_metadata_offset))
        vm.metadata_offset_bytes = narrow ? 2 : 4;
}

static void store_offset(const struct wanted *wanted, int64_t value)
{
    *(int32_t *)((char *)&vm + wanted->destination) = (int32_t)value;
}

/* Implausible values count as missing: offsets and sizes of 64 KiB and more, slots far from the frame pointer. */
static void store_checked(const struct wanted *wanted, int64_t value)
{
    enum { MOST_BYTES = 1 << 16, MOST_SLOTS = 1 << 8 };
    int64_t lowest = wanted->sort == SORT_INTEGER ? -MOST_SLOTS : wanted->sort == SORT_SIZE ? 1 : 0;
    int64_t highest = wanted->sort == SORT_INTEGER ? MOST_SLOTS : MOST_BYTES - 1;
    if (value >= lowest && value <= highest)
        store_offset(wanted, value);
}

static bool read_structs(struct error *error)
{
    struct vm_array array = {NULL, 0};
    uint64_t type_at = 0, field_at = 0, string_at = 0, static_at = 0, offset_at = 0, address_at = 0;
    if (!open_array(&array, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", error))
        return false;
    if (!exported("gHotSpotVMStructEntryTypeNameOffset", &type_at) ||
        !exported("gHotSpotVMStructEntryFieldNameOffset", &field_at) ||
        !exported("gHotSpotVMStructEntryTypeStringOffset", &string_at) ||
        !exported("gHotSpotVMStructEntryIsStaticOffset", &static_at) ||
        !exported("gHotSpotVMStructEntryOffsetOffset", &offset_at) ||
        !exported("gHotSpotVMStructEntryAddressOffset", &address_at))
        return error_set(error, ERROR_UNSUPPORTED, "this JVM's table of structures is incomplete");
    for (const char *entry = array.at; text_at(entry, type_at) != NULL; entry += array.stride) {
        bool is_static = *(const int32_t *)(entry + static_at) != 0;
        for (size_t i = 0; i < COUNT_OF(wanted_entries); i++) {
            const struct wanted *wanted = &wanted_entries[i];
            if (wanted->sort != (is_static ? SORT_STATIC : SORT_OFFSET) ||
                !one_of(wanted->types, text_at(entry, type_at)) ||
                !one_of(wanted->field, text_at(entry, field_at)))
                continue;
            if (is_static) {
                *(uintptr_t *)((char *)&vm + wanted->destination) = *(const uintptr_t *)(entry + address_at);
            } else {
                store_checked(wanted, *(const int64_t *)(entry + offset_at));
                note_width(wanted, text_at(entry, string_at));
            }
        }
    }
    return true;
}

/* A table of the JVM that gives names a number: sizes of types, constants. */
struct number_table {
    enum entry_sort sort;
    size_t number_bytes;
    const char *array, *stride, *name_offset, *number_offset;
};

static bool read_numbers(const struct number_table *table, struct error *error)
{
    struct vm_array array = {NULL, 0};
    uint64_t name_at = 0, number_at = 0;
    if (!open_array(&array, table->array, table->stride, error))
        return false;
    if (!exported(table->name_offset, &name_at) || !exported(table->number_offset, &number_at))
        return error_set(error, ERROR_UNSUPPORTED, "this JVM's table %s is incomplete", table->array);
    for (const char *entry = array.at; text_at(entry, name_at) != NULL; entry += array.stride)
        for (size_t i = 0; i < COUNT_OF(wanted_entries); i++)
            if (wanted_entries[i].sort == table->sort &&
                strcmp(wanted_entries[i].types, text_at(entry, name_at)) == 0)
                store_checked(&wanted_entries[i], table->number_bytes == sizeof(int64_t)
                                                      ? *(const int64_t *)(entry + number_at)
                                                      : *(const int32_t *)(entry + number_at));
    return true;
}

static bool read_all_numbers(struct error *error)
{
    static const struct number_table sizes = {
        SORT_SIZE,
        sizeof(int64_t),
        "gHotSpotVMTypes",
        "gHotSpotVMTypeEntryArrayStride",
        "gHotSpotVMTypeEntryTypeNameOffset",
        "gHotSpotVMTypeEntrySizeOffset",
    };
    static const struct number_table constants = {
        SORT_INTEGER,
        sizeof(int32_t),
        "gHotSpotVMIntConstants",
        "gHotSpotVMIntConstantEntryArrayStride",
        "gHotSpotVMIntConstantEntryNameOffset",
        "gHotSpotVMIntConstantEntryValueOffset",
    };
    return read_numbers(&sizes, error) && read_numbers(&constants, error);
}

static bool is_missing(const struct wanted *wanted)
{
    const char *place = (const char *)&vm + wanted->destination;
    return wanted->sort == SORT_STATIC ? *(const uintptr_t *)place == 0
                                       : *(const int32_t *)place == INT32_MIN;
}

static void forget_all(void)
{
    memset(&vm, 0, sizeof(vm));
    for (size_t i = 0; i < COUNT_OF(wanted_entries); i++)
        if (wanted_entries[i].sort != SORT_STATIC)
            store_offset(&wanted_entries[i], INT32_MIN);
}

/* Values that are in no table and depend on the release. */
static void apply_version(void)
{
    vm.major_version = *(const int *)vm.vm_major_version;
    vm.unsigned5_base = vm.major_version >= 20 ? 1 : 0;
    vm.bytecode_slot = MACHINE_BYTECODE_SLOT;
    if (MACHINE_SENDER_SLOT != 0)
        vm.sender_sp_slot = MACHINE_SENDER_SLOT;
    if (MACHINE_WRAPPER_SLOT != 0)
        vm.entry_wrapper_slot = MACHINE_WRAPPER_SLOT;
    vm.method_slot = -3;
    vm.line_table_flag = 1;
    vm.symbol_hash = vm.symbol_length == 0 ? 4 : 2;
}

static bool have_either(int32_t first, int32_t second)
{
    return first != VM_MISSING || second != VM_MISSING;
}

bool vm_layout_read(const void *address, struct error *error)
{
    forget_all();
    open_library(address);
    if (!read_structs(error) || !read_all_numbers(error))
        return false;
    vm.java_frames = true;
    for (size_t i = 0; i < COUNT_OF(wanted_entries); i++) {
        const struct wanted *wanted = &wanted_entries[i];
        if (!is_missing(wanted))
            continue;
        if (wanted->need == ALWAYS)
            return error_set(error, ERROR_UNSUPPORTED, "this JVM is not supported: its tables lack %s.%s",
                             wanted->types, wanted->field);
        if (wanted->need == JAVA)
            vm.java_frames = false;
        if (wanted->sort != SORT_STATIC)
            store_offset(wanted, VM_MISSING);
    }
    apply_version();
    if (!have_either(vm.blob_code_begin, vm.blob_code_offset) ||
        !have_either(vm.compiled_scopes_begin, vm.compiled_scopes_offset) ||
        !have_either(vm.compiled_metadata_offset, vm.blob_mutable_data))
        vm.java_frames = false;
    return true;
}

bool vm_layout_attach(struct error *error)
{
    if (!vm.java_frames)
        return error_set(error, ERROR_UNSUPPORTED, "unknown layout of this JVM's code and frames");
    uintptr_t array = *(const uintptr_t *)vm.code_heaps;
    uintptr_t queue = *(const uintptr_t *)vm.interpreter_code;
    if (array == 0 || queue == 0)
        return error_set(error, ERROR_UNSUPPORTED, "the JVM's code heaps do not exist yet");
    int count = *(const int *)(array + (uintptr_t)vm.array_length);
    const uintptr_t *data = *(const uintptr_t *const *)(array + (uintptr_t)vm.array_data);
    if (count < 1 || count > VM_CODE_HEAPS)
        return error_set(error, ERROR_UNSUPPORTED, "too many code heaps (%d)", count);
    for (int i = 0; i < count; i++)
        vm.heaps[i] = data[i];
    vm.heap_count = count;
    vm.interpreter_low = *(const uintptr_t *)(queue + (uintptr_t)vm.stub_queue_buffer);
    vm.interpreter_high = vm.interpreter_low + *(const uint32_t *)(queue + (uintptr_t)vm.stub_queue_limit);
    vm.call_stub_return_pc = *(const uintptr_t *)vm.call_stub_return;
    return true;
}

void *vm_layout_flag(const char *name)
{
    if (vm.flags == 0 || vm.flag_count == 0 || vm.flag_name < 0 || vm.flag_address < 0 || vm.flag_size <= 0)
        return NULL;
    const char *flag = *(const char *const *)vm.flags;
    size_t count = *(const size_t *)vm.flag_count;
    for (size_t i = 0; i < count; i++, flag += vm.flag_size) {
        const char *flag_name = *(const char *const *)(flag + vm.flag_name);
        if (flag_name != NULL && strcmp(flag_name, name) == 0)
            return *(void *const *)(flag + vm.flag_address);
    }
    return NULL;
}
