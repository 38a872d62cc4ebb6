#include "input/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/unpacker.h"

#define INPUT_BYTES ((size_t)256 << 10)
#define FIRST_BUFFER_BYTES ((size_t)256 << 10)
/* Up to this size, decompressing in one piece is worth its memory. */
#define WHOLE_GZIP_BYTES ((size_t)256 << 20)

struct byte_source {
    char *name;
    int descriptor; /* -1: all is in memory */
    bool close_descriptor;
    void *map; /* to be unmapped */
    size_t map_size;
    struct text_view memory; /* the bytes as they are stored, where they are not read from the descriptor */
    struct text_view packed; /* not yet unpacked; of `memory` or of `input` */
    char *input;             /* INPUT_BYTES read from the descriptor */
    struct unpacker *unpacker;
    enum packing packing;
    char *buffer; /* unpacked, or read; bytes `begin` to `end` are unread */
    size_t begin;
    size_t end;
    size_t capacity;
    uint64_t position;
    uint64_t packed_bytes;
    uint64_t unpacked_bytes;
    bool ended; /* no more to come into the buffer */
    bool failed;
    bool reported;
    struct error failure;
};

static struct byte_source *new_source(const char *name)
{
    struct byte_source *source = calloc(1, sizeof(*source));
    if (source == NULL)
        return NULL;
    source->descriptor = -1;
    source->name = strdup(name);
    if (source->name != NULL)
        return source;
    free(source);
    return NULL;
}

void byte_source_close(struct byte_source *source)
{
    if (source == NULL)
        return;
    unpacker_free(source->unpacker);
    if (source->map != NULL)
        munmap(source->map, source->map_size);
    if (source->close_descriptor)
        close(source->descriptor);
    free(source->input);
    free(source->buffer);
    free(source->name);
    free(source);
}

/* Plain bytes in memory are looked at where they are; `begin` and `end` count in them. */
static bool is_plain_memory(const struct byte_source *source)
{
    return source->memory.data != NULL && source->unpacker == NULL;
}

static bool fail(struct byte_source *source)
{
    source->failed = true;
    source->ended = true;
    return false;
}

static ssize_t read_some(struct byte_source *source, char *to, size_t size)
{
    ssize_t got;
    do
        got = read(source->descriptor, to, size);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        error_set_system(&source->failure, "cannot read");
        fail(source);
    }
    return got;
}

/* Refills `packed`; an empty one afterwards is the end. */
static bool refill_packed(struct byte_source *source)
{
    if (source->packed.size > 0 || source->descriptor < 0)
        return true;
    ssize_t got = read_some(source, source->input, INPUT_BYTES);
    if (got < 0)
        return false;
    source->packed = (struct text_view){source->input, (size_t)got};
    source->packed_bytes += (uint64_t)got;
    return true;
}

static bool is_bomb(const struct byte_source *source)
{
    return source->unpacked_bytes > BYTE_SOURCE_BOMB_BYTES &&
           source->unpacked_bytes / BYTE_SOURCE_BOMB_RATIO > source->packed_bytes;
}

/* Adds at least one decompressed byte to the buffer, or sets `ended`. */
static bool unpack_some(struct byte_source *source)
{
    size_t made = 0;
    while (made == 0) {
        if (!refill_packed(source))
            return false;
        struct text_view before = source->packed;
        if (!unpacker_run(source->unpacker, &source->packed, source->buffer + source->end,
                          source->capacity - source->end, &made, &source->failure))
            return fail(source);
        if (made == 0 && source->packed.size == before.size) {
            source->ended = true;
            if (unpacker_at_end(source->unpacker))
                return true;
            error_set(&source->failure, ERROR_BAD_INPUT, "the %s data ends too early",
                      packing_name(source->packing));
            return fail(source);
        }
    }
    source->end += made;
    source->unpacked_bytes += made;
    if (!is_bomb(source))
        return true;
    error_set(&source->failure, ERROR_BAD_INPUT, "refused: decompresses to more than %d times its size",
              BYTE_SOURCE_BOMB_RATIO);
    return fail(source);
}

static bool fill_some(struct byte_source *source)
{
    if (source->unpacker != NULL)
        return unpack_some(source);
    ssize_t got = read_some(source, source->buffer + source->end, source->capacity - source->end);
    if (got < 0)
        return false;
    source->ended = got == 0;
    source->end += (size_t)got;
    return true;
}

/* Room behind `end`: first by moving the unread bytes to the front, then by growing. */
static bool make_room(struct byte_source *source, size_t wanted)
{
    if (source->begin > 0 && source->begin + wanted > source->capacity) {
        memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
        source->end -= source->begin;
        source->begin = 0;
    }
    if (source->capacity - source->begin >= wanted && source->end < source->capacity)
        return true;
    size_t capacity = source->capacity < FIRST_BUFFER_BYTES ? FIRST_BUFFER_BYTES : source->capacity;
    while (capacity < wanted || capacity == source->end) {
        if (capacity > SIZE_MAX / 2)
            return error_set_memory(&source->failure) || fail(source);
        capacity *= 2;
    }
    char *grown = realloc(source->buffer, capacity);
    if (grown == NULL)
        return error_set_memory(&source->failure) || fail(source);
    source->buffer = grown;
    source->capacity = capacity;
    return true;
}

struct text_view byte_source_peek(struct byte_source *source, size_t wanted, struct error *error)
{
    if (is_plain_memory(source))
        return text_from(source->memory, (size_t)source->position);
    if (wanted == 0)
        wanted = 1;
    while (source->end - source->begin < wanted && !source->ended)
        if (!make_room(source, wanted) || !fill_some(source))
            break;
    struct text_view view = {source->buffer + source->begin, source->end - source->begin};
    if (!source->failed || view.size >= wanted)
        return view;
    if (error != NULL)
        *error = source->failure;
    if (source->reported)
        view.size = 0;
    source->reported = true;
    return view;
}

void byte_source_skip(struct byte_source *source, size_t size)
{
    source->position += size;
    if (!is_plain_memory(source))
        source->begin += size;
}

/* Looks at the first bytes and sets up unpacking. */
static bool begin(struct byte_source *source, struct error *error)
{
    struct text_view head;
    if (source->descriptor >= 0) {
        head = byte_source_peek(source, 8, error);
        if (source->failed)
            return false;
    } else {
        head = source->memory;
        source->packed_bytes = head.size;
    }
    source->packing = packing_of(head);
    if (source->packing == PACKING_NONE)
        return true;
    source->unpacker = unpacker_new(source->packing, error);
    if (source->unpacker == NULL)
        return false;
    source->packed = head;
    if (source->descriptor < 0)
        return true;
    /* The bytes read to detect the format are the first compressed input. */
    source->input = source->buffer;
    source->packed_bytes = head.size;
    source->buffer = NULL;
    source->begin = source->end = source->capacity = 0;
    source->ended = false;
    return true;
}

static bool map_file(struct byte_source *source, const struct stat *status)
{
    if (!S_ISREG(status->st_mode) || status->st_size <= 0)
        return false;
    void *map = mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, source->descriptor, 0);
    if (map == MAP_FAILED)
        return false;
    source->map = map;
    source->map_size = (size_t)status->st_size;
    source->memory = (struct text_view){map, source->map_size};
    close(source->descriptor);
    source->descriptor = -1;
    source->close_descriptor = false;
    return true;
}

static bool open_file(struct byte_source *source, const char *path, struct error *error)
{
    source->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (source->descriptor < 0)
        return error_set_system(error, "cannot open");
    source->close_descriptor = true;
    struct stat status;
    if (fstat(source->descriptor, &status) != 0)
        return error_set_system(error, "cannot stat");
    if (S_ISDIR(status.st_mode))
        return error_set(error, ERROR_BAD_INPUT, "is a directory");
    map_file(source, &status);
    return begin(source, error);
}

struct byte_source *byte_source_open(const char *path, struct error *error)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct byte_source *source = new_source(standard_input ? "standard input" : path);
    if (source == NULL) {
        error_set_memory(error);
        return NULL;
    }
    bool good;
    if (standard_input) {
        source->descriptor = STDIN_FILENO;
        good = begin(source, error);
    } else {
        good = open_file(source, path, error);
    }
    if (good)
        return source;
    byte_source_close(source);
    return NULL;
}

struct byte_source *byte_source_open_memory(struct text_view bytes, const char *name, struct error *error)
{
    struct byte_source *source = new_source(name);
    if (source == NULL) {
        error_set_memory(error);
        return NULL;
    }
    source->memory = bytes.data == NULL ? TEXT("") : bytes;
    if (begin(source, error))
        return source;
    byte_source_close(source);
    return NULL;
}

const char *byte_source_name(const struct byte_source *source)
{
    return source->name;
}

uint64_t byte_source_position(const struct byte_source *source)
{
    return source->position;
}

bool byte_source_failed(const struct byte_source *source)
{
    return source->failed;
}

bool byte_source_is_mapped(const struct byte_source *source)
{
    return is_plain_memory(source);
}

void byte_source_drop(const struct byte_source *source, struct text_view bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    /* The first page may begin with what was dropped before, the last one goes on. */
    uintptr_t from = (uintptr_t)bytes.data & ~(page - 1);
    uintptr_t to = ((uintptr_t)bytes.data + bytes.size) & ~(page - 1);
    if (source->map != NULL && is_plain_memory(source) && to > from)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

void byte_source_drop_later(const struct byte_source *source, struct text_view *gathered,
                            struct text_view next, size_t enough)
{
    if (gathered->size == 0)
        gathered->data = next.data;
    gathered->size += next.size;
    if (gathered->size < enough)
        return;
    byte_source_drop(source, *gathered);
    gathered->size = 0;
}

/* Only from the start, if nothing was peeked at or that may be discarded. */
static bool unpack_whole(struct byte_source *source, size_t limit, struct text_view *all, struct error *error)
{
    size_t size = 0;
    char *data = NULL;
    if (!unpack_gzip_whole(source->memory, limit, &data, &size, error))
        return fail(source);
    free(source->buffer);
    source->buffer = data;
    source->begin = 0;
    source->end = source->capacity = size;
    source->ended = true;
    *all = (struct text_view){data, size};
    return true;
}

bool byte_source_all(struct byte_source *source, size_t limit, struct text_view *all, struct error *error)
{
    if (is_plain_memory(source)) {
        *all = byte_source_peek(source, 0, error);
        return all->size <= limit ? true : error_set(error, ERROR_MEMORY, "is larger than %zu bytes", limit);
    }
    if (source->packing == PACKING_GZIP && source->memory.data != NULL && source->position == 0 &&
        source->memory.size <= WHOLE_GZIP_BYTES && !source->ended)
        return unpack_whole(source, limit, all, error);
    size_t wanted = FIRST_BUFFER_BYTES;
    for (;;) {
        *all = byte_source_peek(source, wanted, error);
        if (source->failed)
            return false;
        if (all->size > limit)
            return error_set(error, ERROR_MEMORY, "is larger than %zu bytes", limit);
        if (all->size < wanted)
            return true;
        wanted = all->size > limit / 2 ? limit + 1 : all->size * 2;
    }
}
