#include "python_sampler/python_dict.h"

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"

#define KEYS_HEAD_BYTES 40
#define MOST_KEY_BYTES 64
#define KEYS_PER_READ 256
#define FLAG_INLINE_VALUES (1u << 2)
#define FLAG_MANAGED_DICT (1u << 4)
#define DIGIT_BITS 30
#define KIND_GENERAL 0

/* The key table of a dict, which several dicts may share. */
struct keys {
    uint64_t entries; /* address of the first entry */
    size_t count;
    size_t entry_bytes;
    size_t key_at; /* in an entry */
};

/* Up to 3.10: reference count, number of indices, lookup function, free and used entries, indices. */
static bool parse_old_keys(const unsigned char *head, uint64_t address, struct keys *keys)
{
    uint64_t size = load_u64(head + 8);
    uint64_t index_bytes = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;
    keys->count = load_u64(head + 32);
    keys->entries = address + 40 + size * index_bytes;
    keys->entry_bytes = 24;
    keys->key_at = 8;
    return size <= (uint64_t)PYTHON_DICT_MOST_ENTRIES * 4;
}

/* Since 3.11: sizes as powers of two, and entries without a hash if all keys are strings. */
static bool parse_keys(const unsigned char *head, uint64_t address, struct keys *keys)
{
    unsigned index_power = head[9];
    bool general = head[10] == KIND_GENERAL;
    keys->count = load_u64(head + 24);
    keys->entries = address + 32 + (UINT64_C(1) << (index_power & 63));
    keys->entry_bytes = general ? 24 : 16;
    keys->key_at = general ? 8 : 0;
    return index_power < 40;
}

static bool read_keys(const struct python_reader *reader, uint64_t address, struct keys *keys)
{
    unsigned char head[KEYS_HEAD_BYTES];
    if (address == 0 || process_memory_read(reader->memory, address, head, sizeof(head)) != MEMORY_OK)
        return false;
    bool parsed = reader->layout->version <= 0x030a ? parse_old_keys(head, address, keys)
                                                    : parse_keys(head, address, keys);
    return parsed && keys->count <= PYTHON_DICT_MOST_ENTRIES;
}

/* Compares all strings with the wanted one in one read. Returns the index of the first match, or `count`. */
static size_t find_string(const struct python_reader *reader, const uint64_t *strings, size_t count,
                          const char *wanted)
{
    struct iovec ranges[KEYS_PER_READ];
    unsigned char bytes[KEYS_PER_READ * (PYTHON_MOST_STRING_HEAD_BYTES + MOST_KEY_BYTES)];
    size_t numbers[KEYS_PER_READ];
    size_t length = strlen(wanted), head = reader->layout->object.string_ascii_bytes;
    size_t size = head + length, used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strings[i] != 0) {
            numbers[used] = i;
            ranges[used++] = (struct iovec){(void *)(uintptr_t)strings[i], size};
        }
    }
    if (length > MOST_KEY_BYTES || head > PYTHON_MOST_STRING_HEAD_BYTES || used == 0 ||
        process_memory_read_ranges(reader->memory, ranges, used, bytes, used * size) != MEMORY_OK)
        return count;
    for (size_t i = 0; i < used; i++) {
        const unsigned char *at = bytes + i * size;
        if (load_u64(at + reader->layout->object.string_length) == length &&
            memcmp(at + head, wanted, length) == 0)
            return numbers[i];
    }
    return count;
}

/* The index of the entry with that key; false if there is none. */
static bool find_key(const struct python_reader *reader, const struct keys *keys, const char *wanted,
                     size_t *number, uint64_t *value)
{
    unsigned char entries[KEYS_PER_READ * 24];
    uint64_t strings[KEYS_PER_READ];
    for (size_t from = 0; from < keys->count; from += KEYS_PER_READ) {
        size_t count = keys->count - from < KEYS_PER_READ ? keys->count - from : KEYS_PER_READ;
        if (process_memory_read(reader->memory, keys->entries + from * keys->entry_bytes, entries,
                                count * keys->entry_bytes) != MEMORY_OK)
            return false;
        for (size_t i = 0; i < count; i++)
            strings[i] = load_u64(entries + i * keys->entry_bytes + keys->key_at);
        size_t found = find_string(reader, strings, count, wanted);
        if (found < count) {
            *number = from + found;
            *value = load_u64(entries + found * keys->entry_bytes + keys->key_at + 8);
            return true;
        }
    }
    return false;
}

/* The address of an entry's value if values are stored separately from keys. */
static uint64_t value_address(const struct python_reader *reader, uint64_t values, size_t number)
{
    return values + (reader->layout->version >= 0x030d ? 8 : 0) + 8 * number;
}

bool python_dict_get(const struct python_reader *reader, uint64_t dict, const char *key, uint64_t *value)
{
    struct keys keys;
    uint64_t places[2]; /* of keys and values, which are stored side by side */
    size_t number;
    if (dict == 0 ||
        process_memory_read(reader->memory, dict + reader->layout->object.dict_keys, places,
                            sizeof(places)) != MEMORY_OK ||
        !read_keys(reader, places[0], &keys) || !find_key(reader, &keys, key, &number, value))
        return false;
    uint64_t values = places[1];
    if (values != 0 && !process_memory_read_u64(reader->memory, value_address(reader, values, number), value))
        return false;
    return *value != 0;
}

bool python_dict_visit(const struct python_reader *reader, uint64_t dict,
                       bool (*visit)(void *context, uint64_t hash, uint64_t key, uint64_t value),
                       void *context)
{
    struct keys keys;
    uint64_t address;
    unsigned char entries[KEYS_PER_READ * 24];
    if (dict == 0 ||
        !process_memory_read_u64(reader->memory, dict + reader->layout->object.dict_keys, &address) ||
        !read_keys(reader, address, &keys))
        return false;
    for (size_t i = 0; i < keys.count; i++) {
        size_t left = keys.count - i, count = left < KEYS_PER_READ ? left : KEYS_PER_READ;
        if (i % KEYS_PER_READ == 0 && process_memory_read(reader->memory, keys.entries + i * keys.entry_bytes,
                                                          entries, count * keys.entry_bytes) != MEMORY_OK)
            return false;
        const unsigned char *entry = entries + i % KEYS_PER_READ * keys.entry_bytes;
        uint64_t hash = keys.key_at == 0 ? 0 : load_u64(entry);
        uint64_t key = load_u64(entry + keys.key_at), value = load_u64(entry + keys.key_at + 8);
        if (key != 0 && value != 0 && !visit(context, hash, key, value))
            break;
    }
    return true;
}

struct type_facts {
    uint64_t address;
    uint64_t flags;
    int64_t basic_size;
    int64_t dict_offset;
    uint64_t cached_keys;
};

static bool read_type(const struct python_reader *reader, uint64_t object, struct type_facts *facts)
{
    const struct python_layout *layout = reader->layout;
    uint64_t words[4];
    if (!process_memory_read_u64(reader->memory, object + layout->object.type, &facts->address))
        return false;
    const uint32_t offsets[] = {layout->object.type_flags, layout->object.type_basic_size,
                                layout->object.type_dict_offset, layout->object.type_cached_keys};
    struct iovec ranges[COUNT_OF(offsets)];
    for (size_t i = 0; i < COUNT_OF(offsets); i++)
        ranges[i] = (struct iovec){(void *)(uintptr_t)(facts->address + offsets[i]), sizeof(words[i])};
    if (process_memory_read_ranges(reader->memory, ranges, COUNT_OF(offsets), words, sizeof(words)) !=
        MEMORY_OK)
        return false;
    facts->flags = words[0];
    facts->basic_size = (int64_t)words[1];
    facts->dict_offset = (int64_t)words[2];
    facts->cached_keys = words[3];
    return true;
}

/* The attributes of an object: a block of values with the keys in its class, or a dict. */
struct attributes {
    uint64_t values; /* 0: none */
    uint64_t dict;   /* 0: none */
};

/* 3.11: words 4 and 3 before the object. 3.12: one word, odd if it points to values. 3.13: values after the object,
 * while they are valid. */
static bool find_managed(const struct python_reader *reader, uint64_t object, const struct type_facts *type,
                         struct attributes *attributes)
{
    struct process_memory *memory = reader->memory;
    uint32_t version = reader->layout->version;
    uint64_t dict_address = object - (reader->layout->free_threaded ? 8 : 24);
    unsigned char head[8];
    if (!process_memory_read_u64(memory, dict_address, &attributes->dict))
        return false;
    if (version == 0x030b)
        return process_memory_read_u64(memory, object - 32, &attributes->values);
    if (version == 0x030c && (attributes->dict & 1) != 0) {
        attributes->values = attributes->dict + 1;
        attributes->dict = 0;
    }
    if (version >= 0x030d && (type->flags & FLAG_INLINE_VALUES) != 0) {
        uint64_t values = object + (uint64_t)type->basic_size;
        if (process_memory_read(memory, values, head, sizeof(head)) != MEMORY_OK)
            return false;
        attributes->values = head[3] != 0 ? values : 0;
    }
    return true;
}

static bool find_attributes(const struct python_reader *reader, uint64_t object,
                            const struct type_facts *type, struct attributes *attributes)
{
    *attributes = (struct attributes){0, 0};
    if (reader->layout->version >= 0x030b && (type->flags & FLAG_MANAGED_DICT) != 0)
        return find_managed(reader, object, type, attributes);
    return type->dict_offset > 0 && type->dict_offset < 4096 &&
           process_memory_read_u64(reader->memory, object + (uint64_t)type->dict_offset, &attributes->dict);
}

bool python_object_attribute(const struct python_reader *reader, uint64_t object, const char *name,
                             uint64_t *value)
{
    struct type_facts type;
    struct attributes attributes;
    struct keys keys;
    size_t number;
    if (object == 0 || !read_type(reader, object, &type) ||
        !find_attributes(reader, object, &type, &attributes))
        return false;
    if (attributes.values == 0)
        return python_dict_get(reader, attributes.dict, name, value);
    return read_keys(reader, type.cached_keys, &keys) && find_key(reader, &keys, name, &number, value) &&
           process_memory_read_u64(reader->memory, value_address(reader, attributes.values, number), value) &&
           *value != 0;
}

bool python_object_read_int(const struct python_reader *reader, uint64_t object, int64_t *number)
{
    uint64_t words[2]; /* tag, and digits */
    uint64_t at = object + reader->layout->object.long_digits;
    if (object == 0 || process_memory_read(reader->memory, at - 8, words, sizeof(words)) != MEMORY_OK)
        return false;
    uint64_t tag = words[0];
    const uint32_t digits[2] = {(uint32_t)words[1], (uint32_t)(words[1] >> 32)};
    bool new_form = reader->layout->version >= 0x030c;
    bool negative = new_form ? (tag & 3) == 2 : (int64_t)tag < 0;
    uint64_t count = new_form ? tag >> 3 : (negative ? -tag : tag);
    if (count > 2)
        return false;
    uint64_t value = count == 0 ? 0 : digits[0];
    if (count == 2)
        value |= (uint64_t)digits[1] << DIGIT_BITS;
    *number = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

bool python_find_module(const struct python_reader *reader, uint64_t interpreter, const char *name,
                        uint64_t *dict)
{
    uint64_t modules, module;
    return process_memory_read_u64(reader->memory, interpreter + reader->layout->interpreter.modules,
                                   &modules) &&
           python_dict_get(reader, modules, name, &module) &&
           process_memory_read_u64(reader->memory, module + reader->layout->object.module_dict, dict);
}

bool python_class_dict(const struct python_reader *reader, uint64_t type, uint64_t *dict)
{
    /* tp_dict is 24 bytes before tp_dictoffset. */
    return process_memory_read_u64(reader->memory, type + reader->layout->object.type_dict_offset - 24, dict);
}
