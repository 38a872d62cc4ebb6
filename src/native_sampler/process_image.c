#include "native_sampler/process_image.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_builder.h"
#include "symbols/memory_map.h"

#define REFRESH_NS INT64_C(500000000)
#define ABSENT_REFRESH_NS INT64_C(50000000) /* of a map that is not there yet, or empty */
#define REFRESH_NS_PER_BYTE 64 /* of large maps of generated code, which programs write to all the time */
#define MAPS_LIMIT_BYTES ((size_t)64 << 20)

void process_image_init(struct process_image *image, pid_t pid)
{
    *image = (struct process_image){.pid = pid};
    id_map_init(&image->frames);
    perf_map_init(&image->generated);
}

void process_image_release(struct process_image *image)
{
    code_ranges_release(&image->ranges);
    id_map_release(&image->frames);
    perf_map_release(&image->generated);
    if (image->jit != NULL)
        jit_dump_release(image->jit);
    free(image->jit);
    free(image->jit_path);
    process_image_init(image, image->pid);
}

bool process_image_copy(struct process_image *image, const struct process_image *parent)
{
    image->has_python = parent->has_python;
    return code_ranges_copy(&image->ranges, &parent->ranges);
}

static bool is_of_a_file(struct text_view path)
{
    static const char *const without[] = {"//", "/memfd:", "/dev/zero", "/SYSV"};
    for (size_t i = 0; i < COUNT_OF(without); i++)
        if (text_starts_with(path, text_of(without[i])))
            return false;
    return (path.size > 1 && path.data[0] == '/') || text_equal(path, TEXT("[vdso]"));
}

static bool is_python(struct text_view path)
{
    size_t slash = text_find_last_byte(path, '/');
    struct text_view name = slash == TEXT_NOT_FOUND ? path : text_from(path, slash + 1);
    return text_starts_with(name, TEXT("libpython")) || text_starts_with(name, TEXT("python"));
}

/* A runtime that writes such a file maps it, so that it is found. One that cannot be kept has no names. */
static void note_jit_dump(struct process_image *image, struct text_view path)
{
    if (image->jit_path == NULL && path.size < PATH_MAX && jit_dump_is_name(path))
        image->jit_path = strndup(path.data, path.size);
}

bool process_image_map(struct process_image *image, struct program_files *files,
                       const struct perf_mapping *mapping)
{
    if (!mapping->executable)
        return true;
    struct code_range range = {
        .start = mapping->start, .end = mapping->end, .offset = mapping->offset, .file = NO_FILE};
    if (is_of_a_file(mapping->path)) {
        image->has_python |= is_python(mapping->path);
        note_jit_dump(image, mapping->path);
        range.file = program_files_add(files, mapping);
        if (range.file == NO_FILE && files->count < PROGRAM_FILE_LIMIT)
            return false;
    }
    bool changed = false;
    bool good = code_ranges_insert(&image->ranges, &range, &changed);
    if (changed)
        id_map_clear(&image->frames); /* names found before are those of other code */
    return good;
}

static bool map_line(struct process_image *image, struct program_files *files,
                     const struct memory_mapping *line)
{
    struct perf_mapping mapping = {.start = line->start,
                                   .end = line->end,
                                   .offset = line->offset,
                                   .device = line->device,
                                   .inode = line->inode,
                                   .deleted = line->deleted,
                                   .executable = line->executable && line->start < UINT64_C(1) << 63,
                                   .path = line->path};
    return process_image_map(image, files, &mapping);
}

void process_image_refresh(struct process_image *image, struct program_files *files, int64_t now_ns)
{
    struct text_builder maps;
    struct memory_mapping line;
    if (image->exited_ns != 0 || (image->refreshed_ns != 0 && now_ns - image->refreshed_ns < REFRESH_NS))
        return;
    image->refreshed_ns = now_ns;
    text_builder_init(&maps, MAPS_LIMIT_BYTES);
    if (memory_map_read(&maps, image->pid, NULL)) {
        struct text_view rest = text_builder_view(&maps);
        while (memory_map_next(&rest, &line) && map_line(image, files, &line)) {
        }
    }
    text_builder_release(&maps);
}

bool process_image_is_python(pid_t pid)
{
    struct process_image image;
    struct program_files files;
    process_image_init(&image, pid);
    program_files_init(&files);
    process_image_refresh(&image, &files, 1);
    bool is_python = image.has_python;
    process_image_release(&image);
    program_files_release(&files);
    return is_python;
}

const struct code_range *process_image_find(const struct process_image *image, uint64_t address)
{
    return code_ranges_find(&image->ranges, address);
}

struct program_file *process_image_file(const struct process_image *image, struct program_files *files,
                                        const struct code_range *range)
{
    struct file_place place = {image->pid, range->start, range->end, range->offset};
    return range->file == NO_FILE ? NULL : program_files_open(files, range->file, &place);
}

static bool open_jit_dump(struct process_image *image)
{
    char path[PATH_MAX + 64];
    struct stat process;
    snprintf(path, sizeof(path), "/proc/%d", (int)image->pid);
    if (stat(path, &process) != 0 || (image->jit = malloc(sizeof(*image->jit))) == NULL)
        return false;
    jit_dump_init(image->jit);
    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)image->pid, image->jit_path);
    return jit_dump_open(image->jit, path, process.st_uid);
}

static bool read_jit_dump(struct process_image *image)
{
    if (image->jit_path == NULL || (image->jit == NULL && !open_jit_dump(image)))
        return false;
    return jit_dump_read(image->jit);
}

static bool find_generated(const struct process_image *image, uint64_t address, struct text_view *name)
{
    return perf_map_find(&image->generated, address, name) ||
           (image->jit != NULL && jit_dump_find(image->jit, address, name));
}

bool process_image_generated(struct process_image *image, uint64_t address, int64_t now_ns,
                             struct text_view *name)
{
    if (find_generated(image, address, name))
        return true;
    if (image->exited_ns != 0 || now_ns < image->generated_ns)
        return false;
    bool has_changed = perf_map_read(&image->generated, image->pid);
    has_changed |= read_jit_dump(image);
    size_t size = image->generated.text_size + (image->jit == NULL ? 0 : image->jit->lines.size);
    int64_t pause_ns = (int64_t)size * REFRESH_NS_PER_BYTE;
    image->generated_ns = now_ns + (pause_ns == 0 ? ABSENT_REFRESH_NS : REFRESH_NS + pause_ns);
    if (!has_changed)
        return false;
    id_map_clear(&image->frames); /* code of the same address may have another name now */
    return find_generated(image, address, name);
}
