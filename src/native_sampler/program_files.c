#include "native_sampler/program_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "symbols/vdso.h"

#define MOST_TRIES 4
#define OVERLAY_FILE_SYSTEM 0x794c7630
#define BTRFS_FILE_SYSTEM 0x9123683e
#define DELETED TEXT(" (deleted)")

void program_files_init(struct program_files *files)
{
    *files = (struct program_files){.all = NULL};
    id_map_init(&files->numbers);
}

static void free_file(struct program_file *file)
{
    symbol_table_release(&file->symbols);
    unwind_table_release(&file->unwind);
    elf_file_release(&file->file);
    free(file->path);
    free(file);
}

void program_files_release(struct program_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free_file(files->all[i]);
    free(files->all);
    id_map_release(&files->numbers);
    *files = (struct program_files){.all = NULL};
}

static struct program_file *new_file(const struct perf_mapping *mapping)
{
    struct program_file *file = calloc(1, sizeof(*file));
    char *copy = strndup(mapping->path.data, mapping->path.size);
    if (file == NULL || copy == NULL) {
        free(file);
        free(copy);
        return NULL;
    }
    char *slash = strrchr(copy, '/');
    file->path = copy;
    file->name = slash == NULL ? copy : slash + 1;
    file->was_deleted = mapping->deleted;
    file->device = mapping->device;
    file->inode = mapping->inode;
    symbol_table_init(&file->symbols);
    unwind_table_init(&file->unwind);
    return file;
}

uint32_t program_files_add(struct program_files *files, const struct perf_mapping *mapping)
{
    uint64_t key = hash_mix(hash_bytes(mapping->path.data, mapping->path.size) ^ mapping->inode,
                            HASH_SEED ^ mapping->device);
    uint32_t *place = id_map_place(&files->numbers, key);
    if (place == NULL)
        return NO_FILE;
    if (*place != NO_ID) {
        if (*place < files->count)
            files->all[*place]->was_deleted |= mapping->deleted;
        return *place;
    }
    struct program_file *file = NULL;
    // NOLINTNEXTLINE(bugprone-sizeof-expression)
    if (array_reserve(&files->all, &files->capacity, files->count + 1, PROGRAM_FILE_LIMIT))
        file = new_file(mapping);
    if (file == NULL) {
        *place = NO_FILE - 1; /* an index that is not there */
        return NO_FILE;
    }
    *place = (uint32_t)files->count;
    files->all[files->count++] = file;
    return *place;
}

/* Overlay file systems show another inode than that of the mapped file, and subvolumes of btrfs another device. */
static bool is_same_file(const struct program_file *file, const char *path)
{
    struct stat found;
    struct statfs system;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || statfs(path, &system) != 0)
        return false;
    uint64_t device = (uint64_t)major(found.st_dev) << 32 | minor(found.st_dev);
    return system.f_type == OVERLAY_FILE_SYSTEM ||
           (found.st_ino == file->inode && (device == file->device || system.f_type == BTRFS_FILE_SYSTEM));
}

static bool open_path(struct program_file *file, const char *path)
{
    return is_same_file(file, path) && elf_file_copy_code(&file->file, path, NULL);
}

/* The program itself, also when it is deleted. */
static bool open_program(struct program_file *file, pid_t pid)
{
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    ssize_t size = readlink(path, target, sizeof(target));
    struct text_view program = {target, size < 0 ? 0 : (size_t)size};
    if (text_ends_with(program, DELETED))
        program = text_part(program, 0, program.size - DELETED.size);
    return text_equal(program, text_of(file->path)) && open_path(file, path);
}

static bool open_anywhere(struct program_file *file, const struct file_place *place)
{
    char path[PATH_MAX + 64];
    if (strcmp(file->path, "[vdso]") == 0)
        return vdso_open(&file->file);
    if (file->path[0] != '/')
        return false;
    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)place->pid, file->path);
    if (!file->was_deleted && open_path(file, path))
        return true;
    /* Leads to the very file, also when it is deleted; needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)place->pid,
             (unsigned long long)place->start, (unsigned long long)place->end);
    if (open_path(file, path) || open_program(file, place->pid))
        return true;
    return !file->was_deleted && open_path(file, file->path);
}

struct program_file *program_files_open(struct program_files *files, uint32_t number,
                                        const struct file_place *place)
{
    if (number >= files->count)
        return NULL;
    struct program_file *file = files->all[number];
    if (file->state == FILE_UNTRIED) {
        if (open_anywhere(file, place))
            file->state = FILE_OPEN;
        else if (++file->tries == MOST_TRIES)
            file->state = FILE_UNREADABLE;
    }
    return file->state == FILE_OPEN ? file : NULL;
}

static void load_symbols(struct program_file *file, pid_t pid)
{
    char root[32];
    if (file->has_symbols)
        return;
    file->has_symbols = true;
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    if (symbol_table_load(&file->symbols, &file->file, file->path[0] == '/' ? file->path : NULL, root, NULL))
        return;
    symbol_table_release(&file->symbols);
    symbol_table_init(&file->symbols);
}

/* Symbols first: a separate file of symbols may also have rules. */
static void load_unwind(struct program_file *file, pid_t pid)
{
    if (file->has_unwind)
        return;
    file->has_unwind = true;
    load_symbols(file, pid);
    const struct elf_file *debug_file =
        file->symbols.source == SYMBOLS_DEBUG_FILE ? &file->symbols.debug_file : NULL;
    if (unwind_table_load_both(&file->unwind, &file->file, debug_file, NULL))
        return;
    unwind_table_release(&file->unwind);
    unwind_table_init(&file->unwind);
}

const struct unwind_rule *program_file_rule(struct program_file *file, pid_t pid, uint64_t address)
{
    load_unwind(file, pid);
    return unwind_table_find(&file->unwind, address);
}

bool program_file_symbol(struct program_file *file, pid_t pid, uint64_t address, struct symbol_match *match)
{
    load_symbols(file, pid);
    return symbol_table_find(&file->symbols, address, match);
}
