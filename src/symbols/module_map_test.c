#include "symbols/module_map.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "symbols/memory_map.h"
#include "unit_test.h"

/* In libc itself, also when a sanitizer has put its own before it. */
static uint64_t address_in_libc(const char *name)
{
    return (uint64_t)(uintptr_t)dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), name);
}

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static void check_symbol(const struct module_map *map, uint64_t address, const char *module_name,
                         const char *name)
{
    struct symbol_match match;
    const struct module *module = module_map_find(map, address);
    CHECK(module != NULL);
    CHECK(strstr(module->name, module_name) != NULL);
    CHECK(module_find_symbol(module, address, &match));
    CHECK_TEXT(match.name, name);
}

TEST(finds_functions_of_this_process)
{
    struct error error = {0};
    struct module_map map;
    struct symbol_match match;
    module_map_init(&map, 0);
    CHECK(module_map_find(&map, 4096) == NULL);
    CHECK_OK(error, module_map_refresh(&map, &error));
    const struct module *self = module_map_find(&map, address_of((void *)(uintptr_t)&unit_test_fail));
    CHECK(self != NULL && !self->has_symbols);
    CHECK(!module_find_symbol(self, address_of((void *)(uintptr_t)&unit_test_fail), &match));
    CHECK_OK(error, module_map_load_symbols(&map, &error));
    check_symbol(&map, address_of((void *)(uintptr_t)&unit_test_fail) + 1, "module_map_test",
                 "unit_test_fail");
    check_symbol(&map, address_in_libc("qsort_r"), "libc", "qsort_r");
    CHECK(module_map_find(&map, 4096) == NULL);
    CHECK(module_map_find(&map, UINT64_MAX) == NULL);
    module_map_release(&map);
}

TEST(finds_functions_of_another_process)
{
    struct error error = {0};
    struct module_map map;
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(pipes[1]);
        _exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
    }
    module_map_init(&map, child);
    CHECK_OK(error, module_map_refresh(&map, &error));
    CHECK_OK(error, module_map_load_symbols(&map, &error));
    check_symbol(&map, address_in_libc("qsort_r"), "libc", "qsort_r");
    module_map_release(&map);
    close(pipes[1]);
}

TEST(knows_the_vdso)
{
    struct error error = {0};
    struct module_map map;
    struct symbol_match match;
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    if (vdso == 0)
        return;
    module_map_init(&map, 0);
    CHECK_OK(error, module_map_refresh(&map, &error));
    CHECK_OK(error, module_map_load_symbols(&map, &error));
    CHECK_OK(error, module_map_load_unwind(&map, &error));
    const struct module *module = module_map_find(&map, vdso + 64);
    CHECK(module != NULL);
    CHECK_TEXT(module->name, "[vdso]");
    CHECK(module->symbols.count > 0);
    CHECK(module_find_symbol(module, module->bias + module->symbols.symbols[0].address, &match));
    CHECK(module->unwind.count > 0);
    module_map_release(&map);
}

/* What is loaded later appears after a refresh, and earlier answers stay valid. */
TEST(refreshes_after_dlopen)
{
    struct error error = {0};
    struct module_map map;
    module_map_init(&map, 0);
    CHECK_OK(error, module_map_refresh(&map, &error));
    const struct module *libc = module_map_find(&map, address_in_libc("qsort_r"));
    void *library = dlopen("libresolv.so.2", RTLD_NOW);
    CHECK(library != NULL);
    uint64_t address = address_of(dlsym(library, "__b64_ntop"));
    CHECK(address != 0);
    CHECK(module_map_find(&map, address) == NULL);
    const struct module_index *before = map.index;
    CHECK_OK(error, module_map_refresh(&map, &error));
    CHECK(map.index != before);
    CHECK(strstr(module_map_find(&map, address)->name, "resolv") != NULL);
    CHECK(module_map_find(&map, address_in_libc("qsort_r")) == libc);
    before = map.index;
    CHECK_OK(error, module_map_refresh(&map, &error));
    CHECK(map.index == before);
    module_map_release(&map);
}

TEST(says_when_there_is_no_such_process)
{
    struct error error = {0};
    struct module_map map;
    module_map_init(&map, 0x7ffffffe);
    CHECK(!module_map_refresh(&map, &error));
    CHECK(strstr(error.message, "/proc/2147483646/maps") != NULL);
    module_map_release(&map);
}

TEST(reads_lines_of_maps)
{
    struct memory_mapping mapping;
    struct text_view text = TEXT("00400000-00401000 r-xp 00001000 fd:01 77    /usr/bin/a b\n"
                                 "garbage\n"
                                 "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
                                 "7f0000002000-7f0000003000 r-xp 00000000 00:05 9    /x.so (deleted)\n");
    CHECK(memory_map_next(&text, &mapping));
    CHECK(mapping.start == 0x400000 && mapping.end == 0x401000 && mapping.offset == 0x1000);
    CHECK(mapping.executable && mapping.readable && !mapping.writable && !mapping.deleted &&
          mapping.inode == 77);
    CHECK(text_equal(mapping.path, TEXT("/usr/bin/a b")));
    CHECK(memory_map_next(&text, &mapping));
    CHECK(mapping.path.size == 0 && mapping.writable);
    CHECK(memory_map_next(&text, &mapping));
    CHECK(mapping.deleted && text_equal(mapping.path, TEXT("/x.so")));
    CHECK(!memory_map_next(&text, &mapping));
}
