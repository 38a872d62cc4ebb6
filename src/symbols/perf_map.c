#include "symbols/perf_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/key_sort.h"
#include "base/lower_bound.h"
#include "symbols/regular_file.h"

#define MOST_ENTRIES ((size_t)16 << 20)

void perf_map_init(struct perf_map *map)
{
    *map = (struct perf_map){.text = NULL};
}

void perf_map_release(struct perf_map *map)
{
    free(map->text);
    free(map->entries);
    perf_map_init(map);
}

static bool take_number(struct text_view *line, uint64_t *number)
{
    struct text_view word = text_cut(line, ' ');
    if (text_starts_with(word, TEXT("0x")))
        word = text_from(word, 2);
    return text_to_hex64(word, number);
}

/* Lines in another form are skipped: the last one may be half written. */
static bool add_line(struct perf_map *map, struct text_view line)
{
    uint64_t start, size;
    if (!take_number(&line, &start) || !take_number(&line, &size) || line.size == 0)
        return true;
    if (size == 0 || size > UINT32_MAX || start > UINT64_MAX - size)
        return true;
    if (!array_reserve(&map->entries, &map->capacity, map->count + 1, MOST_ENTRIES))
        return map->count == MOST_ENTRIES;
    map->entries[map->count++] = (struct perf_map_entry){
        .start = start, .size = (uint32_t)size, .name = (uint32_t)(line.data - map->text)};
    return true;
}

/* Takes ownership of the text. */
static bool parse_own(struct perf_map *map, char *text, size_t size)
{
    _Static_assert(sizeof(struct perf_map_entry) == KEY_SORT_ITEM_BYTES, "sorted by its start");
    _Static_assert(PERF_MAP_LIMIT_BYTES < UINT32_MAX, "names have 32-bit places");
    bool good = true;
    perf_map_release(map);
    map->text = text;
    map->text_size = size;
    for (struct text_view rest = {text, size}; good && rest.size > 0;)
        good = add_line(map, text_cut(&rest, '\n'));
    good = good && key_sort(map->entries, map->count);
    if (!good)
        perf_map_release(map);
    return good;
}

bool perf_map_parse(struct perf_map *map, struct text_view text)
{
    size_t size = text.size < PERF_MAP_LIMIT_BYTES ? text.size : PERF_MAP_LIMIT_BYTES;
    char *copy = malloc(size + 1);
    if (copy == NULL) {
        perf_map_release(map);
        return false;
    }
    if (size > 0)
        memcpy(copy, text.data, size);
    return parse_own(map, copy, size);
}

/* The innermost of the numbers that a process has in its namespaces. */
static pid_t inner_number(pid_t pid)
{
    char path[64], line[256];
    unsigned long number = (unsigned long)pid;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *stream = fopen(path, "re");
    while (stream != NULL && fgets(line, sizeof(line), stream) != NULL) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last != NULL) {
            number = strtoul(last, NULL, 10);
            break;
        }
    }
    if (stream != NULL)
        fclose(stream);
    return (pid_t)number;
}

static size_t read_all(int descriptor, char *text, size_t size)
{
    size_t done = 0;
    for (ssize_t got; done < size && (got = read(descriptor, text + done, size - done)) > 0;)
        done += (size_t)got;
    return done;
}

static bool is_same_version(const struct perf_map_version *left, const struct perf_map_version *right)
{
    return left->device == right->device && left->inode == right->inode && left->size == right->size &&
           left->modified_s == right->modified_s && left->modified_ns == right->modified_ns;
}

static bool read_changed(struct perf_map *map, int descriptor, const struct stat *status)
{
    struct perf_map_version version = {
        .device = status->st_dev,
        .inode = status->st_ino,
        .size = (uint64_t)status->st_size,
        .modified_s = status->st_mtim.tv_sec,
        .modified_ns = status->st_mtim.tv_nsec,
    };
    if (is_same_version(&map->version, &version))
        return false;
    size_t size = version.size > PERF_MAP_LIMIT_BYTES ? PERF_MAP_LIMIT_BYTES : version.size;
    char *text = malloc(size + 1);
    if (text == NULL || !parse_own(map, text, read_all(descriptor, text, size)))
        return false;
    map->version = version;
    return true;
}

/* A file of root's or the user's, and no link, device or pipe. */
static bool read_file_of(struct perf_map *map, const char *path, uid_t user)
{
    struct stat status;
    int descriptor = regular_file_open(path, O_NOFOLLOW, NULL);
    if (descriptor < 0)
        return false;
    bool is_trusted = fstat(descriptor, &status) == 0 && (status.st_uid == 0 || status.st_uid == user);
    bool good = is_trusted && read_changed(map, descriptor, &status);
    close(descriptor);
    return good;
}

bool perf_map_read(struct perf_map *map, pid_t pid)
{
    char path[96];
    struct stat process;
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (stat(path, &process) != 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)pid, (int)inner_number(pid));
    return read_file_of(map, path, process.st_uid);
}

bool perf_map_read_recorded(struct perf_map *map, uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
    return read_file_of(map, path, geteuid());
}

bool perf_map_find(const struct perf_map *map, uint64_t address, struct text_view *name)
{
    const struct perf_map_entry *best = NULL;
    /* Behind the last entry that starts at or before the address. */
    size_t end =
        address == UINT64_MAX ? map->count : LOWER_BOUND(map->entries, map->count, start, address + 1);
    for (size_t back = 1; back <= PERF_MAP_LOOK_BACK && back <= end; back++) {
        const struct perf_map_entry *entry = &map->entries[end - back];
        if (address - entry->start < entry->size && (best == NULL || entry->name > best->name))
            best = entry;
    }
    if (best == NULL)
        return false;
    struct text_view rest = {map->text + best->name, map->text_size - best->name};
    *name = text_trim(text_cut(&rest, '\n'));
    return name->size > 0;
}
