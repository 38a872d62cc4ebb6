#include "jvm_agent/vm/vm_layout.h"

#include <string.h>

#include "unit_test.h"

#define EXPORTED __attribute__((visibility("default"))) extern

/* This program exports the tables of a libjvm.so, as far as they are needed here. */
struct field_entry {
    const char *type, *field, *type_text;
    int32_t is_static;
    int64_t offset;
    const void *address;
};

struct type_entry {
    const char *name;
    int64_t size;
};

struct integer_entry {
    const char *name;
    int32_t value;
};

static const int version = 21;

static struct field_entry fields[] = {{"JavaThread", "_osthread", NULL, 0, 600, NULL},
                                      {"OSThread", "_thread_id", NULL, 0, 40, NULL},
                                      {"Method", "_constMethod", NULL, 0, 8, NULL},
                                      {"Abstract_VM_Version", "_vm_major_version", NULL, 1, 0, &version},
                                      {NULL}};
static struct type_entry types[] = {{"PcDesc", 16}, {NULL}};
static struct integer_entry integers[] = {{"frame::interpreter_frame_sender_sp_offset", -1}, {NULL}};

#define TABLE(name, value)           \
    EXPORTED const void *const name; \
    const void *const name = value
#define NUMBER(name, value)       \
    EXPORTED const uint64_t name; \
    const uint64_t name = value
TABLE(gHotSpotVMStructs, fields);
NUMBER(gHotSpotVMStructEntryArrayStride, sizeof(struct field_entry));
NUMBER(gHotSpotVMStructEntryTypeNameOffset, offsetof(struct field_entry, type));
NUMBER(gHotSpotVMStructEntryFieldNameOffset, offsetof(struct field_entry, field));
NUMBER(gHotSpotVMStructEntryTypeStringOffset, offsetof(struct field_entry, type_text));
NUMBER(gHotSpotVMStructEntryIsStaticOffset, offsetof(struct field_entry, is_static));
NUMBER(gHotSpotVMStructEntryOffsetOffset, offsetof(struct field_entry, offset));
NUMBER(gHotSpotVMStructEntryAddressOffset, offsetof(struct field_entry, address));
TABLE(gHotSpotVMTypes, types);
NUMBER(gHotSpotVMTypeEntryArrayStride, sizeof(struct type_entry));
NUMBER(gHotSpotVMTypeEntryTypeNameOffset, offsetof(struct type_entry, name));
NUMBER(gHotSpotVMTypeEntrySizeOffset, offsetof(struct type_entry, size));
TABLE(gHotSpotVMIntConstants, integers);
NUMBER(gHotSpotVMIntConstantEntryArrayStride, sizeof(struct integer_entry));
NUMBER(gHotSpotVMIntConstantEntryNameOffset, offsetof(struct integer_entry, name));
NUMBER(gHotSpotVMIntConstantEntryValueOffset, offsetof(struct integer_entry, value));

static const int64_t impossible[] = {-1,        -8,       1 << 16, 1 << 20, INT32_MIN, (INT64_C(1) << 32) + 8,
                                     INT64_MIN, INT64_MAX};

TEST(tables_are_read)
{
    struct error error = {ERROR_NONE, ""};
    CHECK_OK(error, vm_layout_read(&version, &error));
    CHECK_INT(vm.java_thread_os_thread, 600);
    CHECK_INT(vm.method_const_method, 8);
    CHECK_INT(vm.pc_size, 16);
    CHECK_INT(vm.sender_sp_slot, -1);
    CHECK_INT(vm.major_version, 21);
}

TEST(an_offset_that_is_always_needed_must_be_possible)
{
    for (size_t i = 0; i < COUNT_OF(impossible); i++) {
        struct error error = {ERROR_NONE, ""};
        fields[0].offset = impossible[i];
        CHECK(!vm_layout_read(&version, &error));
        CHECK(strstr(error.message, "_osthread") != NULL);
    }
}

TEST(other_values_that_cannot_be_are_missing)
{
    for (size_t i = 0; i < COUNT_OF(impossible); i++) {
        fields[2].offset = types[0].size = impossible[i];
        integers[0].value = INT32_MAX;
        CHECK(vm_layout_read(&version, NULL));
        CHECK_INT(vm.method_const_method, VM_MISSING);
        CHECK_INT(vm.pc_size, VM_MISSING);
        CHECK_INT(vm.sender_sp_slot, VM_MISSING);
        CHECK(!vm.java_frames);
    }
    types[0].size = 0;
    CHECK(vm_layout_read(&version, NULL));
    CHECK_INT(vm.pc_size, VM_MISSING);
}
