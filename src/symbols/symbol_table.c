#include "symbols/symbol_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/key_sort.h"
#include "symbols/debug_file.h"

void symbol_table_init(struct symbol_table *table)
{
    *table = (struct symbol_table){.symbols = NULL};
}

void symbol_table_release(struct symbol_table *table)
{
    free(table->symbols);
    free(table->owned_names);
    elf_file_release(&table->debug_file);
    symbol_table_init(table);
}

bool symbol_table_add(struct symbol_table *table, struct symbol symbol)
{
    if (!array_reserve(&table->symbols, &table->capacity, table->count + 1, SYMBOL_LIMIT))
        return false;
    table->symbols[table->count++] = symbol;
    return true;
}

/* Of a name that is compared: a damaged file may have one that is as large as all its names. */
#define COMPARED_BYTES 4096

static unsigned count_underscores(const char *name)
{
    unsigned count = 0;
    while (count < COMPARED_BYTES && name[count] == '_')
        count++;
    return count;
}

/* Of several names for one address: with a size, a real function before its PLT name, the fewest underscores. */
static bool is_better(const struct symbol_table *table, const struct symbol *left, const struct symbol *right)
{
    bool left_plt = left->name & SYMBOL_PLT, right_plt = right->name & SYMBOL_PLT;
    if (left_plt != right_plt)
        return right_plt;
    if ((left->size > 0) != (right->size > 0))
        return left->size > 0;
    const char *left_name = symbol_table_name(table, left), *right_name = symbol_table_name(table, right);
    unsigned left_underscores = count_underscores(left_name),
             right_underscores = count_underscores(right_name);
    if (left_underscores != right_underscores)
        return left_underscores < right_underscores;
    size_t left_length = strnlen(left_name, COMPARED_BYTES),
           right_length = strnlen(right_name, COMPARED_BYTES);
    return left_length != right_length ? left_length < right_length
                                       : strncmp(left_name, right_name, COMPARED_BYTES) < 0;
}

/* Labels inside a function with a size are not functions. */
bool symbol_table_sort(struct symbol_table *table)
{
    _Static_assert(sizeof(struct symbol) == KEY_SORT_ITEM_BYTES, "sorted by its address");
    size_t kept = 0;
    uint64_t end = 0;
    if (!key_sort(table->symbols, table->count))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        struct symbol symbol = table->symbols[i];
        struct symbol *last = kept > 0 ? &table->symbols[kept - 1] : NULL;
        if (last != NULL && last->address == symbol.address) {
            if (is_better(table, &symbol, last))
                *last = symbol;
        } else if (symbol.size > 0 || symbol.address >= end) {
            table->symbols[kept++] = symbol;
        }
        if (symbol.address + symbol.size > end)
            end = symbol.address + symbol.size;
    }
    table->count = kept;
    struct symbol *fitting = kept > 0 ? realloc(table->symbols, kept * sizeof(*fitting)) : NULL;
    if (fitting != NULL) {
        table->symbols = fitting;
        table->capacity = kept;
    }
    return true;
}

static bool is_code(const struct elf_file *file, const struct elf_symbol *symbol)
{
    struct elf_section section;
    if (symbol->section == SHN_UNDEF || symbol->address == 0 || symbol->name[0] == '\0' ||
        symbol->name[0] == '$')
        return false;
    if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
        return true;
    /* Assembly without .type: stubs of libjvm, __restore_rt. */
    return symbol->type == STT_NOTYPE && elf_file_section(file, symbol->section, &section) &&
           (section.flags & SHF_EXECINSTR) != 0;
}

static bool add_functions(struct symbol_table *table, const struct elf_file *file, const char *section_name,
                          enum symbol_source source, struct error *error)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    if (!elf_symbols_open(file, section_name, &symbols) || symbols.names.size > INT32_MAX)
        return true;
    table->names = symbols.names;
    for (size_t i = 1; elf_symbol_at(&symbols, i, &symbol); i++) {
        if (!is_code(file, &symbol))
            continue;
        struct symbol entry = {.address = symbol.address,
                               .size = symbol.size > UINT32_MAX ? UINT32_MAX : (uint32_t)symbol.size,
                               .name = (uint32_t)(symbol.name - symbols.names.data)};
        if (!symbol_table_add(table, entry))
            return error_set_memory(error);
    }
    if (table->count > 0)
        table->source = source;
    return true;
}

static bool add_best_functions(struct symbol_table *table, const struct elf_file *file, const char *path,
                               const char *root, struct error *error)
{
    if (!add_functions(table, file, ".symtab", SYMBOLS_SYMTAB, error))
        return false;
    if (table->count == 0 && path != NULL && debug_file_open(&table->debug_file, file, path, root)) {
        if (!add_functions(table, &table->debug_file, ".symtab", SYMBOLS_DEBUG_FILE, error))
            return false;
        if (table->count == 0)
            elf_file_release(&table->debug_file);
    }
    return table->count > 0 || add_functions(table, file, ".dynsym", SYMBOLS_DYNSYM, error);
}

bool symbol_table_load(struct symbol_table *table, const struct elf_file *file, const char *path,
                       const char *root, struct error *error)
{
    if (!add_best_functions(table, file, path, root, error))
        return false;
    if (!symbol_table_add_plt(table, file))
        return error_set_memory(error);
    return symbol_table_sort(table) || error_set_memory(error);
}
