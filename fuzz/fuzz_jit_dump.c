/*
 * fuzz_jit_dump.c - gives libFuzzer's input to the reader of jitdump files, in two parts, as if the file grew.
 */
#include <stdlib.h>
#include <unistd.h>

#include "symbols/jit_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int open_file(void)
{
    char path[] = "/tmp/fuzz_jit_dump.XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || unlink(path) != 0)
        abort();
    return file;
}

static void write_part(int file, const uint8_t *data, size_t size, off_t offset)
{
    if (pwrite(file, data, size, offset) != (ssize_t)size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    struct jit_dump dump;
    struct text_view name;
    if (file < 0)
        file = open_file();
    if (ftruncate(file, 0) != 0)
        abort();
    jit_dump_init(&dump);
    dump.descriptor = dup(file);
    write_part(file, data, size / 2, 0);
    (void)jit_dump_read(&dump);
    write_part(file, data + size / 2, size - size / 2, (off_t)(size / 2));
    (void)jit_dump_read(&dump);
    for (uint64_t address = 0x1000; address < 0x1100; address += 8)
        (void)jit_dump_find(&dump, address, &name);
    jit_dump_release(&dump);
    return 0;
}
