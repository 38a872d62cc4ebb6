#include "symbols/module_map.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/array.h"
#include "symbols/memory_map.h"

enum { RANGE_LIMIT = 65536, MAPS_LIMIT_BYTES = 64 << 20, VDSO_LIMIT_BYTES = 64 << 10 };

struct range_list {
    struct module_range *ranges;
    size_t count, capacity;
};

void module_map_init(struct module_map *map, pid_t pid)
{
    *map = (struct module_map){.pid = pid};
    if (pid != 0)
        snprintf(map->root, sizeof(map->root), "/proc/%d/root", (int)pid);
}

static void free_module(struct module *module)
{
    symbol_table_release(&module->symbols);
    unwind_table_release(&module->unwind);
    elf_file_release(&module->file);
    free(module->path);
    free(module);
}

static void free_indexes(struct module_index *index)
{
    for (struct module_index *older; index != NULL; index = older) {
        older = index->older;
        free(index);
    }
}

void module_map_release(struct module_map *map)
{
    for (struct module *module = map->modules, *next; module != NULL; module = next) {
        next = module->next;
        free_module(module);
    }
    free_indexes(map->index);
    module_map_init(map, map->pid);
}

void module_map_free_unused(struct module_map *map)
{
    if (map->index == NULL)
        return;
    for (size_t i = 0; i < map->index->count; i++)
        map->index->ranges[i].module->index_number = map->index->number;
    for (struct module **place = &map->modules; *place != NULL;) {
        struct module *module = *place;
        if (module->index_number == map->index->number) {
            place = &module->next;
            continue;
        }
        *place = module->next;
        map->module_count--;
        free_module(module);
    }
    free_indexes(map->index->older);
    map->index->older = NULL;
}

/* All 64-bit processes of a kernel have the same vdso, so our own serves for every process. */
static bool open_vdso(struct module *module, const struct memory_mapping *mapping)
{
    unsigned long address = getauxval(AT_SYSINFO_EHDR);
    size_t size = mapping->end - mapping->start;
    if (address == 0 || size > VDSO_LIMIT_BYTES)
        return false;
    return elf_file_from_memory(&module->file, (const void *)address, size, NULL);
}

static bool open_module_file(const struct module_map *map, struct module *module,
                             const struct memory_mapping *mapping)
{
    char path[PATH_MAX + 64];
    if (text_equal(mapping->path, TEXT("[vdso]")))
        return open_vdso(module, mapping);
    if (!mapping->deleted) {
        snprintf(path, sizeof(path), "%s%s", map->root, module->path);
        if (elf_file_open(&module->file, path, NULL))
            return true;
    }
    /* Leads to the very file, also when it is deleted or in another container; needs CAP_SYS_ADMIN. */
    char who[16] = "self";
    if (map->pid != 0)
        snprintf(who, sizeof(who), "%d", (int)map->pid);
    snprintf(path, sizeof(path), "/proc/%s/map_files/%lx-%lx", who, (unsigned long)mapping->start,
             (unsigned long)mapping->end);
    return elf_file_open(&module->file, path, NULL);
}

static struct module *new_module(struct module_map *map, const struct memory_mapping *mapping)
{
    if (map->module_count == MODULE_LIMIT)
        return NULL;
    struct module *module = calloc(1, sizeof(*module));
    if (module == NULL)
        return NULL;
    module->path = strndup(mapping->path.data, mapping->path.size);
    if (module->path == NULL) {
        free(module);
        return NULL;
    }
    char *slash = strrchr(module->path, '/');
    module->name = slash == NULL ? module->path : slash + 1;
    module->start = mapping->start;
    module->device = mapping->device;
    module->inode = mapping->inode;
    symbol_table_init(&module->symbols);
    unwind_table_init(&module->unwind);
    module->readable = open_module_file(map, module, mapping);
    if (module->readable && !elf_file_bias(&module->file, mapping->start, mapping->offset, &module->bias)) {
        elf_file_release(&module->file);
        module->readable = false;
    }
    module->next = map->modules;
    map->modules = module;
    map->module_count++;
    return module;
}

static bool is_part_of(const struct module *module, const struct memory_mapping *mapping)
{
    uint64_t bias;
    if (module->inode != mapping->inode || module->device != mapping->device ||
        !text_equal(text_of(module->path), mapping->path))
        return false;
    if (!module->readable)
        return module->start == mapping->start;
    return elf_file_bias(&module->file, mapping->start, mapping->offset, &bias) && bias == module->bias;
}

static struct module *find_or_add(struct module_map *map, const struct memory_mapping *mapping)
{
    for (struct module *module = map->modules; module != NULL; module = module->next)
        if (is_part_of(module, mapping))
            return module;
    return new_module(map, mapping);
}

static bool is_code_of_a_file(const struct memory_mapping *mapping)
{
    if (!mapping->executable || mapping->path.size == 0)
        return false;
    return mapping->path.data[0] == '/' || text_equal(mapping->path, TEXT("[vdso]"));
}

static bool collect(struct module_map *map, struct text_view maps, struct range_list *list,
                    struct error *error)
{
    struct memory_mapping mapping;
    while (memory_map_next(&maps, &mapping)) {
        if (!is_code_of_a_file(&mapping))
            continue;
        struct module *module = find_or_add(map, &mapping);
        if (module == NULL || !array_reserve(&list->ranges, &list->capacity, list->count + 1, RANGE_LIMIT))
            return error_set(error, ERROR_MEMORY, "more than %d files with code", MODULE_LIMIT);
        list->ranges[list->count++] =
            (struct module_range){.start = mapping.start, .end = mapping.end, .module = module};
    }
    return true;
}

static bool same_ranges(const struct module_index *index, const struct range_list *list)
{
    return index != NULL && index->count == list->count &&
           memcmp(index->ranges, list->ranges, list->count * sizeof(list->ranges[0])) == 0;
}

static bool publish(struct module_map *map, const struct range_list *list, struct error *error)
{
    if (list->count == 0)
        return error_set(error, ERROR_SYSTEM, "the process has no code mapped");
    if (same_ranges(map->index, list))
        return true;
    struct module_index *index = malloc(sizeof(*index) + list->count * sizeof(index->ranges[0]));
    if (index == NULL)
        return error_set_memory(error);
    index->older = map->index;
    index->number = ++map->last_number;
    index->count = list->count;
    memcpy(index->ranges, list->ranges, list->count * sizeof(index->ranges[0]));
    __atomic_store_n(&map->index, index, __ATOMIC_SEQ_CST);
    return true;
}

bool module_map_refresh(struct module_map *map, struct error *error)
{
    struct text_builder maps;
    struct range_list list = {.ranges = NULL};
    text_builder_init(&maps, MAPS_LIMIT_BYTES);
    bool good = memory_map_read(&maps, map->pid, error) &&
                collect(map, text_builder_view(&maps), &list, error) && publish(map, &list, error);
    free(list.ranges);
    text_builder_release(&maps);
    return good;
}

bool module_load_symbols(struct module_map *map, struct module *module, struct error *error)
{
    if (module->has_symbols || !module->readable)
        return true;
    const char *path = module->path[0] == '/' ? module->path : NULL;
    if (!symbol_table_load(&module->symbols, &module->file, path, map->root, error)) {
        symbol_table_release(&module->symbols);
        return error_prefix(error, "%s", module->path);
    }
    __atomic_store_n(&module->has_symbols, true, __ATOMIC_RELEASE);
    return true;
}

bool module_load_unwind(struct module *module, struct error *error)
{
    if (module->has_unwind || !module->readable)
        return true;
    const struct elf_file *debug_file = module->has_symbols && module->symbols.source == SYMBOLS_DEBUG_FILE
                                            ? &module->symbols.debug_file
                                            : NULL;
    if (!unwind_table_load_both(&module->unwind, &module->file, debug_file, error)) {
        unwind_table_release(&module->unwind);
        return error_prefix(error, "%s", module->path);
    }
    __atomic_store_n(&module->has_unwind, true, __ATOMIC_RELEASE);
    return true;
}

bool module_map_load_unwind(struct module_map *map, struct error *error)
{
    for (size_t i = 0; map->index != NULL && i < map->index->count; i++)
        if (!module_load_unwind(map->index->ranges[i].module, error))
            return false;
    return true;
}

bool module_map_load_symbols(struct module_map *map, struct error *error)
{
    for (size_t i = 0; map->index != NULL && i < map->index->count; i++)
        if (!module_load_symbols(map, map->index->ranges[i].module, error))
            return false;
    return true;
}
