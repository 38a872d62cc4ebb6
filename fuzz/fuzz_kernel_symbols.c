/*
 * fuzz_kernel_symbols.c - gives libFuzzer's input to what reads /proc/kallsyms: all of it, and for some addresses only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attributes.h"
#include "symbols/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const char *path, const struct wanted_addresses *wanted)
{
    struct symbol_table table;
    struct error error = {ERROR_NONE, ""};
    struct symbol_match match;
    symbol_table_init(&table);
    if (symbol_table_load_kallsyms(&table, path, wanted, &error)) {
        for (size_t i = 0; i < table.count && i < 1000; i++)
            if (symbol_table_find(&table, table.symbols[i].address, &match) && match.name == NULL)
                abort();
    } else if (error.message[0] == '\0') {
        abort();
    }
    symbol_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t addresses[] = {1, 0xffffffff81000010, 0xffffffff81200000, 0xffffffffc0000100};
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("kallsyms", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    load(path, NULL);
    load(path, &(struct wanted_addresses){addresses, COUNT_OF(addresses)});
    return 0;
}
