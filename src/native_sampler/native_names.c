#include "native_sampler/native_names.h"

#include "symbols/demangle.h"

#define MOST_NAME_BYTES 1024
#define UNKNOWN_NAME TEXT("[unknown]")

void native_names_init(struct native_names *names, struct profile *profile)
{
    *names = (struct native_names){.profile = profile, .unknown = NO_FRAME};
    symbol_table_init(&names->kernel);
    id_map_init(&names->kernel_frames);
}

void native_names_release(struct native_names *names)
{
    symbol_table_release(&names->kernel);
    id_map_release(&names->kernel_frames);
}

static void read_kernel(struct native_names *names)
{
    if (names->kernel_was_read)
        return;
    names->kernel_was_read = true;
    if (symbol_table_load_kallsyms(&names->kernel, "/proc/kallsyms", NULL, NULL))
        return;
    names->kernel_is_hidden = true;
    symbol_table_release(&names->kernel);
    symbol_table_init(&names->kernel);
}

uint32_t native_names_kernel(struct native_names *names, uint64_t address)
{
    struct symbol_match match = {.name = "[unknown]"};
    uint32_t frame = id_map_get(&names->kernel_frames, address);
    if (frame != NO_ID)
        return frame;
    read_kernel(names);
    (void)symbol_table_find(&names->kernel, address, &match);
    frame = profile_frame(names->profile, text_of(match.name), TEXT(""), 0, FRAME_KERNEL);
    return frame == NO_FRAME || id_map_set(&names->kernel_frames, address, frame) ? frame : NO_FRAME;
}

static uint32_t add_unknown(struct native_names *names, struct text_view module)
{
    return profile_frame(names->profile, UNKNOWN_NAME, module, 0, FRAME_NATIVE);
}

/* Without the version: "clock_gettime@@GLIBC_2.17". */
static uint32_t add_symbol(struct native_names *names, const char *symbol, const char *module)
{
    char text[MOST_NAME_BYTES];
    bool is_mangled = demangle(symbol, DEMANGLE_NAME_ONLY, text, sizeof(text));
    struct text_view name = text_of(text);
    size_t version = is_mangled ? TEXT_NOT_FOUND : text_find_byte(name, '@');
    if (version != TEXT_NOT_FOUND && version > 0)
        name = text_part(name, 0, version);
    return profile_frame(names->profile, name, text_of(module), 0, is_mangled ? FRAME_CPP : FRAME_NATIVE);
}

static uint32_t name_of_file(struct native_names *names, const struct process_image *image,
                             struct program_file *file, const struct code_range *range, uint64_t address)
{
    uint64_t bias;
    struct symbol_match match;
    if (elf_file_bias(&file->file, range->start, range->offset, &bias) &&
        program_file_symbol(file, image->pid, address - bias, &match))
        return add_symbol(names, match.name, file->name);
    return add_unknown(names, text_of(file->name));
}

/* Not kept: its name may be known later. */
static uint32_t unnamed(struct native_names *names, const struct program_files *files,
                        const struct code_range *range)
{
    if (range != NULL && range->file < files->count)
        return add_unknown(names, text_of(files->all[range->file]->name));
    if (names->unknown == NO_FRAME)
        names->unknown = add_unknown(names, TEXT(""));
    return names->unknown;
}

uint32_t native_names_user(struct native_names *names, struct process_image *image,
                           struct program_files *files, uint64_t address, int64_t now_ns)
{
    struct text_view name;
    uint32_t frame = id_map_get(&image->frames, address);
    if (frame != NO_ID)
        return frame;
    const struct code_range *range = process_image_find(image, address);
    struct program_file *file = range == NULL ? NULL : process_image_file(image, files, range);
    if (file != NULL)
        frame = name_of_file(names, image, file, range, address);
    else if (range != NULL && process_image_generated(image, address, now_ns, &name))
        frame =
            profile_frame(names->profile, text_part(name, 0, MOST_NAME_BYTES), TEXT(""), 0, FRAME_UNKNOWN);
    else
        return unnamed(names, files, range);
    return frame == NO_FRAME || id_map_set(&image->frames, address, frame) ? frame : NO_FRAME;
}

bool native_names_is_unknown(const struct native_names *names, uint32_t frame)
{
    return text_equal(profile_frame_name(names->profile, frame), UNKNOWN_NAME);
}
