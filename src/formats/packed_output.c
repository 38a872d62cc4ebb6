#include "formats/packed_output.h"

static void take(void *context, const void *data, size_t size)
{
    gzip_writer_write(context, data, size);
}

bool packed_output_open(struct packed_output *packed, const char *path, bool is_packed, struct error *error)
{
    packed->packs = !is_packed && text_ends_with(text_of(path), TEXT(".gz"));
    if (!packed->packs)
        return output_open(&packed->output, path, error);
    if (!output_open(&packed->file, path, error))
        return false;
    if (gzip_writer_init(&packed->gzip, &packed->file, error)) {
        if (output_open_taker(&packed->output, take, &packed->gzip, error))
            return true;
        gzip_writer_release(&packed->gzip);
    }
    output_release(&packed->file);
    return false;
}

bool packed_output_finish(struct packed_output *packed, struct error *error)
{
    bool good = output_finish(&packed->output, error);
    if (!packed->packs)
        return good;
    good = good && gzip_writer_finish(&packed->gzip, error);
    gzip_writer_release(&packed->gzip);
    if (good)
        return output_finish(&packed->file, error);
    output_release(&packed->file);
    return false;
}

void packed_output_release(struct packed_output *packed)
{
    output_release(&packed->output);
    if (!packed->packs)
        return;
    gzip_writer_release(&packed->gzip);
    output_release(&packed->file);
}
