#include "jvm_agent/vm/code_blob.h"

#include <stddef.h>

struct vm_layout vm;

#define SEGMENT_FREE 0xff
#define SEGMENT_HOPS 0x20000
#define MOST_SEGMENT_LOG2 30

static uintptr_t find_in_heap(uintptr_t heap, uintptr_t pc)
{
    uintptr_t memory = field_of(heap, vm.code_heap_memory);
    uintptr_t low = load_word(field_of(memory, vm.space_low));
    if (pc < low || pc >= load_word(field_of(memory, vm.space_high)))
        return 0;
    int shift = load_int(field_of(heap, vm.code_heap_segment_log2));
    if (UNLIKELY((unsigned)shift > MOST_SEGMENT_LOG2))
        return 0;
    uintptr_t map = load_word(field_of(field_of(heap, vm.code_heap_segment_map), vm.space_low));
    uintptr_t index = (pc - low) >> shift;
    uint8_t back = load_byte(map + index);
    if (back == SEGMENT_FREE)
        return 0;
    /* Each byte holds the number of segments to go back; the first one of a block holds 0. */
    for (int hops = 0; back != 0; hops++) {
        if (hops > SEGMENT_HOPS || back > index)
            return 0;
        index -= back;
        back = load_byte(map + index);
    }
    uintptr_t block = low + (index << shift);
    return load_byte(field_of(block, vm.block_used)) == 0 ? 0 : block + (uintptr_t)vm.block_size;
}

uintptr_t code_blob_find(uintptr_t pc)
{
    for (int i = 0; i < vm.heap_count; i++) {
        uintptr_t blob = find_in_heap(vm.heaps[i], pc);
        if (blob != 0)
            return blob;
    }
    return 0;
}

const char *code_blob_name(uintptr_t blob)
{
    return (const char *)load_word(field_of(blob, vm.blob_name));
}

static bool text_is(const char *text, const char *expected)
{
    uintptr_t at = (uintptr_t)text;
    while (*expected != 0 && load_byte(at) == (uint8_t)*expected)
        at++, expected++;
    return load_byte(at) == (uint8_t)*expected;
}

/* The names are constants in libjvm, so after the first comparison their addresses are compared. */
bool code_blob_is_compiled(uintptr_t blob)
{
    static const char *volatile compiled_name, *volatile wrapper_name;
    const char *name = code_blob_name(blob);
    if (name == NULL)
        return false;
    if (name == compiled_name || name == wrapper_name)
        return true;
    if (text_is(name, "nmethod")) {
        compiled_name = name;
        return true;
    }
    if (text_is(name, "native nmethod")) {
        wrapper_name = name;
        return true;
    }
    return false;
}

uintptr_t code_blob_begin(uintptr_t blob)
{
    if (vm.blob_code_begin >= 0)
        return load_word(field_of(blob, vm.blob_code_begin));
    return blob + (uintptr_t)load_int(field_of(blob, vm.blob_code_offset));
}

uintptr_t code_blob_frame_complete(uintptr_t blob)
{
    uintptr_t field = field_of(blob, vm.blob_frame_complete);
    int offset = vm.frame_complete_bytes == 2 ? (int16_t)load_u16(field) : load_int(field);
    return code_blob_begin(blob) + (uintptr_t)(offset < 0 ? 0 : offset);
}

int code_blob_frame_words(uintptr_t blob)
{
    return load_int(field_of(blob, vm.blob_frame_size));
}

uintptr_t compiled_entry(uintptr_t blob)
{
    if (vm.compiled_entry_point >= 0)
        return load_word(field_of(blob, vm.compiled_entry_point));
    if (vm.compiled_entry_offset >= 0)
        return code_blob_begin(blob) + load_u16(field_of(blob, vm.compiled_entry_offset));
    return code_blob_begin(blob);
}

int compiled_level(uintptr_t blob)
{
    return (int8_t)load_byte(field_of(blob, vm.compiled_level));
}

uintptr_t compiled_deopt_pc(uintptr_t blob)
{
    if (vm.compiled_deopt_begin >= 0)
        return load_word(field_of(blob, vm.compiled_deopt_begin));
    if (vm.compiled_deopt_offset >= 0)
        return blob + (uintptr_t)load_int(field_of(blob, vm.compiled_deopt_offset));
    return 0;
}

static uintptr_t immutable_begin(uintptr_t blob)
{
    return vm.compiled_immutable_data >= 0 ? load_word(field_of(blob, vm.compiled_immutable_data)) : blob;
}

static uintptr_t metadata_begin(uintptr_t blob)
{
    if (vm.blob_mutable_data >= 0)
        return load_word(field_of(blob, vm.blob_mutable_data)) +
               (uintptr_t)load_int(field_of(blob, vm.blob_relocation_size));
    uintptr_t field = field_of(blob, vm.compiled_metadata_offset);
    if (vm.metadata_offset_bytes == 2)
        return blob + (uintptr_t)load_int(field_of(blob, vm.blob_data_offset)) + load_u16(field);
    return blob + (uintptr_t)load_int(field);
}

static uintptr_t scopes_begin(uintptr_t blob)
{
    if (vm.compiled_scopes_offset >= 0)
        return immutable_begin(blob) + (uintptr_t)load_int(field_of(blob, vm.compiled_scopes_offset));
    return load_word(field_of(blob, vm.compiled_scopes_begin));
}

/* The table of pc descriptors ends where the dependencies or, in newer releases, the scopes begin. */
static void places_of(uintptr_t blob, uintptr_t *begin, uintptr_t *end)
{
    *begin = immutable_begin(blob) + (uintptr_t)load_int(field_of(blob, vm.compiled_pcs_offset));
    *end = vm.compiled_scopes_offset >= 0 && vm.compiled_immutable_data >= 0
               ? scopes_begin(blob)
               : blob + (uintptr_t)load_int(field_of(blob, vm.compiled_dependencies_offset));
}

/* The first descriptor at or after the offset describes the code before it. */
static uintptr_t find_place(uintptr_t blob, int offset)
{
    uintptr_t begin, end;
    places_of(blob, &begin, &end);
    if (end <= begin || end - begin > 0x4000000)
        return 0;
    uintptr_t low = 0, high = (end - begin) / (uintptr_t)vm.pc_size;
    while (low < high) {
        uintptr_t middle = (low + high) / 2;
        if (load_int(field_of(begin + middle * (uintptr_t)vm.pc_size, vm.pc_offset)) < offset)
            low = middle + 1;
        else
            high = middle;
    }
    uintptr_t place = begin + low * (uintptr_t)vm.pc_size;
    return place < end ? place : 0;
}

bool scope_find(struct scope *scope, uintptr_t blob, uintptr_t pc, bool interrupted)
{
    int offset = (int)(pc - code_blob_begin(blob)) + (interrupted ? 1 : 0);
    uintptr_t place = find_place(blob, offset);
    if (place == 0)
        return false;
    int next = load_int(field_of(place, vm.pc_scope_offset));
    if (next <= 0)
        return false;
    *scope = (struct scope){.blob = blob, .scopes = scopes_begin(blob), .metadata = metadata_begin(blob)};
    scope->next = (uint32_t)next;
    return true;
}

/* HotSpot's UNSIGNED5: a byte below 192 ends a number, each byte adds six bits. */
static uint32_t read_number(uintptr_t *at)
{
    uint32_t sum = 0;
    for (int i = 0; i < 5; i++) {
        uint32_t byte = load_byte((*at)++);
        sum += (byte - (uint32_t)vm.unsigned5_base) << (6 * i);
        if (byte < 192)
            break;
    }
    return sum;
}

bool scope_next(struct scope *scope)
{
    if (scope->next == 0)
        return false;
    uintptr_t at = scope->scopes + scope->next;
    uint32_t sender = read_number(&at);
    uint32_t method = read_number(&at);
    scope->bytecode_index = (int)read_number(&at) - 1;
    scope->method = method == 0 ? 0 : load_word(scope->metadata + (method - 1) * sizeof(uintptr_t));
    scope->next = sender < scope->next ? sender : 0; /* callers are written before their callees */
    return true;
}

/* The first and the last descriptor only mark the ends of the table. */
bool compiled_has_no_places(uintptr_t blob)
{
    uintptr_t begin, end;
    places_of(blob, &begin, &end);
    return end - begin == 2 * (uintptr_t)vm.pc_size;
}

bool compiled_is_consistent(uintptr_t blob)
{
    struct scope scope;
    uintptr_t begin, end;
    places_of(blob, &begin, &end);
    if (compiled_level(blob) < 1 || end <= begin)
        return end >= begin;
    uintptr_t place = begin + (end - begin) / (uintptr_t)vm.pc_size / 2 * (uintptr_t)vm.pc_size;
    int offset = load_int(field_of(place, vm.pc_offset));
    if (offset < 0 || !scope_find(&scope, blob, code_blob_begin(blob) + (uintptr_t)offset, false))
        return false;
    while (scope_next(&scope))
        if (scope.next == 0)
            return scope.method == load_word(field_of(blob, vm.compiled_method));
    return false;
}
