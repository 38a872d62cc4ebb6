/* Everything that looks up and never changes: may run inside a signal handler. */
#include <string.h>

#include "symbols/module_map.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_table.h"

enum { LOOK_BACK = 8 };

const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol)
{
    bool is_plt = symbol->name & SYMBOL_PLT;
    return (is_plt ? table->plt_names.data : table->names.data) + (symbol->name & ~SYMBOL_PLT);
}

/* The index behind the last symbol that starts at or before the address. */
static size_t symbols_up_to(const struct symbol_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool covers(const struct symbol *symbol, uint64_t address)
{
    return symbol->size == 0 || address - symbol->address < symbol->size;
}

bool symbol_table_find(const struct symbol_table *table, uint64_t address, struct symbol_match *match)
{
    size_t end = symbols_up_to(table, address);
    for (size_t back = 1; back <= LOOK_BACK && back <= end; back++) {
        const struct symbol *symbol = &table->symbols[end - back];
        if (!covers(symbol, address) || (back > 1 && symbol->size == 0))
            continue; /* a small function may lie within a larger one */
        match->name = symbol_table_name(table, symbol);
        match->start = symbol->address;
        match->is_plt = symbol->name & SYMBOL_PLT;
        return true;
    }
    return false;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address)
{
    if (address < table->base || address - table->base >= table->span)
        return NULL;
    uint32_t offset = (uint32_t)(address - table->base);
    uint32_t bucket = offset >> table->bucket_shift;
    uint32_t low = table->buckets[bucket], high = table->buckets[bucket + 1];
    while (low < high) { /* the last row that starts at or before offset */
        uint32_t middle = low + (high - low + 1) / 2;
        if (table->starts[middle] <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    if (table->starts[low] > offset)
        return NULL;
    const struct unwind_rule *rule = &table->rules[table->rule_of[low]];
    return rule->kind == UNWIND_NONE ? NULL : rule;
}

const struct module *module_map_find(const struct module_map *map, uint64_t address)
{
    const struct module_index *index = __atomic_load_n(&map->index, __ATOMIC_ACQUIRE);
    if (index == NULL)
        return NULL;
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->count || address < index->ranges[low].start)
        return NULL;
    return index->ranges[low].module;
}

bool module_find_symbol(const struct module *module, uint64_t address, struct symbol_match *match)
{
    if (!__atomic_load_n(&module->has_symbols, __ATOMIC_ACQUIRE))
        return false;
    return symbol_table_find(&module->symbols, address - module->bias, match);
}

const struct unwind_rule *module_find_rule(const struct module *module, uint64_t address)
{
    if (!__atomic_load_n(&module->has_unwind, __ATOMIC_ACQUIRE))
        return NULL;
    return unwind_table_find(&module->unwind, address - module->bias);
}
