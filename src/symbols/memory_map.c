#include "symbols/memory_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool parse_range(struct text_view text, struct memory_mapping *mapping)
{
    struct text_view start = text_cut(&text, '-');
    return text_to_hex64(start, &mapping->start) && text_to_hex64(text, &mapping->end) &&
           mapping->start < mapping->end;
}

static bool parse_device(struct text_view text, struct memory_mapping *mapping)
{
    uint64_t major, minor;
    struct text_view first = text_cut(&text, ':');
    if (!text_to_hex64(first, &major) || !text_to_hex64(text, &minor))
        return false;
    mapping->device = major << 32 | minor;
    return true;
}

/* start-end rwxp offset major:minor inode   path */
static bool parse_line(struct text_view line, struct memory_mapping *mapping)
{
    *mapping = (struct memory_mapping){.start = 0};
    struct text_view range = text_cut(&line, ' '), access = text_cut(&line, ' '),
                     offset = text_cut(&line, ' ');
    struct text_view device = text_cut(&line, ' '), inode = text_cut(&line, ' ');
    if (access.size < 4 || !parse_range(range, mapping) || !text_to_hex64(offset, &mapping->offset) ||
        !parse_device(device, mapping) || !text_to_u64(inode, &mapping->inode))
        return false;
    mapping->readable = access.data[0] == 'r';
    mapping->writable = access.data[1] == 'w';
    mapping->executable = access.data[2] == 'x';
    while (line.size > 0 && line.data[0] == ' ')
        line = text_from(line, 1);
    mapping->deleted = text_ends_with(line, TEXT(" (deleted)"));
    mapping->path = mapping->deleted ? text_part(line, 0, line.size - 10) : line;
    return true;
}

bool memory_map_next(struct text_view *text, struct memory_mapping *mapping)
{
    while (text->size > 0)
        if (parse_line(text_cut(text, '\n'), mapping))
            return true;
    return false;
}

static bool read_all(struct text_builder *builder, int descriptor)
{
    for (;;) {
        char *room = text_builder_room(builder, 65536);
        ssize_t size = room == NULL ? -1 : read(descriptor, room, 65536);
        if (size <= 0)
            return size == 0;
        text_builder_took(builder, (size_t)size);
    }
}

bool memory_map_read(struct text_builder *builder, pid_t pid, struct error *error)
{
    char path[64];
    if (pid == 0)
        snprintf(path, sizeof(path), "/proc/self/maps");
    else
        snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return error_set_system(error, "%s", path);
    bool good = read_all(builder, descriptor);
    if (!good)
        error_set_system(error, "%s", path);
    close(descriptor);
    return good;
}
