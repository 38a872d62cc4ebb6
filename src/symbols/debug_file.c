#include "symbols/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/regular_file.h"

#define CHECKSUM_LIMIT_BYTES (UINT64_C(1) << 30) /* of the file of a copy; a multiple of the pieces */

enum { BUILD_ID_LIMIT_BYTES = 64 };

/* The checksum of .gnu_debuglink: CRC-32 as in zlib. */
struct checksum {
    uint32_t table[256], value;
};

static void checksum_begin(struct checksum *checksum)
{
    checksum->value = 0xffffffffU;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t entry = i;
        for (int bit = 0; bit < 8; bit++)
            entry = (entry >> 1) ^ (entry & 1 ? 0xedb88320U : 0);
        checksum->table[i] = entry;
    }
}

static void checksum_add(struct checksum *checksum, const char *data, size_t size)
{
    uint32_t value = checksum->value;
    for (size_t i = 0; i < size; i++)
        value = checksum->table[(value ^ (unsigned char)data[i]) & 0xff] ^ (value >> 8);
    checksum->value = value;
}

/* A copy has only parts of its file. */
static bool add_file(struct checksum *checksum, const char *path)
{
    char piece[16384];
    uint64_t left = CHECKSUM_LIMIT_BYTES;
    ssize_t got = 0;
    int descriptor = regular_file_open(path, 0, NULL);
    if (descriptor < 0)
        return false;
    for (; left > 0 && (got = read(descriptor, piece, sizeof(piece))) > 0; left -= sizeof(piece))
        checksum_add(checksum, piece, (size_t)got);
    close(descriptor);
    return got == 0;
}

static bool has_checksum(const struct elf_file *file, const char *path, uint32_t expected)
{
    struct checksum checksum;
    checksum_begin(&checksum);
    if (file->copied_bytes == 0)
        checksum_add(&checksum, file->data, file->size);
    else if (!add_file(&checksum, path))
        return false;
    return ~checksum.value == expected;
}

static bool same_build_id(const struct elf_file *left, const struct elf_file *right, bool *known)
{
    struct text_view left_id, right_id;
    *known = elf_file_build_id(left, &left_id) && elf_file_build_id(right, &right_id);
    return *known && text_equal(left_id, right_id);
}

static bool open_if_fitting(struct elf_file *debug_file, const struct elf_file *file, const char *path,
                            const uint32_t *checksum)
{
    bool known;
    struct elf_section section;
    bool is_open = file->copied_bytes > 0 ? elf_file_copy_code(debug_file, path, NULL)
                                          : elf_file_open(debug_file, path, NULL);
    if (!is_open)
        return false;
    bool fits = same_build_id(debug_file, file, &known);
    if (!known && checksum != NULL)
        fits = has_checksum(debug_file, path, *checksum);
    if (fits && elf_file_find_section(debug_file, ".symtab", &section))
        return true;
    elf_file_release(debug_file);
    return false;
}

static bool format_build_id(struct text_view build_id, char text[2 * BUILD_ID_LIMIT_BYTES + 1])
{
    if (build_id.size < 2 || build_id.size > BUILD_ID_LIMIT_BYTES)
        return false;
    for (size_t i = 0; i < build_id.size; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)build_id.data[i]);
    return true;
}

static bool open_debuginfod(struct elf_file *debug_file, const struct elf_file *file, const char *build_id)
{
    char path[PATH_MAX];
    const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME");
    if (cache != NULL)
        snprintf(path, sizeof(path), "%s/%s/debuginfo", cache, build_id);
    else
        snprintf(path, sizeof(path), "%s/.cache/debuginfod_client/%s/debuginfo", home == NULL ? "" : home,
                 build_id);
    return open_if_fitting(debug_file, file, path, NULL);
}

static bool open_by_build_id(struct elf_file *debug_file, const struct elf_file *file, const char *root)
{
    struct text_view build_id;
    char text[2 * BUILD_ID_LIMIT_BYTES + 1], path[PATH_MAX];
    if (!elf_file_build_id(file, &build_id) || !format_build_id(build_id, text))
        return false;
    snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, text, text + 2);
    if (open_if_fitting(debug_file, file, path, NULL))
        return true;
    if (root[0] != '\0') { /* a container rarely has them, the host may */
        snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", text, text + 2);
        if (open_if_fitting(debug_file, file, path, NULL))
            return true;
    }
    return open_debuginfod(debug_file, file, text);
}

static bool open_by_link(struct elf_file *debug_file, const struct elf_file *file, const char *path,
                         const char *root)
{
    struct text_view name;
    uint32_t checksum;
    char candidate[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || !elf_file_debug_link(file, &name, &checksum))
        return false;
    int folder = (int)(slash - path);
    const char *const formats[] = {"", "/.debug"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(candidate, sizeof(candidate), "%s%.*s%s/%.*s", root, folder, path, formats[i],
                 TEXT_FORMAT(name));
        if (open_if_fitting(debug_file, file, candidate, &checksum))
            return true;
    }
    snprintf(candidate, sizeof(candidate), "%s/usr/lib/debug%.*s/%.*s", root, folder, path,
             TEXT_FORMAT(name));
    return open_if_fitting(debug_file, file, candidate, &checksum);
}

bool debug_file_open(struct elf_file *debug_file, const struct elf_file *file, const char *path,
                     const char *root)
{
    return open_by_build_id(debug_file, file, root) || open_by_link(debug_file, file, path, root);
}
