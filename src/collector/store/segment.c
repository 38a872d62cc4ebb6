#include "collector/store/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC "SPKSEG1"
#define NAME_SUFFIX ".segment"

/* Little endian, as are the machines. */
struct segment_head {
    char magic[8];
    uint64_t number;
    uint64_t marker;
    int64_t created_ms;
    char group[RECORDING_ID_BYTES + 4];
    uint32_t crc; /* of what is before it */
};

struct record_head {
    uint64_t marker;
    uint64_t number;
    int64_t received_ms;
    uint32_t meta_bytes;
    uint32_t body_bytes;
    uint32_t data_crc; /* of meta and body */
    uint32_t crc;      /* of what is before it */
};

const uint64_t segment_first_offset = sizeof(struct segment_head);

static uint32_t head_crc(const void *head, size_t size)
{
    return libdeflate_crc32(0, head, size - sizeof(uint32_t));
}

void segment_name(char name[SEGMENT_NAME_BYTES], uint64_t number)
{
    snprintf(name, SEGMENT_NAME_BYTES, "%010llu" NAME_SUFFIX, (unsigned long long)number);
}

bool segment_number_of(const char *name, uint64_t *number)
{
    char expected[SEGMENT_NAME_BYTES];
    struct text_view digits = text_of(name);
    if (!text_ends_with(digits, TEXT(NAME_SUFFIX)))
        return false;
    digits = text_part(digits, 0, digits.size - strlen(NAME_SUFFIX));
    if (!text_to_u64(digits, number) || *number == 0 || *number > INT64_MAX)
        return false;
    segment_name(expected, *number);
    return strcmp(name, expected) == 0;
}

bool segment_create(struct segment *segment, int folder, uint64_t number, const char *group, int64_t now_ms,
                    struct error *error)
{
    char name[SEGMENT_NAME_BYTES];
    struct segment_head head = {.magic = MAGIC, .number = number, .created_ms = now_ms};
    snprintf(head.group, sizeof(head.group), "%s", group);
    if (getrandom(&head.marker, sizeof(head.marker), 0) != (ssize_t)sizeof(head.marker))
        return error_set_system(error, "no random numbers");
    head.crc = head_crc(&head, sizeof(head));
    segment_name(name, number);
    *segment =
        (struct segment){.number = number,
                         .marker = head.marker,
                         .created_ms = now_ms,
                         .size = sizeof(head),
                         .descriptor = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    snprintf(segment->group, sizeof(segment->group), "%s", group);
    if (segment->descriptor < 0)
        return error_set_system(error, "cannot create segment %s", name);
    errno = ENOSPC; /* what a short write means */
    if (pwrite(segment->descriptor, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        fdatasync(segment->descriptor) == 0 && fsync(folder) == 0)
        return true;
    error_set_system(error, "cannot write segment %s", name);
    segment_close(segment);
    unlinkat(folder, name, 0);
    return false;
}

static bool head_is_valid(const struct segment_head *head, uint64_t number)
{
    return memcmp(head->magic, MAGIC, sizeof(head->magic)) == 0 &&
           head->crc == head_crc(head, sizeof(*head)) && head->number == number &&
           memchr(head->group, '\0', RECORDING_ID_BYTES + 1) != NULL &&
           recording_id_is_valid(text_of(head->group));
}

bool segment_open(struct segment *segment, int folder, uint64_t number, bool for_writing, struct error *error)
{
    char name[SEGMENT_NAME_BYTES];
    struct segment_head head;
    struct stat status;
    segment_name(name, number);
    *segment = (struct segment)SEGMENT_CLOSED;
    int descriptor = openat(folder, name, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return error_set_system(error, "cannot open segment %s", name);
    bool good = fstat(descriptor, &status) == 0 ? true : error_set_system(error, "%s", name);
    if (good &&
        (pread(descriptor, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || !head_is_valid(&head, number)))
        good = error_set(error, ERROR_BAD_INPUT, "%s: the head of the segment is damaged", name);
    if (!good) {
        close(descriptor);
        return false;
    }
    *segment = (struct segment){.descriptor = descriptor,
                                .number = number,
                                .marker = head.marker,
                                .created_ms = head.created_ms,
                                .size = (uint64_t)status.st_size};
    snprintf(segment->group, sizeof(segment->group), "%s", head.group);
    return true;
}

void segment_close(struct segment *segment)
{
    if (segment->descriptor >= 0)
        close(segment->descriptor);
    segment->descriptor = -1;
}

/* Writes all pieces; advances them. */
static bool write_pieces(int descriptor, struct iovec *pieces, int count, uint64_t offset)
{
    while (count > 0) {
        ssize_t wrote = pwritev(descriptor, pieces, count, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        offset += (uint64_t)wrote;
        size_t left = (size_t)wrote;
        while (count > 0 && left >= pieces->iov_len) {
            left -= pieces->iov_len;
            pieces++;
            count--;
        }
        if (count > 0) {
            pieces->iov_base = (char *)pieces->iov_base + left;
            pieces->iov_len -= left;
        }
    }
    return true;
}

static uint32_t data_crc(struct text_view meta, struct text_view body)
{
    return libdeflate_crc32(libdeflate_crc32(0, meta.data, meta.size), body.data, body.size);
}

bool segment_holds(const struct stored_recording *stored, const struct stored_recording *recording,
                   struct text_view body)
{
    struct text_builder meta;
    text_builder_init(&meta, RECORDING_META_BYTES);
    recording_write_meta(recording, &meta);
    bool is_same = stored->body_bytes == body.size && stored->meta_bytes == meta.size &&
                   stored->crc == data_crc(text_builder_view(&meta), body);
    text_builder_release(&meta);
    return is_same;
}

bool segment_append(struct segment *segment, struct stored_recording *recording, struct text_view body,
                    struct error *error)
{
    struct text_builder meta;
    text_builder_init(&meta, RECORDING_META_BYTES);
    recording_write_meta(recording, &meta);
    if (meta.failed || body.size + meta.size > RECORD_DATA_LIMIT_BYTES) {
        text_builder_release(&meta);
        return error_set_memory(error);
    }
    recording->segment = segment->number;
    recording->offset = segment->size;
    recording->meta_bytes = (uint32_t)meta.size;
    recording->body_bytes = (uint32_t)body.size;
    recording->crc = data_crc(text_builder_view(&meta), body);
    struct record_head head = {.marker = segment->marker,
                               .number = recording->number,
                               .received_ms = recording->received_ms,
                               .meta_bytes = recording->meta_bytes,
                               .body_bytes = recording->body_bytes,
                               .data_crc = recording->crc};
    head.crc = head_crc(&head, sizeof(head));
    struct iovec pieces[] = {{&head, sizeof(head)}, {meta.data, meta.size}, {(void *)body.data, body.size}};
    bool good = write_pieces(segment->descriptor, pieces, COUNT_OF(pieces), segment->size);
    if (good)
        segment->size = recording->end = recording->offset + sizeof(head) + meta.size + body.size;
    else
        error_set_system(error, "cannot write segment %llu", (unsigned long long)segment->number);
    text_builder_release(&meta);
    return good;
}

bool segment_sync(struct segment *segment, struct error *error)
{
    if (fdatasync(segment->descriptor) == 0)
        return true;
    return error_set_system(error, "cannot sync segment %llu", (unsigned long long)segment->number);
}

bool segment_truncate(struct segment *segment, uint64_t size, struct error *error)
{
    if (ftruncate(segment->descriptor, (off_t)size) != 0)
        return error_set_system(error, "cannot truncate segment %llu", (unsigned long long)segment->number);
    segment->size = size;
    return segment_sync(segment, error);
}

/* ---- reading ---- */

/* Appends `size` bytes at `offset`. False: fewer are there, or *error is set. */
static bool read_bytes(const struct segment *segment, uint64_t offset, size_t size, struct text_builder *to,
                       struct error *error)
{
    char *room = text_builder_room(to, size == 0 ? 1 : size);
    size_t done = 0;
    if (room == NULL)
        return error_set_memory(error);
    while (done < size) {
        ssize_t got = pread(segment->descriptor, room + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_system(error, "cannot read segment %llu", (unsigned long long)segment->number);
        if (got == 0)
            return false;
        done += (size_t)got;
    }
    text_builder_took(to, size);
    return true;
}

/* SEGMENT_RECORD if there is a whole record at `offset`, SEGMENT_FAILED, or SEGMENT_DAMAGED. */
static enum segment_step read_record(const struct segment *segment, uint64_t offset,
                                     struct stored_recording *recording, struct text_builder *data,
                                     struct error *error)
{
    struct record_head head;
    struct error reading = {0};
    text_builder_clear(data);
    bool good = read_bytes(segment, offset, sizeof(head), data, &reading);
    if (good) {
        memcpy(&head, data->data, sizeof(head));
        good = head.marker == segment->marker && head.crc == head_crc(&head, sizeof(head)) &&
               (uint64_t)head.meta_bytes + head.body_bytes <= segment->size - offset - sizeof(head);
    }
    text_builder_clear(data);
    size_t size = good ? (size_t)head.meta_bytes + head.body_bytes : 0;
    good = good && read_bytes(segment, offset + sizeof(head), size, data, &reading);
    if (reading.code != ERROR_NONE) {
        *error = reading;
        return SEGMENT_FAILED;
    }
    if (!good || libdeflate_crc32(0, data->data, size) != head.data_crc)
        return SEGMENT_DAMAGED;
    snprintf(recording->group, sizeof(recording->group), "%s", segment->group);
    recording->number = head.number;
    recording->received_ms = head.received_ms;
    recording->segment = segment->number;
    recording->offset = offset;
    recording->end = offset + sizeof(head) + size;
    recording->meta_bytes = head.meta_bytes;
    recording->body_bytes = head.body_bytes;
    recording->crc = head.data_crc;
    struct text_view meta = text_part(text_builder_view(data), 0, head.meta_bytes);
    return head.number <= INT64_MAX && recording_read_meta(recording, meta, NULL) ? SEGMENT_RECORD
                                                                                  : SEGMENT_DAMAGED;
}

/* The next place behind `offset` where the marker stands, or the end. */
static uint64_t find_marker(const struct segment *segment, uint64_t offset, struct text_builder *data)
{
    enum { STEP = 1 << 20 };
    struct text_view marker = {(const char *)&segment->marker, sizeof(segment->marker)};
    for (uint64_t at = offset + 1; at + marker.size <= segment->size; at += STEP - marker.size + 1) {
        size_t size = segment->size - at < STEP ? (size_t)(segment->size - at) : (size_t)STEP;
        text_builder_clear(data);
        if (!read_bytes(segment, at, size, data, NULL))
            break;
        size_t found = text_find(text_builder_view(data), marker);
        if (found != TEXT_NOT_FOUND)
            return at + found;
    }
    return segment->size;
}

enum segment_step segment_next(const struct segment *segment, uint64_t *offset,
                               struct stored_recording *recording, struct text_builder *data,
                               struct error *error)
{
    if (*offset >= segment->size)
        return SEGMENT_END;
    enum segment_step step = read_record(segment, *offset, recording, data, error);
    if (step == SEGMENT_RECORD)
        *offset = recording->end;
    if (step != SEGMENT_DAMAGED)
        return step;
    uint64_t next = find_marker(segment, *offset, data);
    if (next == segment->size)
        return SEGMENT_TAIL;
    *offset = next;
    return SEGMENT_DAMAGED;
}

bool segment_read_body(const struct segment *segment, const struct stored_recording *recording,
                       struct text_builder *body, struct error *error)
{
    struct stored_recording found;
    struct text_builder data;
    text_builder_init(&data, RECORD_DATA_LIMIT_BYTES + sizeof(struct record_head));
    enum segment_step step = read_record(segment, recording->offset, &found, &data, error);
    bool good =
        step == SEGMENT_RECORD && found.number == recording->number && recording_same_key(&found, recording);
    if (good)
        text_builder_add(body, text_from(text_builder_view(&data), found.meta_bytes));
    else if (step != SEGMENT_FAILED)
        error_set(error, ERROR_BAD_INPUT, "recording %llu is damaged in segment %llu",
                  (unsigned long long)recording->number, (unsigned long long)segment->number);
    text_builder_release(&data);
    return good && (!body->failed || error_set_memory(error));
}
