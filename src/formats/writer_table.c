#include "formats/writer.h"

#define WRITER(name) extern const struct writer writer_##name;
#include "formats/writer_table.def"
#undef WRITER

const struct writer *const writers[] = {
#define WRITER(name) &writer_##name,
#include "formats/writer_table.def"
#undef WRITER
    NULL,
};

const struct writer *writer_by_name(struct text_view name)
{
    for (size_t i = 0; writers[i] != NULL; i++)
        if (text_equal(name, text_of(writers[i]->name)))
            return writers[i];
    return NULL;
}

static bool has_extension(const struct writer *writer, struct text_view path)
{
    struct text_view rest = text_of(writer->extensions);
    while (rest.size > 0) {
        struct text_view extension = text_cut(&rest, ' ');
        if (path.size > extension.size && text_ends_with(path, extension) &&
            path.data[path.size - extension.size - 1] == '.')
            return true;
    }
    return false;
}

const struct writer *writer_by_path(const char *path)
{
    struct text_view whole = text_of(path), bare = whole;
    if (text_ends_with(bare, TEXT(".gz")))
        bare.size -= 3;
    for (size_t i = 0; writers[i] != NULL; i++)
        if (has_extension(writers[i], whole) || has_extension(writers[i], bare))
            return writers[i];
    return NULL;
}
