#include "python_sampler/process_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python_sampler/process_denial.h"

bool mapping_parse(struct mapping *mapping, struct text_view line)
{
    struct text_view range = text_cut(&line, ' ');
    struct text_view access = text_cut(&line, ' ');
    struct text_view offset = text_cut(&line, ' ');
    text_cut(&line, ' ');
    text_cut(&line, ' ');
    struct text_view start = text_cut(&range, '-');
    *mapping = (struct mapping){.start = 0};
    if (access.size < 4 || !text_to_hex64(start, &mapping->start) || !text_to_hex64(range, &mapping->end) ||
        !text_to_hex64(offset, &mapping->file_offset))
        return false;
    mapping->readable = access.data[0] == 'r';
    mapping->executable = access.data[2] == 'x';
    mapping->path = text_trim(line);
    if (text_ends_with(mapping->path, TEXT(" (deleted)"))) {
        mapping->deleted = true;
        mapping->path.size -= sizeof(" (deleted)") - 1;
    }
    return true;
}

bool process_maps_visit(pid_t pid, bool (*visit)(void *context, const struct mapping *mapping), void *context,
                        struct error *error)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT)
        return error_set(error, ERROR_SYSTEM, "there is no process %d", (int)pid);
    if (file == NULL && (errno == EACCES || errno == EPERM)) {
        struct process_denial denial;
        process_denial_find(&denial, pid);
        return process_denial_explain(&denial, error);
    }
    if (file == NULL)
        return error_set_system(error, "%s", path);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    bool more = true;
    while (more && (size = getline(&line, &capacity, file)) > 0) {
        struct mapping mapping;
        if (mapping_parse(&mapping, (struct text_view){line, (size_t)size}))
            more = visit(context, &mapping);
    }
    bool failed = more && ferror(file);
    free(line);
    fclose(file);
    return failed ? error_set_system(error, "%s", path) : true;
}
