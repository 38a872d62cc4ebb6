#include "symbols/symbol_table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

__attribute__((noinline, used)) static int hidden_function(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value + 1;
}

struct loaded {
    struct elf_file file;
    struct symbol_table table;
};

static void load(struct loaded *loaded, const char *path)
{
    struct error error = {0};
    symbol_table_init(&loaded->table);
    CHECK_OK(error, elf_file_open(&loaded->file, path, &error));
    CHECK_OK(error, symbol_table_load(&loaded->table, &loaded->file, path, "", &error));
}

static void release(struct loaded *loaded)
{
    symbol_table_release(&loaded->table);
    elf_file_release(&loaded->file);
}

/* Every exported function that nm lists must be found at its first and its last byte. */
TEST(agrees_with_nm_on_libc)
{
    Dl_info information;
    struct loaded libc;
    char command[1024], line[1024], name[512], type;
    unsigned long address, size;
    unsigned count = 0;
    CHECK(dladdr((void *)(uintptr_t)&getenv, &information) != 0);
    load(&libc, information.dli_fname);
    snprintf(command, sizeof(command), "nm -D -S --defined-only '%s'", information.dli_fname);
    FILE *stream = popen(command, "r");
    while (fgets(line, sizeof(line), stream) != NULL) {
        struct symbol_match match;
        if (sscanf(line, "%lx %lx %c %511s", &address, &size, &type, name) != 4 ||
            strchr("TWi", type) == NULL || size == 0)
            continue;
        CHECK(symbol_table_find(&libc.table, address, &match));
        CHECK_INT(match.start, address);
        CHECK(symbol_table_find(&libc.table, address + size - 1, &match));
        CHECK(match.start >= address && match.start < address + size);
        count++;
    }
    pclose(stream);
    CHECK(count > 1000);
    release(&libc);
}

static bool has_name(const struct symbol_table *table, const char *name, uint64_t *address)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(symbol_table_name(table, &table->symbols[i]), name) == 0) {
            *address = table->symbols[i].address;
            return true;
        }
    }
    return false;
}

static void shell(const char *command)
{
    if (system(command) != 0)
        unit_test_fail(__FILE__, __LINE__, "failed: %s", command);
}

/* A stripped copy of this program finds its static functions in the file its .gnu_debuglink names. */
TEST(finds_the_debug_file_by_its_link)
{
    char folder[] = "/tmp/symbol_table_testXXXXXX", command[1024], path[256];
    struct loaded program;
    uint64_t address;
    CHECK(hidden_function(1) == 2);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(command, sizeof(command),
             "cd %s && cp /proc/%d/exe program && objcopy --only-keep-debug program program.debug && "
             "objcopy --strip-all --add-gnu-debuglink=program.debug program",
             folder, (int)getpid());
    shell(command);
    snprintf(path, sizeof(path), "%s/program", folder);
    load(&program, path);
    CHECK_INT(program.table.source, SYMBOLS_DEBUG_FILE);
    CHECK(has_name(&program.table, "hidden_function", &address));
    release(&program);
    snprintf(command, sizeof(command), "cd %s && mkdir .debug && mv program.debug .debug/", folder);
    shell(command);
    load(&program, path);
    CHECK_INT(program.table.source, SYMBOLS_DEBUG_FILE);
    release(&program);
    snprintf(command, sizeof(command), "cd %s && cp \"$(command -v nm)\" .debug/program.debug", folder);
    shell(command); /* another program's file must not be taken */
    load(&program, path);
    CHECK(program.table.source != SYMBOLS_DEBUG_FILE);
    CHECK(!has_name(&program.table, "hidden_function", &address));
    release(&program);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    shell(command);
}

TEST(names_the_entries_of_the_procedure_linkage_table)
{
    struct loaded program;
    unsigned count = 0;
    bool found = false;
    load(&program, "/proc/self/exe");
    for (size_t i = 0; i < program.table.count; i++) {
        struct symbol_match match;
        if ((program.table.symbols[i].name & SYMBOL_PLT) == 0)
            continue;
        CHECK(symbol_table_find(&program.table, program.table.symbols[i].address + 7, &match));
        CHECK(match.is_plt);
        found |= strcmp(match.name, "mkdtemp") == 0;
        count++;
    }
    CHECK(count > 0);
    CHECK(found);
    release(&program);
}

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL);
    fputs(text, stream);
    fclose(stream);
}

static void find_wanted(const char *path, const uint64_t *addresses, size_t count, const char *const *names)
{
    struct error error = {0};
    struct symbol_table table;
    struct symbol_match match;
    struct wanted_addresses wanted = {addresses, count};
    symbol_table_init(&table);
    CHECK_OK(error, symbol_table_load_kallsyms(&table, path, &wanted, &error));
    CHECK(table.count <= 2 * count + 2);
    for (size_t i = 0; i < count; i++) {
        CHECK(symbol_table_find(&table, addresses[i], &match) == (names[i] != NULL));
        if (names[i] != NULL)
            CHECK_TEXT(match.name, names[i]);
    }
    symbol_table_release(&table);
}

/* Modules follow in any order, and may lie below the kernel. */
TEST(reads_wanted_kernel_symbols)
{
    static const uint64_t own[] = {0xffffffff81000000, 0xffffffff810000ff, 0xffffffff81000380},
                          modules[] = {0xffffffff80000105, 0xffffffff810002ff, 0xffffffffc0000010,
                                       0xffffffffc0002000},
                          below[] = {0xffffffff70000000, 0xffffffff81000101};
    char path[] = "/tmp/symbol_table_testXXXXXX";
    close(mkstemp(path));
    write_file(path, "0000000000000000 A percpu\nffffffff81000000 T _stext\nffffffff81000000 T text\n"
                     "ffffffff81000100 t one\nffffffff81000200 t two\nffffffff81000280 D data\n"
                     "ffffffff81000300 t three\nffffffff81000400 t four\nffffffff81000500 t five\n"
                     "ffffffffc0001000 t second\t[b]\nffffffffc0000000 t first\t[a]\n"
                     "ffffffff80000100 t lowest\t[c]\n");
    find_wanted(path, own, 3, (const char *const[]){"text", "text", "three"});
    find_wanted(path, modules, 4, (const char *const[]){"lowest", "two", "first", "second"});
    find_wanted(path, below, 2, (const char *const[]){NULL, "one"});
    find_wanted(path, own, 0, NULL);
    unlink(path);
}

TEST(reads_kernel_symbols)
{
    struct error error = {0};
    struct symbol_table table;
    struct symbol_match match;
    char path[] = "/tmp/symbol_table_testXXXXXX";
    close(mkstemp(path));
    write_file(path, "ffffffff81000000 T _stext\nffffffff81000100 t do_it\nffffffff81000200 D data\n"
                     "ffffffffc0000000 t module_function\t[ext4]\n");
    symbol_table_init(&table);
    CHECK_OK(error, symbol_table_load_kallsyms(&table, path, NULL, &error));
    CHECK_INT(table.count, 3);
    CHECK(symbol_table_find(&table, 0xffffffff81000180, &match));
    CHECK_TEXT(match.name, "do_it");
    CHECK(symbol_table_find(&table, 0xffffffffc0000010, &match));
    CHECK_TEXT(match.name, "module_function");
    CHECK(!symbol_table_find(&table, 0x1000, &match));
    symbol_table_release(&table);
    write_file(path, "0000000000000000 T _stext\n0000000000000000 t do_it\n");
    CHECK(!symbol_table_load_kallsyms(&table, path, NULL, &error));
    CHECK_INT(error.code, ERROR_UNSUPPORTED);
    symbol_table_release(&table);
    write_file(path, "ffffffff81000000 T _stext\nnonsense\n");
    CHECK(!symbol_table_load_kallsyms(&table, path, NULL, &error));
    CHECK(strstr(error.message, "line 2") != NULL);
    symbol_table_release(&table);
    unlink(path);
}
