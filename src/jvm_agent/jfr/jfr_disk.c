#include "jvm_agent/jfr/jfr_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/output.h"
#include "base/text_builder.h"
#include "jfr/jfr_put.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"

#define SECOND_NS UINT64_C(1000000000)
#define PADDING_SIZE_BYTES 5u /* of the size at its start, which must not cross a page */
#define PADDING_BYTES 11u     /* minimum: size, type, time, duration, distance, flags, no pools */
#define FILLER_BYTES 16u
#define TAIL_BYTES (FILLER_BYTES + PADDING_BYTES)
#define GROWTH_BYTES (16 * JFR_PAGE_BYTES)
#define PAGES_AT_ONCE 64

static uint64_t page_end(uint64_t offset)
{
    return (offset + JFR_PAGE_BYTES - 1) / JFR_PAGE_BYTES * JFR_PAGE_BYTES;
}

static bool write_at(struct jfr_disk *disk, const char *data, size_t size, uint64_t offset,
                     struct error *error)
{
    while (size > 0) {
        ssize_t written = pwrite(disk->descriptor, data, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0)
            return error_set_system(error, "cannot write %s", disk->path);
        data += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return true;
}

/* Version 2.1, state 0 (finished); the last byte: numbers are compressed. */
static void put_header(struct text_builder *bytes, const struct jfr_chunk_head *head, uint64_t chunk_bytes)
{
    text_builder_add(bytes, TEXT("FLR\0"));
    jfr_put_big_endian(bytes, 2, 2);
    jfr_put_big_endian(bytes, 1, 2);
    jfr_put_big_endian(bytes, chunk_bytes, 8);
    jfr_put_big_endian(bytes, head->pools_offset, 8);
    jfr_put_big_endian(bytes, JFR_HEADER_BYTES, 8);
    jfr_put_big_endian(bytes, head->begin_wall_ns, 8);
    jfr_put_big_endian(bytes, head->duration_ns, 8);
    jfr_put_big_endian(bytes, head->begin_ticks, 8);
    jfr_put_big_endian(bytes, SECOND_NS / jfr_shape.tick_ns, 8);
    jfr_put_big_endian(bytes, 1, 4);
}

/* Chunks start at a page boundary, so that their headers are within one page. */
static bool write_header(struct jfr_disk *disk, uint64_t chunk_bytes, struct error *error)
{
    char buffer[JFR_HEADER_BYTES + 8];
    struct text_builder header = {buffer, 0, sizeof(buffer), sizeof(buffer), false};
    put_header(&header, &disk->head, chunk_bytes);
    return write_at(disk, buffer, JFR_HEADER_BYTES, disk->chunk_begin, error);
}

static void put_padding_size(char at[PADDING_SIZE_BYTES], uint64_t size)
{
    for (uint32_t i = 0; i < PADDING_SIZE_BYTES - 1; i++)
        at[i] = (char)((size >> (7 * i) & 0x7f) | 0x80);
    at[PADDING_SIZE_BYTES - 1] = (char)(size >> (7 * (PADDING_SIZE_BYTES - 1)) & 0x7f);
}

static void put_padding(struct text_builder *bytes, uint64_t size)
{
    char padding[PADDING_BYTES] = {0};
    put_padding_size(padding, size);
    padding[PADDING_SIZE_BYTES] = JFR_POOLS_EVENT;
    text_builder_add(bytes, (struct text_view){padding, sizeof(padding)});
}

static bool write_padding_size(struct jfr_disk *disk, uint64_t size, struct error *error)
{
    char bytes[PADDING_SIZE_BYTES];
    put_padding_size(bytes, size);
    return write_at(disk, bytes, sizeof(bytes), disk->padding_begin, error);
}

/* The first valid start of padding at or after the offset. */
static uint64_t padding_place(uint64_t offset)
{
    return offset % JFR_PAGE_BYTES > JFR_PAGE_BYTES - PADDING_SIZE_BYTES ? offset + FILLER_BYTES : offset;
}

/* Writes the padding from `offset` to the end of the file. */
static bool write_padding(struct jfr_disk *disk, uint64_t offset, uint64_t end, struct error *error)
{
    char buffer[TAIL_BYTES] = {0};
    struct text_builder tail = {buffer, 0, sizeof(buffer), sizeof(buffer), false};
    uint64_t begin = padding_place(offset);
    if (begin > offset) {
        put_padding(&tail, FILLER_BYTES);
        tail.size = FILLER_BYTES;
    }
    put_padding(&tail, end - begin);
    return write_at(disk, buffer, tail.size, offset, error);
}

/* Appends a chunk without events. The rest is padding, of which only the start is written. */
static bool put_empty_chunk(struct text_builder *bytes, const struct jfr_chunk_head *like, uint64_t size,
                            struct error *error)
{
    static const bool no_events[JFR_TYPE_END];
    struct text_builder metadata;
    struct jfr_chunk_head head = *like;
    text_builder_init(&metadata, JFR_PAGE_BYTES);
    bool written = jfr_metadata_write(&metadata, head.begin_ticks, no_events, error);
    head.pools_offset = JFR_HEADER_BYTES + metadata.size;
    head.duration_ns = 0;
    put_header(bytes, &head, size);
    text_builder_add(bytes, text_builder_view(&metadata));
    put_padding(bytes, PADDING_BYTES);
    uint64_t used = head.pools_offset + PADDING_BYTES;
    if (size > used && size - used >= PADDING_BYTES)
        put_padding(bytes, size - used);
    else if (size != used)
        written = written && error_set(error, ERROR_UNSUPPORTED, "no space for an empty chunk");
    text_builder_release(&metadata);
    return written && (!bytes->failed || error_set_memory(error));
}

static bool make_empty_chunk(struct jfr_disk *disk, struct error *error)
{
    memset(disk->empty_chunk, 0, sizeof(disk->empty_chunk));
    struct text_builder page = {disk->empty_chunk, 0, sizeof(disk->empty_chunk), sizeof(disk->empty_chunk),
                                false};
    return put_empty_chunk(&page, &disk->head, JFR_PAGE_BYTES, error);
}

/* Beyond the process's file size limit a write would end within a page. */
static bool is_allowed(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

static bool add_pages(struct jfr_disk *disk, uint64_t end)
{
    struct iovec pages[PAGES_AT_ONCE];
    for (int i = 0; i < PAGES_AT_ONCE; i++)
        pages[i] = (struct iovec){disk->empty_chunk, JFR_PAGE_BYTES};
    if (!is_allowed(end)) {
        errno = EFBIG;
        return false;
    }
    for (uint64_t at = disk->size; at < end;) {
        uint64_t missing = (end - at) / JFR_PAGE_BYTES;
        int count = missing < PAGES_AT_ONCE ? (int)missing : PAGES_AT_ONCE;
        ssize_t written = pwritev(disk->descriptor, pages, count, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written > 0 && written % JFR_PAGE_BYTES != 0)
            errno = ENOSPC;
        if (written <= 0 || written % JFR_PAGE_BYTES != 0)
            return false;
        at += (uint64_t)written;
    }
    return true;
}

static bool try_to_grow(struct jfr_disk *disk, uint64_t end, struct error *error)
{
    struct error ignored = {0};
    if (!add_pages(disk, end)) {
        error_set_system(error, "cannot write %s", disk->path);
        if (write_padding_size(disk, disk->size - disk->padding_begin, &ignored) &&
            ftruncate(disk->descriptor, (off_t)disk->size) != 0)
            error_set_system(error, "cannot truncate %s", disk->path);
        return false;
    }
    if (!write_padding_size(disk, end - disk->padding_begin, error) ||
        !write_header(disk, end - disk->chunk_begin, error))
        return false;
    disk->size = end;
    return true;
}

/* Grows rarely and by more than needed: concurrent readers see a change of the file size. */
static bool grow(struct jfr_disk *disk, uint64_t end, struct error *error)
{
    struct error ignored = {0};
    if (end <= disk->size || try_to_grow(disk, page_end(end + GROWTH_BYTES), &ignored))
        return true;
    return try_to_grow(disk, page_end(end), error);
}

uint64_t jfr_disk_next_offset(const struct jfr_disk *disk)
{
    return disk->padding_begin + PADDING_BYTES - disk->chunk_begin;
}

bool jfr_disk_append(struct jfr_disk *disk, const struct jfr_chunk_head *head, struct text_view events,
                     struct error *error)
{
    uint64_t begin = disk->padding_begin + PADDING_BYTES, end = begin + events.size;
    if (events.size > 0 &&
        (!grow(disk, end + TAIL_BYTES, error) || !write_at(disk, events.data, events.size, begin, error) ||
         !write_padding(disk, end, disk->size, error)))
        return false;
    struct error ignored = {0};
    struct jfr_chunk_head before = disk->head;
    disk->head = *head;
    if (!write_header(disk, disk->size - disk->chunk_begin, error) ||
        (events.size > 0 && !write_padding_size(disk, PADDING_BYTES, error))) {
        disk->head = before; /* must not refer to constants in the padding */
        (void)write_header(disk, disk->size - disk->chunk_begin, &ignored);
        return false;
    }
    if (events.size > 0)
        disk->padding_begin = padding_place(end);
    return true;
}

/* Writes a chunk from `begin` to `end` that is not visible to readers yet. */
static bool write_chunk(struct jfr_disk *disk, const struct jfr_chunk_head *head, struct text_view events,
                        uint64_t begin, uint64_t end, struct error *error)
{
    struct jfr_disk chunk = {.descriptor = disk->descriptor, .chunk_begin = begin, .head = *head};
    memcpy(chunk.path, disk->path, sizeof(chunk.path));
    return write_at(disk, events.data, events.size, begin + JFR_HEADER_BYTES, error) &&
           write_padding(disk, begin + JFR_HEADER_BYTES + events.size, end, error) &&
           write_header(&chunk, end - begin, error);
}

bool jfr_disk_begin_chunk(struct jfr_disk *disk, const struct jfr_chunk_head *head, struct text_view events,
                          struct error *error)
{
    struct error ignored = {0};
    uint64_t begin = page_end(disk->padding_begin + PADDING_BYTES);
    uint64_t end = begin + JFR_HEADER_BYTES + events.size;
    if (!grow(disk, end + TAIL_BYTES, error) || !write_chunk(disk, head, events, begin, disk->size, error) ||
        !write_header(disk, begin - disk->chunk_begin, error))
        return false;
    /* Until then it extends beyond its chunk, which readers accept. */
    (void)write_padding_size(disk, begin - disk->padding_begin, &ignored);
    disk->chunk_begin = begin;
    disk->padding_begin = padding_place(end);
    disk->head = *head;
    return true;
}

/* For temporary files, whose names can be guessed: what somebody put there is removed, never written to. */
static int create(const char *path)
{
    unlink(path);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, output_file_mode());
}

static bool put_in_place(int descriptor, const char *from, const char *to)
{
    struct stat status;
    bool replaces = stat(to, &status) == 0;
    return (!replaces || fsync(descriptor) == 0) && rename(from, to) == 0;
}

static bool fill_new(struct jfr_disk *disk, const struct jfr_chunk_head *head, struct text_view events,
                     struct error *error)
{
    disk->size = page_end(JFR_HEADER_BYTES + events.size + TAIL_BYTES);
    disk->padding_begin = padding_place(JFR_HEADER_BYTES + events.size);
    disk->head = *head;
    if (!make_empty_chunk(disk, error) || !write_chunk(disk, head, events, 0, disk->size, error))
        return false;
    /* A device cannot be truncated. */
    if (!is_allowed(disk->size) || (ftruncate(disk->descriptor, (off_t)disk->size) != 0 && errno != EINVAL)) {
        errno = is_allowed(disk->size) ? errno : EFBIG;
        return error_set_system(error, "cannot write %s", disk->path);
    }
    return true;
}

/* Keeps a symbolic link, and replaces the file it points to. */
static void resolve(const char *path, char resolved[JFR_PATH_BYTES])
{
    char *real = realpath(path, NULL);
    snprintf(resolved, JFR_PATH_BYTES, "%s", real == NULL ? path : real);
    free(real);
}

bool jfr_disk_create(struct jfr_disk *disk, const char *path, const struct jfr_chunk_head *head,
                     struct text_view events, struct error *error)
{
    struct stat status;
    char temporary[JFR_PATH_BYTES + 32];
    bool is_special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    memset(disk, 0, sizeof(*disk));
    resolve(path, disk->path);
    snprintf(temporary, sizeof(temporary), "%s.part-%ld", disk->path, (long)getpid());
    disk->descriptor = is_special ? open(path, O_RDWR | O_CLOEXEC) : create(temporary);
    if (disk->descriptor < 0)
        return error_set_system(error, "cannot write %s", path);
    bool made = fill_new(disk, head, events, error);
    if (made && !is_special && !put_in_place(disk->descriptor, temporary, disk->path))
        made = error_set_system(error, "cannot write %s", path);
    if (made)
        return true;
    close(disk->descriptor);
    disk->descriptor = -1;
    if (!is_special)
        unlink(temporary);
    return false;
}

bool jfr_disk_probe(const char *path)
{
    static const char page[JFR_PAGE_BYTES];
    char temporary[JFR_PATH_BYTES + 32];
    snprintf(temporary, sizeof(temporary), "%s.part-%ld", path, (long)getpid());
    int descriptor = is_allowed(GROWTH_BYTES) ? create(temporary) : -1;
    if (descriptor < 0)
        return false;
    bool written = true;
    for (uint64_t at = 0; written && at < GROWTH_BYTES; at += sizeof(page))
        written = pwrite(descriptor, page, sizeof(page), (off_t)at) == (ssize_t)sizeof(page);
    close(descriptor);
    unlink(temporary);
    return written;
}

void jfr_disk_trim(struct jfr_disk *disk)
{
    struct error ignored = {0};
    struct text_builder empty;
    struct stat status;
    uint64_t end = disk->padding_begin + PADDING_BYTES;
    if (disk->descriptor < 0 || fstat(disk->descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        !grow(disk, end + JFR_PAGE_BYTES, &ignored))
        return;
    text_builder_init(&empty, (size_t)2 * JFR_PAGE_BYTES);
    if (put_empty_chunk(&empty, &disk->head, disk->size - end, &ignored) &&
        write_at(disk, empty.data, empty.size, end, &ignored) &&
        write_header(disk, end - disk->chunk_begin, &ignored) &&
        write_padding_size(disk, PADDING_BYTES, &ignored) && ftruncate(disk->descriptor, (off_t)end) == 0)
        disk->size = end;
    text_builder_release(&empty);
}

/* The content must be on disk before the name. */
void jfr_disk_replace(struct jfr_disk *disk, struct text_view bytes)
{
    struct error ignored = {0};
    struct jfr_disk other = {.descriptor = -1};
    snprintf(other.path, sizeof(other.path), "%.*s.packed", JFR_PATH_BYTES - 8, disk->path);
    other.descriptor = create(other.path);
    if (other.descriptor < 0)
        return;
    if (write_at(&other, bytes.data, bytes.size, 0, &ignored) && fsync(other.descriptor) == 0 &&
        rename(other.path, disk->path) == 0) {
        close(disk->descriptor);
        disk->descriptor = other.descriptor;
    } else {
        close(other.descriptor);
        unlink(other.path);
    }
}

/* Pipes and some file systems cannot be synced. */
static bool sync_descriptor(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

static void sync_folder(const char *path)
{
    char folder[JFR_PATH_BYTES];
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        slash++;
    if (slash != NULL)
        *slash = '\0';
    int descriptor = open(slash == NULL ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    (void)sync_descriptor(descriptor);
    close(descriptor);
}

bool jfr_disk_end(struct jfr_disk *disk, struct error *error)
{
    if (disk->descriptor < 0)
        return true;
    bool written = sync_descriptor(disk->descriptor);
    if (!written)
        error_set_system(error, "cannot write %s", disk->path);
    sync_folder(disk->path);
    close(disk->descriptor);
    disk->descriptor = -1;
    return written;
}
