/*
 * fuzz_elf.c - gives libFuzzer's input to what reads ELF files: sections, symbols, rules for unwinding.
 */
#include <stdlib.h>

#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load_symbols(const struct elf_file *file)
{
    struct symbol_table table;
    struct error error = {0};
    symbol_table_init(&table);
    /* No debug file is found below a root that is not there. */
    if (symbol_table_load(&table, file, "/none/file", "/none", &error)) {
        struct symbol_match match;
        for (size_t i = 0; i < table.count && i < 1000; i++)
            if (symbol_table_find(&table, table.symbols[i].address, &match) && match.name == NULL)
                abort();
    } else if (error.message[0] == '\0') {
        abort();
    }
    symbol_table_release(&table);
}

static bool read_nothing(void *context, uint64_t address, uint64_t *value)
{
    *value = address ^ (address >> 3);
    return (address & 8) == 0;
}

static void load_rules(const struct elf_file *file)
{
    struct unwind_table table;
    struct error error = {0};
    unwind_table_init(&table);
    if (unwind_table_load(&table, file, &error)) {
        struct unwind_memory memory = {read_nothing, NULL};
        for (uint32_t i = 0; i < table.count && i < 1000; i++) {
            struct unwind_registers registers = {.pc = table.base + table.starts[i], .sp = 4096, .fp = 8192};
            const struct unwind_rule *rule = unwind_table_find(&table, registers.pc);
            if (rule != NULL)
                (void)unwind_step(rule, &registers, &memory);
        }
    }
    unwind_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_file file;
    struct error error = {0};
    if (!elf_file_from_memory(&file, data, size, &error))
        return 0;
    struct text_view text;
    uint32_t checksum;
    uint64_t bias;
    struct elf_symbol symbol;
    (void)elf_file_build_id(&file, &text);
    (void)elf_file_debug_link(&file, &text, &checksum);
    (void)elf_file_bias(&file, 4096, 0, &bias);
    (void)elf_file_find_symbol(&file, "main", &symbol);
    load_symbols(&file);
    load_rules(&file);
    elf_file_release(&file);
    return 0;
}
