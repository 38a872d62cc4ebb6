/* The format: linux/tools/perf/Documentation/jitdump-specification.txt */
#include "symbols/jit_dump.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/regular_file.h"

#define MAGIC 0x4A695444U
#define LEAST_HEADER_BYTES 40
#define MOST_HEADER_BYTES 4096
#define MOST_NAME_BYTES 4096
#define MOST_RECORDS_AT_ONCE 1000000

enum jit_record_kind { JIT_LOAD = 0, JIT_MOVE = 1 };

/* u32 kind, u32 size with this, u64 time. */
struct jit_head {
    uint32_t kind, size;
    uint64_t time_ns;
};

/* Behind the head of JIT_LOAD; the name and the code follow. */
struct load {
    uint32_t pid, tid;
    uint64_t virtual_address, address, size, index;
};

struct move {
    uint32_t pid, tid;
    uint64_t virtual_address, old_address, address, size, index;
};

void jit_dump_init(struct jit_dump *dump)
{
    *dump = (struct jit_dump){.descriptor = -1};
    text_builder_init(&dump->lines, JIT_DUMP_LIMIT_BYTES);
    id_map_init(&dump->names);
    perf_map_init(&dump->map);
}

void jit_dump_release(struct jit_dump *dump)
{
    if (dump->descriptor >= 0)
        close(dump->descriptor);
    text_builder_release(&dump->lines);
    id_map_release(&dump->names);
    perf_map_release(&dump->map);
    jit_dump_init(dump);
}

bool jit_dump_is_name(struct text_view path)
{
    uint64_t number;
    size_t slash = text_find_last_byte(path, '/');
    struct text_view name = slash == TEXT_NOT_FOUND ? path : text_from(path, slash + 1);
    return text_starts_with(name, TEXT("jit-")) && text_ends_with(name, TEXT(".dump")) &&
           text_to_u64(text_part(name, 4, name.size - 9), &number);
}

bool jit_dump_open(struct jit_dump *dump, const char *path, uid_t user)
{
    struct stat status;
    int descriptor = regular_file_open(path, O_NOFOLLOW, NULL);
    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &status) != 0 || (status.st_uid != 0 && status.st_uid != user)) {
        close(descriptor);
        return false;
    }
    jit_dump_release(dump);
    dump->descriptor = descriptor;
    return true;
}

static bool read_at(const struct jit_dump *dump, void *into, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(dump->descriptor, into, size, (off_t)offset) == (ssize_t)size;
}

/* u32 magic, version, size of the header … */
static bool read_header(struct jit_dump *dump)
{
    uint32_t words[3];
    if (!read_at(dump, words, sizeof(words), 0))
        return false; /* not written yet */
    dump->is_damaged = words[0] != MAGIC || words[2] < LEAST_HEADER_BYTES || words[2] > MOST_HEADER_BYTES;
    dump->offset = words[2];
    return !dump->is_damaged;
}

static void add_line(struct jit_dump *dump, uint64_t address, uint64_t size, struct text_view name)
{
    if (name.size == 0 || size == 0)
        return;
    text_builder_format(&dump->lines, "%llx %llx ", (unsigned long long)address, (unsigned long long)size);
    size_t place = dump->lines.size;
    text_builder_add(&dump->lines, name);
    text_builder_add_byte(&dump->lines, '\n');
    if (!dump->lines.failed && !id_map_set(&dump->names, address, (uint32_t)place))
        dump->lines.failed = true;
}

static void take_load(struct jit_dump *dump, const struct jit_head *head)
{
    struct load load;
    char name[MOST_NAME_BYTES];
    uint64_t offset = dump->offset + sizeof(*head);
    size_t left = head->size - sizeof(*head);
    if (left <= sizeof(load) || !read_at(dump, &load, sizeof(load), offset))
        return;
    left -= sizeof(load);
    if (left > sizeof(name))
        left = sizeof(name);
    if (!read_at(dump, name, left, offset + sizeof(load)))
        return;
    size_t size = strnlen(name, left);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)name[i] < ' ')
            name[i] = '?';
    add_line(dump, load.address, load.size, (struct text_view){name, size});
}

static void take_move(struct jit_dump *dump, const struct jit_head *head)
{
    struct move move;
    char copy[MOST_NAME_BYTES];
    if (head->size - sizeof(*head) < sizeof(move) ||
        !read_at(dump, &move, sizeof(move), dump->offset + sizeof(*head)))
        return;
    uint32_t place = id_map_get(&dump->names, move.old_address);
    if (place == NO_ID)
        return;
    struct text_view rest = text_from(text_builder_view(&dump->lines), place);
    struct text_view name = text_cut(&rest, '\n');
    memcpy(copy, name.data, name.size); /* at most MOST_NAME_BYTES; the lines may move */
    add_line(dump, move.address, move.size, (struct text_view){copy, name.size});
}

/* The last record may not be whole yet. */
static bool is_written(const struct jit_dump *dump, const struct jit_head *head, uint64_t file_size)
{
    return head->size >= sizeof(*head) && dump->offset + head->size <= file_size;
}

bool jit_dump_read(struct jit_dump *dump)
{
    struct jit_head head;
    struct stat status;
    size_t before = dump->lines.size;
    if (dump->descriptor < 0 || dump->is_damaged || fstat(dump->descriptor, &status) != 0 ||
        (dump->offset == 0 && !read_header(dump)))
        return false;
    for (int i = 0; i < MOST_RECORDS_AT_ONCE && !dump->lines.failed; i++) {
        if (!read_at(dump, &head, sizeof(head), dump->offset) ||
            !is_written(dump, &head, (uint64_t)status.st_size))
            break;
        if (head.kind == JIT_LOAD)
            take_load(dump, &head);
        else if (head.kind == JIT_MOVE)
            take_move(dump, &head);
        dump->offset += head.size;
    }
    return dump->lines.size > before && perf_map_parse(&dump->map, text_builder_view(&dump->lines));
}

bool jit_dump_find(const struct jit_dump *dump, uint64_t address, struct text_view *name)
{
    return perf_map_find(&dump->map, address, name);
}
