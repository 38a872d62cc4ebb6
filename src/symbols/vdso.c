#include "symbols/vdso.h"

#include <sys/auxv.h>

#include "base/text_builder.h"
#include "symbols/memory_map.h"

#define MAPS_LIMIT_BYTES ((size_t)64 << 20)

static size_t own_size(uint64_t address)
{
    struct text_builder maps;
    struct memory_mapping mapping;
    size_t size = 0;
    text_builder_init(&maps, MAPS_LIMIT_BYTES);
    if (memory_map_read(&maps, 0, NULL)) {
        struct text_view rest = text_builder_view(&maps);
        while (size == 0 && memory_map_next(&rest, &mapping))
            if (mapping.start == address)
                size = mapping.end - mapping.start;
    }
    text_builder_release(&maps);
    return size;
}

bool vdso_open(struct elf_file *file)
{
    unsigned long address = getauxval(AT_SYSINFO_EHDR);
    size_t size = address == 0 ? 0 : own_size(address);
    return size > 0 && elf_file_from_memory(file, (const void *)address, size, NULL);
}
