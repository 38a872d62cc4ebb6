#include "symbols/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUILD_ID_LIMIT_BYTES = 64 };

/* The checksum of .gnu_debuglink: CRC-32 as in zlib. */
static uint32_t checksum_of(const char *data, size_t size)
{
    uint32_t table[256], checksum = 0xffffffffU;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320U : 0);
    }
    for (size_t i = 0; i < size; i++)
        checksum = table[(checksum ^ (unsigned char)data[i]) & 0xff] ^ (checksum >> 8);
    return ~checksum;
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
    if (!elf_file_open(debug_file, path, NULL))
        return false;
    bool fits = same_build_id(debug_file, file, &known);
    if (!known && checksum != NULL)
        fits = checksum_of(debug_file->data, debug_file->size) == *checksum;
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
