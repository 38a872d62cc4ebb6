/*
 * Names for the entries of the procedure linkage table: each jumps through one slot of the global offset table, and a
 * relocation says which function's address the loader puts there.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/symbol_table.h"

struct plt_slot {
    uint64_t address;
    uint32_t name; /* offset in .dynstr */
};

struct slot_list {
    struct plt_slot *slots;
    size_t count, capacity;
};

static int compare_slots(const void *left_pointer, const void *right_pointer)
{
    const struct plt_slot *left = left_pointer, *right = right_pointer;
    return left->address < right->address ? -1 : left->address > right->address;
}

static bool add_slots(struct slot_list *list, const struct elf_file *file, const char *section_name,
                      const struct elf_symbols *symbols)
{
    struct elf_section section;
    struct elf_symbol symbol;
    if (!elf_file_find_section(file, section_name, &section))
        return true;
    for (size_t i = 0; i < section.data.size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela entry;
        memcpy(&entry, section.data.data + i * sizeof(entry), sizeof(entry));
        if (!elf_symbol_at(symbols, ELF64_R_SYM(entry.r_info), &symbol) || symbol.name[0] == '\0')
            continue;
        if (!array_reserve(&list->slots, &list->capacity, list->count + 1, SYMBOL_LIMIT))
            return false;
        list->slots[list->count++] = (struct plt_slot){.address = entry.r_offset,
                                                       .name = (uint32_t)(symbol.name - symbols->names.data)};
    }
    return true;
}

static const struct plt_slot *find_slot(const struct slot_list *list, uint64_t address)
{
    struct plt_slot key = {.address = address};
    return list->count == 0 ? NULL
                            : bsearch(&key, list->slots, list->count, sizeof(list->slots[0]), compare_slots);
}

/* x86_64: [endbr64] [bnd] jmp *displacement(%rip). Returns the slot's address, or 0. */
static uint64_t jump_target_x86_64(const unsigned char *code, size_t size, uint64_t address)
{
    static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = 0;
    int32_t displacement;
    if (size >= 4 && memcmp(code, endbr, 4) == 0)
        at = 4;
    if (at < size && code[at] == 0xf2)
        at++;
    if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
        return 0;
    memcpy(&displacement, code + at + 2, 4);
    return address + at + 6 + (uint64_t)(int64_t)displacement;
}

/* aarch64: adrp x16, page; ldr x17, [x16, offset]. */
static uint64_t jump_target_aarch64(const unsigned char *code, size_t size, uint64_t address)
{
    uint32_t page_instruction, load_instruction;
    if (size < 8)
        return 0;
    memcpy(&page_instruction, code, 4);
    memcpy(&load_instruction, code + 4, 4);
    if ((page_instruction & 0x9f00001f) != 0x90000010 || (load_instruction & 0xffc003ff) != 0xf9400211)
        return 0;
    int64_t pages = (int64_t)(((page_instruction >> 3) & 0x1ffffc) | ((page_instruction >> 29) & 3));
    pages = (int64_t)((uint64_t)pages << 43) >> 43;
    return (address & ~(uint64_t)4095) + (uint64_t)(pages * 4096) + ((load_instruction >> 10) & 0xfff) * 8ULL;
}

static bool add_entries(struct symbol_table *table, const struct elf_file *file, const char *section_name,
                        size_t entry_size, const struct slot_list *slots)
{
    struct elf_section section;
    if (!elf_file_find_section(file, section_name, &section))
        return true;
    for (size_t at = 0; at + 8 <= section.data.size; at += entry_size) {
        const unsigned char *code = (const unsigned char *)section.data.data + at;
        size_t size = section.data.size - at < entry_size ? section.data.size - at : entry_size;
        uint64_t target = file->machine == EM_AARCH64 ? jump_target_aarch64(code, size, section.address + at)
                                                      : jump_target_x86_64(code, size, section.address + at);
        const struct plt_slot *slot = target == 0 ? NULL : find_slot(slots, target);
        struct symbol symbol = {.address = section.address + at, .size = (uint32_t)entry_size};
        if (slot == NULL)
            continue;
        symbol.name = SYMBOL_PLT | slot->name;
        if (!symbol_table_add(table, symbol))
            return false;
    }
    return true;
}

bool symbol_table_add_plt(struct symbol_table *table, const struct elf_file *file)
{
    struct elf_symbols symbols;
    struct slot_list list = {.slots = NULL};
    if (!elf_symbols_open(file, ".dynsym", &symbols) || symbols.names.size > INT32_MAX)
        return true;
    table->plt_names = symbols.names;
    bool good =
        add_slots(&list, file, ".rela.plt", &symbols) && add_slots(&list, file, ".rela.dyn", &symbols);
    if (good && list.count > 0) {
        qsort(list.slots, list.count, sizeof(list.slots[0]), compare_slots);
        good = add_entries(table, file, ".plt", 16, &list) &&
               add_entries(table, file, ".plt.sec", 16, &list) &&
               add_entries(table, file, ".plt.got", 8, &list);
    }
    free(list.slots);
    return good;
}
