#include "collector/store/rollup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last but one is the version of the file, the last one that of its sections. */
#define MAGIC_START "SPKSUM1"
#define MAGIC_END ('0' + ROLLUP_SECTION_VERSION)
#define NAME_SUFFIX ".rollup"
#define DIRECTORY_BYTES ((size_t)256 << 20)

/* Little endian, as are the machines. */
struct rollup_entry {
    uint64_t offset, bytes, unpacked_bytes;
    uint64_t recordings, broken;
    uint32_t crc; /* of the section */
    uint32_t is_union;
    uint32_t meta_bytes, drops_bytes; /* which follow */
};

/* The last bytes of the file. */
struct rollup_end {
    char magic[8];
    char group[RECORDING_ID_BYTES + 4];
    uint32_t level;
    uint64_t first, last;
    int64_t first_ms, last_ms;
    uint64_t recordings, fingerprint;
    uint64_t directory; /* its offset; it reaches to the end */
    uint32_t section_count;
    uint32_t directory_crc;
    uint32_t unused;
    uint32_t crc; /* of what is before it here */
};

static uint32_t crc_of(const void *bytes, size_t size)
{
    return libdeflate_crc32(0, bytes, size);
}

void rollup_file_name(char name[ROLLUP_NAME_BYTES], uint64_t number)
{
    snprintf(name, ROLLUP_NAME_BYTES, "%010llu" NAME_SUFFIX, (unsigned long long)number);
}

bool rollup_file_number(const char *name, uint64_t *number)
{
    char expected[ROLLUP_NAME_BYTES];
    struct text_view digits = text_of(name);
    if (!text_ends_with(digits, TEXT(NAME_SUFFIX)))
        return false;
    digits = text_part(digits, 0, digits.size - strlen(NAME_SUFFIX));
    if (!text_to_u64(digits, number) || *number == 0 || *number > INT64_MAX)
        return false;
    rollup_file_name(expected, *number);
    return strcmp(name, expected) == 0;
}

/* ---- reading ---- */

static bool damaged(const struct rollup_file *file, struct error *error)
{
    return error_set(error, ERROR_BAD_INPUT, "roll-up %llu is damaged",
                     (unsigned long long)file->rollup.number);
}

static bool read_at(const struct rollup_file *file, uint64_t offset, size_t size, struct text_builder *to,
                    struct error *error)
{
    char *room = text_builder_room(to, size == 0 ? 1 : size);
    if (room == NULL)
        return error_set_memory(error);
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file->descriptor, room + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_system(error, "cannot read roll-up %llu",
                                    (unsigned long long)file->rollup.number);
        if (got == 0)
            return damaged(file, error);
        done += (size_t)got;
    }
    text_builder_took(to, size);
    return true;
}

static bool end_is_valid(const struct rollup_end *end, uint64_t size)
{
    return memcmp(end->magic, MAGIC_START, sizeof(end->magic) - 1) == 0 &&
           end->magic[sizeof(end->magic) - 1] == MAGIC_END &&
           end->crc == crc_of(end, offsetof(struct rollup_end, crc)) &&
           memchr(end->group, '\0', RECORDING_ID_BYTES + 1) != NULL &&
           recording_id_is_valid(text_of(end->group)) && end->level < ROLLUP_LEVELS && end->first > 0 &&
           end->first <= end->last && end->last <= INT64_MAX && end->directory <= size &&
           size - end->directory <= DIRECTORY_BYTES && end->section_count <= ROLLUP_SECTION_LIMIT;
}

static bool read_end(struct rollup_file *file, struct rollup_end *end, struct error *error)
{
    struct stat status;
    struct text_builder bytes;
    if (fstat(file->descriptor, &status) != 0)
        return error_set_system(error, "cannot read roll-up %llu", (unsigned long long)file->rollup.number);
    uint64_t size = (uint64_t)status.st_size;
    if (!S_ISREG(status.st_mode) || size < sizeof(*end))
        return damaged(file, error);
    text_builder_init(&bytes, sizeof(*end) + 1);
    bool good = read_at(file, size - sizeof(*end), sizeof(*end), &bytes, error);
    if (good) {
        memcpy(end, bytes.data, sizeof(*end));
        good = end_is_valid(end, size - sizeof(*end)) || damaged(file, error);
    }
    text_builder_release(&bytes);
    if (!good)
        return false;
    struct stored_rollup *rollup = &file->rollup;
    memcpy(rollup->group, end->group, sizeof(rollup->group)); /* has its zero byte, as was checked */
    rollup->level = end->level;
    rollup->first = end->first;
    rollup->last = end->last;
    rollup->first_ms = end->first_ms;
    rollup->last_ms = end->last_ms;
    rollup->recordings = end->recordings;
    rollup->fingerprint = end->fingerprint;
    rollup->bytes = size;
    return true;
}

static bool read_entry(struct rollup_file *file, const struct rollup_end *end, struct text_view *rest)
{
    struct rollup_entry entry;
    if (rest->size < sizeof(entry))
        return false;
    memcpy(&entry, rest->data, sizeof(entry));
    *rest = text_from(*rest, sizeof(entry));
    if ((uint64_t)entry.meta_bytes + entry.drops_bytes > rest->size || entry.offset > end->directory ||
        entry.bytes > end->directory - entry.offset || entry.bytes > ROLLUP_SECTION_BYTES)
        return false;
    struct rollup_section *section = &file->sections[file->section_count++];
    *section = (struct rollup_section){.is_union = entry.is_union == 1,
                                       .drops = text_part(*rest, entry.meta_bytes, entry.drops_bytes),
                                       .recordings = entry.recordings,
                                       .broken = entry.broken,
                                       .offset = entry.offset,
                                       .bytes = entry.bytes,
                                       .unpacked_bytes = entry.unpacked_bytes,
                                       .crc = entry.crc};
    struct text_view meta = text_part(*rest, 0, entry.meta_bytes);
    *rest = text_from(*rest, (size_t)entry.meta_bytes + entry.drops_bytes);
    return section->is_union || recording_read_meta(&section->series, meta, NULL);
}

static bool read_directory(struct rollup_file *file, const struct rollup_end *end, struct error *error)
{
    size_t size = (size_t)(file->rollup.bytes - sizeof(*end) - end->directory);
    if (!read_at(file, end->directory, size, &file->directory, error))
        return false;
    struct text_view rest = text_builder_view(&file->directory);
    if (end->directory_crc != crc_of(rest.data, rest.size) ||
        end->section_count > rest.size / sizeof(struct rollup_entry))
        return damaged(file, error);
    file->sections = calloc((size_t)end->section_count + 1, sizeof(*file->sections));
    if (file->sections == NULL)
        return error_set_memory(error);
    for (uint32_t i = 0; i < end->section_count; i++)
        if (!read_entry(file, end, &rest))
            return damaged(file, error);
    return rest.size == 0 || damaged(file, error);
}

static bool open_end(struct rollup_file *file, int folder, uint64_t number, struct rollup_end *end,
                     struct error *error)
{
    char name[ROLLUP_NAME_BYTES];
    rollup_file_name(name, number);
    *file = (struct rollup_file){.rollup = {.number = number}};
    text_builder_init(&file->directory, DIRECTORY_BYTES + 1);
    file->descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file->descriptor < 0)
        return error_set_system(error, "cannot open roll-up %s", name);
    if (read_end(file, end, error))
        return true;
    rollup_file_close(file);
    return false;
}

bool rollup_file_open_end(struct rollup_file *file, int folder, uint64_t number, struct error *error)
{
    struct rollup_end end;
    return open_end(file, folder, number, &end, error);
}

bool rollup_file_open(struct rollup_file *file, int folder, uint64_t number, struct error *error)
{
    struct rollup_end end;
    if (!open_end(file, folder, number, &end, error))
        return false;
    if (read_directory(file, &end, error))
        return true;
    rollup_file_close(file);
    return false;
}

bool rollup_file_check(const struct rollup_file *file, const char *group, uint64_t first, uint64_t last,
                       struct error *error)
{
    const struct stored_rollup *rollup = &file->rollup;
    return (strcmp(rollup->group, group) == 0 && rollup->first == first && rollup->last == last) ||
           error_set(error, ERROR_BAD_INPUT, "roll-up %llu is of other recordings",
                     (unsigned long long)rollup->number);
}

void rollup_file_close(struct rollup_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
    free(file->sections);
    file->sections = NULL;
    text_builder_release(&file->directory);
}

bool rollup_file_read(const struct rollup_file *file, const struct rollup_section *section,
                      struct text_builder *to, struct error *error)
{
    size_t before = to->size;
    if (!read_at(file, section->offset, (size_t)section->bytes, to, error))
        return false;
    return crc_of(to->data + before, (size_t)section->bytes) == section->crc || damaged(file, error);
}

/* ---- writing ---- */

void rollup_writer_begin(struct rollup_writer *writer, struct output *output)
{
    *writer = (struct rollup_writer){.output = output};
    text_builder_init(&writer->directory, DIRECTORY_BYTES);
}

void rollup_writer_release(struct rollup_writer *writer)
{
    text_builder_release(&writer->directory);
}

bool rollup_writer_add(struct rollup_writer *writer, struct rollup_section *section, struct text_view bytes,
                       struct error *error)
{
    struct text_builder meta;
    if (bytes.size > ROLLUP_SECTION_BYTES || writer->section_count == ROLLUP_SECTION_LIMIT)
        return error_set(error, ERROR_MEMORY, "the roll-up is too large");
    text_builder_init(&meta, RECORDING_META_BYTES);
    if (!section->is_union)
        recording_write_meta(&section->series, &meta);
    section->offset = output_position(writer->output);
    section->bytes = bytes.size;
    section->crc = crc_of(bytes.data, bytes.size);
    const struct rollup_entry entry = {.offset = section->offset,
                                       .bytes = section->bytes,
                                       .unpacked_bytes = section->unpacked_bytes,
                                       .recordings = section->recordings,
                                       .broken = section->broken,
                                       .crc = section->crc,
                                       .is_union = section->is_union,
                                       .meta_bytes = (uint32_t)meta.size,
                                       .drops_bytes = (uint32_t)section->drops.size};
    text_builder_add(&writer->directory, (struct text_view){(const char *)&entry, sizeof(entry)});
    text_builder_add(&writer->directory, text_builder_view(&meta));
    text_builder_add(&writer->directory, section->drops);
    bool good = !meta.failed && !writer->directory.failed;
    text_builder_release(&meta);
    output_text(writer->output, bytes);
    writer->section_count++;
    return good || error_set_memory(error);
}

bool rollup_writer_end(struct rollup_writer *writer, const struct stored_rollup *rollup, struct error *error)
{
    struct text_view directory = text_builder_view(&writer->directory);
    struct rollup_end end = {.magic = MAGIC_START,
                             .level = rollup->level,
                             .first = rollup->first,
                             .last = rollup->last,
                             .first_ms = rollup->first_ms,
                             .last_ms = rollup->last_ms,
                             .recordings = rollup->recordings,
                             .fingerprint = rollup->fingerprint,
                             .directory = output_position(writer->output),
                             .section_count = writer->section_count,
                             .directory_crc = crc_of(directory.data, directory.size)};
    end.magic[sizeof(end.magic) - 1] = MAGIC_END;
    snprintf(end.group, sizeof(end.group), "%s", rollup->group);
    end.crc = crc_of(&end, offsetof(struct rollup_end, crc));
    output_text(writer->output, directory);
    output_write(writer->output, &end, sizeof(end));
    return !writer->directory.failed || error_set_memory(error);
}
