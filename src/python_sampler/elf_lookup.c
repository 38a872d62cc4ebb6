#include "python_sampler/elf_lookup.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_SECTIONS 4096
#define MOST_TABLE_BYTES ((uint64_t)256 << 20)
#define SYMBOLS_PER_READ 512
#define MOST_NAME_BYTES 64

static bool read_exactly(int descriptor, uint64_t offset, void *to, size_t size)
{
    return pread(descriptor, to, size, (off_t)offset) == (ssize_t)size;
}

static bool read_header(int descriptor, Elf64_Ehdr *header, struct error *error)
{
    if (!read_exactly(descriptor, 0, header, sizeof(*header)) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(error, ERROR_BAD_INPUT, "not an ELF file");
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(error, ERROR_UNSUPPORTED, "a 32-bit program, which is not supported");
    return true;
}

/* NULL when there is none or it is not readable. */
static Elf64_Shdr *read_sections(int descriptor, const Elf64_Ehdr *header)
{
    size_t size = (size_t)header->e_shnum * sizeof(Elf64_Shdr);
    if (header->e_shnum == 0 || header->e_shnum > MOST_SECTIONS || header->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    Elf64_Shdr *sections = malloc(size);
    if (sections != NULL && !read_exactly(descriptor, header->e_shoff, sections, size)) {
        free(sections);
        sections = NULL;
    }
    return sections;
}

static bool name_is(int descriptor, const Elf64_Shdr *names, uint64_t at, const char *name)
{
    char text[MOST_NAME_BYTES];
    size_t size = strlen(name) + 1;
    return size <= sizeof(text) && at + size <= names->sh_size &&
           read_exactly(descriptor, names->sh_offset + at, text, size) && memcmp(text, name, size) == 0;
}

static void find_sections(int descriptor, const Elf64_Ehdr *header, const Elf64_Shdr *sections,
                          struct elf_wanted *wanted, size_t count)
{
    if (header->e_shstrndx >= header->e_shnum)
        return;
    for (size_t i = 0; i < header->e_shnum; i++) {
        for (size_t k = 0; k < count; k++) {
            if (wanted[k].is_section && wanted[k].value == 0 &&
                name_is(descriptor, &sections[header->e_shstrndx], sections[i].sh_name, wanted[k].name))
                wanted[k].value = sections[i].sh_addr;
        }
    }
}

static void match_symbol(const Elf64_Sym *symbol, const char *names, uint64_t names_size,
                         struct elf_wanted *wanted, size_t count)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= names_size)
        return;
    const char *name = names + symbol->st_name;
    for (size_t k = 0; k < count; k++) {
        if (!wanted[k].is_section && wanted[k].value == 0 && strcmp(name, wanted[k].name) == 0)
            wanted[k].value = symbol->st_value;
    }
}

static void find_symbols(int descriptor, const Elf64_Shdr *table, const Elf64_Shdr *name_section,
                         struct elf_wanted *wanted, size_t count)
{
    uint64_t names_size = name_section->sh_size;
    if (names_size == 0 || names_size > MOST_TABLE_BYTES || table->sh_size > MOST_TABLE_BYTES)
        return;
    char *names = malloc(names_size + 1);
    Elf64_Sym *symbols = malloc(SYMBOLS_PER_READ * sizeof(*symbols));
    if (names == NULL || symbols == NULL ||
        !read_exactly(descriptor, name_section->sh_offset, names, names_size))
        goto done;
    names[names_size] = '\0';
    for (uint64_t at = 0; at < table->sh_size;) {
        uint64_t left = (table->sh_size - at) / sizeof(*symbols);
        size_t part = left > SYMBOLS_PER_READ ? SYMBOLS_PER_READ : (size_t)left;
        if (part == 0 || !read_exactly(descriptor, table->sh_offset + at, symbols, part * sizeof(*symbols)))
            break;
        for (size_t i = 0; i < part; i++)
            match_symbol(&symbols[i], names, names_size, wanted, count);
        at += part * sizeof(*symbols);
    }
done:
    free(names);
    free(symbols);
}

static bool all_symbols_found(const struct elf_wanted *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!wanted[i].is_section && wanted[i].value == 0)
            return false;
    }
    return true;
}

/* Calls visit for each program header until it returns true. */
static bool find_segment(int descriptor, const Elf64_Ehdr *header, Elf64_Phdr *found, bool any,
                         uint64_t address)
{
    for (size_t i = 0; i < header->e_phnum; i++) {
        if (!read_exactly(descriptor, header->e_phoff + i * sizeof(*found), found, sizeof(*found)))
            return false;
        if (found->p_type == PT_LOAD &&
            (any || (address >= found->p_vaddr && address - found->p_vaddr < found->p_filesz)))
            return true;
    }
    return false;
}

bool elf_lookup(int descriptor, struct elf_wanted *wanted, size_t count, uint64_t *first_load,
                struct error *error)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (!read_header(descriptor, &header, error))
        return false;
    if (!find_segment(descriptor, &header, &segment, true, 0))
        return error_set(error, ERROR_BAD_INPUT, "an ELF file with nothing to load");
    *first_load = segment.p_vaddr - segment.p_offset;
    Elf64_Shdr *sections = read_sections(descriptor, &header);
    if (sections == NULL)
        return true;
    static const uint32_t kinds[] = {SHT_DYNSYM, SHT_SYMTAB};
    for (size_t kind = 0; kind < 2 && !all_symbols_found(wanted, count); kind++) {
        for (size_t i = 0; i < header.e_shnum; i++) {
            if (sections[i].sh_type == kinds[kind] && sections[i].sh_link < header.e_shnum)
                find_symbols(descriptor, &sections[i], &sections[sections[i].sh_link], wanted, count);
        }
    }
    find_sections(descriptor, &header, sections, wanted, count);
    free(sections);
    return true;
}
