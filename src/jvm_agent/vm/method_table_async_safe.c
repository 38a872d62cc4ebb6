#include "jvm_agent/vm/method_table.h"

#include "base/hash.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

#define LINES_LIMIT_BYTES 65536u

/* Identifies a method in addition to its address. */
struct method_parts {
    uintptr_t const_method;
    uintptr_t constants;
    uintptr_t class_symbol;
    uintptr_t name_symbol;
};

bool method_table_init(struct method_table *table, struct safe_arena *arena)
{
    table->arena = arena;
    table->named = 0;
    table->buckets = safe_arena_map(arena, METHOD_BUCKETS * sizeof(*table->buckets));
    return table->buckets != NULL && safe_items_init(&table->methods, arena, sizeof(struct method));
}

void method_table_release(struct method_table *table)
{
    safe_items_release(&table->methods);
    safe_arena_unmap(table->arena, (void *)table->buckets, METHOD_BUCKETS * sizeof(*table->buckets));
    table->buckets = NULL;
}

/* The entries of a constant pool follow its header; some have a tag in the lowest bit. */
static uintptr_t pool_symbol(uintptr_t pool, uint32_t index)
{
    if (index == 0 || index >= (uint32_t)load_int(field_of(pool, vm.pool_length)))
        return 0;
    uintptr_t symbol = load_word(pool + (uintptr_t)vm.pool_size + index * sizeof(uintptr_t)) & ~(uintptr_t)1;
    return is_plausible(symbol) ? symbol : 0;
}

static bool read_parts(uintptr_t address, struct method_parts *parts)
{
    parts->const_method = load_word(field_of(address, vm.method_const_method));
    if (!is_plausible(parts->const_method))
        return false;
    parts->constants = load_word(field_of(parts->const_method, vm.const_method_constants));
    if (!is_plausible(parts->constants))
        return false;
    uintptr_t holder = load_word(field_of(parts->constants, vm.pool_holder));
    if (!is_plausible(holder))
        return false;
    parts->class_symbol = load_word(field_of(holder, vm.klass_name));
    parts->name_symbol =
        pool_symbol(parts->constants, load_u16(field_of(parts->const_method, vm.const_method_name_index)));
    return is_plausible(parts->class_symbol) && parts->name_symbol != 0;
}

static bool is_same(const struct method *method, uintptr_t address, const struct method_parts *parts)
{
    return method->address == address && method->class_symbol == parts->class_symbol &&
           method->name_symbol == parts->name_symbol &&
           method->class_check == load_u16(field_of(parts->class_symbol, vm.symbol_hash)) &&
           method->name_check == load_u16(field_of(parts->name_symbol, vm.symbol_hash));
}

static const char *copy_bytes(struct safe_arena *arena, uintptr_t from, uint32_t size)
{
    char *copy = safe_arena_allocate(arena, size == 0 ? 1 : size);
    for (uint32_t i = 0; copy != NULL && i < size; i++)
        copy[i] = (char)load_byte(from + i);
    return copy;
}

static const char *copy_symbol(struct safe_arena *arena, uintptr_t symbol, uint16_t *size)
{
    *size = load_u16(field_of(symbol, vm.symbol_length));
    return copy_bytes(arena, field_of(symbol, vm.symbol_body), *size);
}

uintptr_t method_bytecodes(uintptr_t address, uint32_t *size)
{
    uintptr_t const_method = load_word(field_of(address, vm.method_const_method));
    *size = load_u16(field_of(const_method, vm.const_method_code_size));
    return const_method + (uintptr_t)vm.const_method_size;
}

/* The table follows the bytecodes and ends with a zero byte; a byte of 255 is followed by two numbers of up to 5
 * bytes. */
static uint32_t line_table_size(uintptr_t table)
{
    uint32_t size = 0;
    while (size < LINES_LIMIT_BYTES) {
        uint8_t byte = load_byte(table + size++);
        if (byte == 0)
            return size;
        for (int number = 0; byte == 0xff && number < 2; number++)
            for (int i = 0; i < 5; i++) {
                uint8_t part = load_byte(table + size++);
                if (part < 192)
                    break;
            }
    }
    return 0;
}

static void copy_lines(struct safe_arena *arena, struct method *method, uintptr_t const_method)
{
    if (vm.const_method_flags < 0 ||
        (load_u16(field_of(const_method, vm.const_method_flags)) & vm.line_table_flag) == 0)
        return;
    uintptr_t table = const_method + (uintptr_t)vm.const_method_size +
                      load_u16(field_of(const_method, vm.const_method_code_size));
    uint32_t size = line_table_size(table);
    if (size == 0)
        return;
    method->lines = (const uint8_t *)copy_bytes(arena, table, size);
    method->lines_size = method->lines == NULL ? 0 : size;
}

static uint32_t add_new(struct method_table *table, uintptr_t address, const struct method_parts *parts)
{
    struct method copy = {
        .address = address, .class_symbol = parts->class_symbol, .name_symbol = parts->name_symbol};
    copy.class_check = load_u16(field_of(parts->class_symbol, vm.symbol_hash));
    copy.name_check = load_u16(field_of(parts->name_symbol, vm.symbol_hash));
    copy.class_name = copy_symbol(table->arena, parts->class_symbol, &copy.class_size);
    copy.name = copy_symbol(table->arena, parts->name_symbol, &copy.name_size);
    uintptr_t signature = pool_symbol(
        parts->constants, load_u16(field_of(parts->const_method, vm.const_method_signature_index)));
    if (signature != 0)
        copy.signature = copy_symbol(table->arena, signature, &copy.signature_size);
    if (vm.method_access_flags >= 0)
        copy.access_flags = load_u16(field_of(address, vm.method_access_flags));
    copy_lines(table->arena, &copy, parts->const_method);
    if (copy.class_name == NULL || copy.name == NULL)
        return 0;
    uint32_t number = safe_items_add(&table->methods);
    if (number != 0) {
        copy.ready = true;
        *method_table_at(table, number) = copy;
    }
    return number;
}

static uint32_t find(const struct method_table *table, uint32_t from, uint32_t end, uintptr_t address,
                     const struct method_parts *parts)
{
    for (uint32_t number = from; number != end;) {
        const struct method *method = method_table_at(table, number);
        if (is_same(method, address, parts))
            return number;
        number = method->next;
    }
    return 0;
}

uint32_t method_table_add(struct method_table *table, uintptr_t address)
{
    struct method_parts parts;
    if (!is_plausible(address) || !read_parts(address, &parts))
        return 0;
    _Atomic uint32_t *bucket = &table->buckets[hash_u64(address) & (METHOD_BUCKETS - 1)];
    uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
    uint32_t found = find(table, first, 0, address, &parts);
    if (found != 0)
        return found;
    uint32_t number = add_new(table, address, &parts);
    while (number != 0) {
        method_table_at(table, number)->next = first;
        uint32_t seen = first;
        if (atomic_compare_exchange_strong(bucket, &first, number))
            return number;
        found = find(table, first, seen, address, &parts);
        if (found != 0)
            return found;
    }
    return 0;
}

static uint32_t find_class(const struct method_table *table, uint32_t from, uintptr_t address,
                           uintptr_t symbol)
{
    for (uint32_t number = from; number != 0;) {
        const struct method *method = method_table_at(table, number);
        if (method->address == address && method->class_symbol == symbol && method->name_symbol == 0 &&
            method->class_check == load_u16(field_of(symbol, vm.symbol_hash)))
            return number;
        number = method->next;
    }
    return 0;
}

/* Two handlers that add the same class concurrently give it two numbers, which is harmless. */
uint32_t method_table_add_class(struct method_table *table, uintptr_t address)
{
    uintptr_t symbol = load_word(field_of(address, vm.klass_name));
    if (!is_plausible(symbol))
        return 0;
    _Atomic uint32_t *bucket = &table->buckets[hash_u64(address) & (METHOD_BUCKETS - 1)];
    uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
    uint32_t number = find_class(table, first, address, symbol);
    if (number != 0)
        return number;
    struct method copy = {.address = address, .class_symbol = symbol, .name = "", .ready = true};
    copy.class_check = load_u16(field_of(symbol, vm.symbol_hash));
    copy.class_name = copy_symbol(table->arena, symbol, &copy.class_size);
    number = copy.class_name == NULL ? 0 : safe_items_add(&table->methods);
    if (number == 0)
        return 0;
    *method_table_at(table, number) = copy;
    do
        method_table_at(table, number)->next = first;
    while (!atomic_compare_exchange_weak(bucket, &first, number));
    return number;
}

/* Two handlers that add the same id concurrently give it two numbers, which is harmless. */
uint32_t method_table_add_id(struct method_table *table, uintptr_t id)
{
    _Atomic uint32_t *bucket = &table->buckets[hash_u64(id) & (METHOD_BUCKETS - 1)];
    uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
    for (uint32_t number = first; number != 0; number = method_table_at(table, number)->next)
        if (method_table_at(table, number)->address == id && method_is_id(method_table_at(table, number)))
            return number;
    uint32_t number = safe_items_add(&table->methods);
    if (number == 0)
        return 0;
    *method_table_at(table, number) =
        (struct method){.address = id, .class_name = "", .name = "", .signature = ""};
    do
        method_table_at(table, number)->next = first;
    while (!atomic_compare_exchange_weak(bucket, &first, number));
    return number;
}

static bool is_copy_of(const struct method *known, const struct method *method)
{
    return known->address == method->address && known->class_symbol == method->class_symbol &&
           known->name_symbol == method->name_symbol && known->class_check == method->class_check &&
           known->name_check == method->name_check && known->ready == method->ready;
}

static const char *copy_text(struct safe_arena *arena, const char *text, uint32_t size)
{
    char *copy = text == NULL ? NULL : safe_arena_allocate(arena, size == 0 ? 1 : size);
    for (uint32_t i = 0; copy != NULL && i < size; i++)
        copy[i] = text[i];
    return copy;
}

/* Two threads that copy the same method concurrently give it two numbers, which is harmless. */
uint32_t method_table_copy(struct method_table *table, const struct method *method)
{
    _Atomic uint32_t *bucket = &table->buckets[hash_u64(method->address) & (METHOD_BUCKETS - 1)];
    uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
    for (uint32_t number = first; number != 0; number = method_table_at(table, number)->next)
        if (is_copy_of(method_table_at(table, number), method))
            return number;
    struct method copy = *method;
    copy.chunk = 0;
    copy.class_name = copy_text(table->arena, method->class_name, method->class_size);
    copy.name = copy_text(table->arena, method->name, method->name_size);
    copy.signature = copy_text(table->arena, method->signature, method->signature_size);
    copy.lines = (const uint8_t *)copy_text(table->arena, (const char *)method->lines, method->lines_size);
    copy.lines_size = copy.lines == NULL ? 0 : method->lines_size;
    uint32_t number = copy.class_name == NULL || copy.name == NULL ? 0 : safe_items_add(&table->methods);
    if (number == 0)
        return 0;
    *method_table_at(table, number) = copy;
    do
        method_table_at(table, number)->next = first;
    while (!atomic_compare_exchange_weak(bucket, &first, number));
    return number;
}

static int32_t read_number(const uint8_t **at, const uint8_t *end)
{
    uint32_t sum = 0;
    for (int i = 0; i < 5 && *at < end; i++) {
        uint32_t byte = *(*at)++;
        sum += (byte - (uint32_t)vm.unsigned5_base) << (6 * i);
        if (byte < 192)
            break;
    }
    return (int32_t)(sum >> 1) ^ -(int32_t)(sum & 1);
}

/* An entry is a difference of bytecode index and line: five and three bits of a byte, or two signed numbers after
 * 255. */
uint32_t method_line(const struct method *method, int bytecode_index)
{
    if (method->lines == NULL)
        return 0;
    const uint8_t *at = method->lines, *end = at + method->lines_size;
    int index = 0, line = 0, found = 0;
    while (at < end && *at != 0) {
        uint8_t byte = *at++;
        if (byte == 0xff) {
            index += read_number(&at, end);
            line += read_number(&at, end);
        } else {
            index += byte >> 3;
            line += byte & 7;
        }
        if (index > bytecode_index)
            break;
        found = line;
    }
    return found > 0 ? (uint32_t)found : 0;
}
