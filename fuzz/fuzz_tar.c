/*
 * fuzz_tar.c - libFuzzer on the files of a tar archive.
 */
#include <stdlib.h>

#include "input/tar_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct tar_reader tar;
    struct tar_member member;
    bool good = false;
    struct byte_source *source =
        byte_source_open_memory((struct text_view){(const char *)data, size}, "input", &error);
    if (source == NULL)
        return 0;
    tar_reader_init(&tar, source);
    while ((good = tar_reader_next(&tar, &member, &error)) && member.name.size > 0)
        if (member.bytes.size > size && member.bytes.size > (size_t)1 << 30)
            abort();
    if (!good && error.message[0] == '\0')
        abort();
    tar_reader_release(&tar);
    byte_source_close(source);
    return 0;
}
