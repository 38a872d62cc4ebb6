#include "commands/picture/picture_names.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "input/byte_source.h"

#define PALETTE_PATH "palette.map"
#define FILE_LIMIT_BYTES ((size_t)64 << 20)

typedef bool (*read_function)(struct svg_names *names, struct text_view text, struct error *error);

static bool read_file(struct svg_names *names, const char *path, read_function read, struct error *error)
{
    struct byte_source *source = byte_source_open(path, error);
    struct text_view text;
    bool good =
        source != NULL && byte_source_all(source, FILE_LIMIT_BYTES, &text, error) && read(names, text, error);
    byte_source_close(source);
    return good || error_prefix(error, "%s", path);
}

bool picture_names_read(struct svg_names *names, const struct picture_options *options, struct error *error)
{
    if (!svg_names_init(names, error))
        return false;
    bool good = true;
    if (options->name_attributes != NULL)
        good = read_file(names, options->name_attributes, svg_names_read_attributes, error);
    if (good && options->keeps_palette && access(PALETTE_PATH, F_OK) == 0)
        good = read_file(names, PALETTE_PATH, svg_names_read_colors, error);
    if (!good)
        svg_names_release(names);
    return good;
}

bool picture_names_write(const struct svg_names *names, const struct picture_options *options,
                         struct error *error)
{
    if (!options->keeps_palette)
        return true;
    struct output output;
    if (!output_open(&output, PALETTE_PATH, error))
        return false;
    if (svg_names_write_colors(names, &output))
        return output_finish(&output, error);
    output_release(&output);
    return error_set_memory(error);
}

uint64_t picture_names_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        seed = (uint64_t)time(NULL);
    return seed | 1;
}
