#include "symbols/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/regular_file.h"

static const uint64_t SIZE_LIMIT_BYTES = 4ULL << 30;
static const uint64_t COPY_LIMIT_BYTES = 256ULL << 20; /* of one part */
static const uint64_t TOTAL_COPY_LIMIT_BYTES = 512ULL << 20;
enum { MOST_STRING_BYTES = 4096 }; /* of a section's name */

static bool inside(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

static bool copy_out(const struct elf_file *file, uint64_t offset, void *to, size_t size)
{
    if (!inside(file, offset, size))
        return false;
    memcpy(to, file->data + offset, size);
    return true;
}

static bool read_section_header(const struct elf_file *file, uint32_t index, Elf64_Shdr *header)
{
    return copy_out(file, file->section_offset + (uint64_t)index * sizeof(*header), header, sizeof(*header));
}

/* Big files keep their counts in the first section header. */
static void read_section_names(struct elf_file *file, const Elf64_Ehdr *header)
{
    Elf64_Shdr first, names;
    uint32_t names_index = header->e_shstrndx;
    if (file->section_offset == 0 || !read_section_header(file, 0, &first)) {
        file->section_count = 0;
        return;
    }
    if (header->e_shnum == 0 && first.sh_size <= UINT16_MAX)
        file->section_count = (uint32_t)first.sh_size;
    if (names_index == SHN_XINDEX)
        names_index = first.sh_link;
    if (names_index < file->section_count && read_section_header(file, names_index, &names) &&
        inside(file, names.sh_offset, names.sh_size))
        file->section_names = (struct text_view){file->data + names.sh_offset, names.sh_size};
}

static bool read_header(struct elf_file *file, struct error *error)
{
    Elf64_Ehdr header;
    if (!copy_out(file, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(error, ERROR_BAD_INPUT, "not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(error, ERROR_UNSUPPORTED, "not a 64-bit little-endian ELF file");
    if (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr))
        return error_set(error, ERROR_BAD_INPUT, "program headers of %u bytes", header.e_phentsize);
    file->machine = header.e_machine;
    file->type = header.e_type;
    file->section_offset = header.e_shentsize == sizeof(Elf64_Shdr) ? header.e_shoff : 0;
    file->section_count = header.e_shnum;
    file->program_offset = header.e_phoff;
    file->program_count = header.e_phnum;
    if (!inside(file, file->section_offset, 0) || !inside(file, file->program_offset, 0))
        return error_set(error, ERROR_BAD_INPUT, "ELF headers are past the end of the file");
    read_section_names(file, &header);
    return true;
}

static bool check_kind(struct elf_file *file, int descriptor, struct error *error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return error_set_system(error, "cannot read the file's size");
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_BAD_INPUT, "not a regular file");
    if (status.st_size <= 0 || (uint64_t)status.st_size > SIZE_LIMIT_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "empty or larger than 4 GiB");
    file->size = (size_t)status.st_size;
    return true;
}

static bool map_file(struct elf_file *file, int descriptor, struct error *error)
{
    if (!check_kind(file, descriptor, error))
        return false;
    void *data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return error_set_system(error, "cannot map the file");
    file->data = data;
    file->mapped = true;
    return true;
}

/* Pages that nothing is copied to take no memory. */
static bool reserve_copy(struct elf_file *file, int descriptor, struct error *error)
{
    if (!check_kind(file, descriptor, error))
        return false;
    void *data =
        mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return error_set_system(error, "no memory for a copy of the file");
    file->data = data;
    file->mapped = true;
    return true;
}

/* What a file that was cut lacks stays 0. */
static void copy_part(struct elf_file *file, int descriptor, uint64_t offset, uint64_t size)
{
    if (!inside(file, offset, size) || size > COPY_LIMIT_BYTES ||
        size > TOTAL_COPY_LIMIT_BYTES - file->copied_bytes)
        return;
    file->copied_bytes += size;
    char *to = (char *)(uintptr_t)file->data + offset;
    for (ssize_t got; size > 0 && (got = pread(descriptor, to, size, (off_t)offset)) > 0;) {
        to += got;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
}

static void copy_section(struct elf_file *file, int descriptor, uint32_t index)
{
    Elf64_Shdr header;
    if (index < file->section_count && read_section_header(file, index, &header) &&
        header.sh_type != SHT_NOBITS)
        copy_part(file, descriptor, header.sh_offset, header.sh_size);
}

static bool copy_headers(struct elf_file *file, int descriptor, struct error *error)
{
    copy_part(file, descriptor, 0, file->size < sizeof(Elf64_Ehdr) ? file->size : sizeof(Elf64_Ehdr));
    if (!read_header(file, error))
        return false;
    copy_part(file, descriptor, file->program_offset, file->program_count * sizeof(Elf64_Phdr));
    copy_part(file, descriptor, file->section_offset, sizeof(Elf64_Shdr));
    if (!read_header(file, error)) /* the first section may hold the counts */
        return false;
    copy_part(file, descriptor, file->section_offset, file->section_count * sizeof(Elf64_Shdr));
    return read_header(file, error);
}

static void copy_section_names(struct elf_file *file, int descriptor)
{
    if (file->section_names.size > 0)
        copy_part(file, descriptor, (uint64_t)(file->section_names.data - file->data),
                  file->section_names.size);
}

static void copy_symbols(struct elf_file *file, int descriptor, uint32_t type)
{
    Elf64_Shdr header;
    for (uint32_t i = 0; i < file->section_count && read_section_header(file, i, &header); i++) {
        if (header.sh_type != type)
            continue;
        copy_section(file, descriptor, i);
        copy_section(file, descriptor, header.sh_link);
    }
}

static void copy_named(struct elf_file *file, int descriptor)
{
    static const char *const names[] = {".eh_frame", ".debug_frame", ".plt",      ".plt.sec",
                                        ".plt.got",  ".rela.plt",    ".rela.dyn", ".gnu_debuglink"};
    struct elf_section section;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (elf_file_find_section(file, names[i], &section))
            copy_section(file, descriptor, section.index);
}

/* Of sections, and of segments in files without sections. */
static void copy_notes(struct elf_file *file, int descriptor)
{
    Elf64_Shdr header;
    struct elf_segment segment;
    for (uint32_t i = 0; i < file->section_count && read_section_header(file, i, &header); i++)
        if (header.sh_type == SHT_NOTE)
            copy_section(file, descriptor, i);
    for (uint32_t i = 0; elf_file_segment(file, i, &segment); i++)
        if (segment.type == PT_NOTE)
            copy_part(file, descriptor, segment.offset, segment.size_in_file);
}

/* -1 with an error. */
static int open_to_read(const char *path, struct error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0)
        (void)error_set_system(error, "%s", path);
    return descriptor;
}

static bool end_opening(struct elf_file *file, const char *path, int descriptor, bool good,
                        struct error *error)
{
    close(descriptor);
    if (!good) {
        error_prefix(error, "%s", path);
        elf_file_release(file);
    }
    return good;
}

bool elf_file_open(struct elf_file *file, const char *path, struct error *error)
{
    *file = (struct elf_file){.data = NULL};
    int descriptor = open_to_read(path, error);
    if (descriptor < 0)
        return false;
    bool good = map_file(file, descriptor, error) && read_header(file, error);
    return end_opening(file, path, descriptor, good, error);
}

/* -1: no copy. Else headers and names of sections are copied, and the caller copies more. */
static int begin_copy(struct elf_file *file, const char *path, struct error *error)
{
    *file = (struct elf_file){.data = NULL};
    int descriptor = regular_file_open(path, 0, error);
    if (descriptor < 0)
        return -1;
    if (!reserve_copy(file, descriptor, error) || !copy_headers(file, descriptor, error)) {
        (void)end_opening(file, path, descriptor, false, error);
        return -1;
    }
    copy_section_names(file, descriptor);
    return descriptor;
}

bool elf_file_copy(struct elf_file *file, const char *path, bool all_symbols, struct error *error)
{
    int descriptor = begin_copy(file, path, error);
    if (descriptor < 0)
        return false;
    copy_symbols(file, descriptor, all_symbols ? SHT_SYMTAB : SHT_DYNSYM);
    close(descriptor);
    return true;
}

bool elf_file_copy_code(struct elf_file *file, const char *path, struct error *error)
{
    int descriptor = begin_copy(file, path, error);
    if (descriptor < 0)
        return false;
    copy_notes(file, descriptor);
    copy_named(file, descriptor);
    copy_symbols(file, descriptor, SHT_DYNSYM);
    copy_symbols(file, descriptor, SHT_SYMTAB);
    close(descriptor);
    return true;
}

bool elf_file_from_memory(struct elf_file *file, const void *data, size_t size, struct error *error)
{
    *file = (struct elf_file){.data = data, .size = size};
    if (read_header(file, error))
        return true;
    elf_file_release(file);
    return false;
}

void elf_file_release(struct elf_file *file)
{
    if (file->mapped)
        munmap((void *)(uintptr_t)file->data, file->size);
    *file = (struct elf_file){.data = NULL};
}

/* A string of a table: must end inside it. */
static const char *string_at(struct text_view table, uint64_t offset)
{
    if (offset >= table.size)
        return NULL;
    size_t room = table.size - offset;
    if (memchr(table.data + offset, '\0', room < MOST_STRING_BYTES ? room : MOST_STRING_BYTES) == NULL)
        return NULL;
    return table.data + offset;
}

bool elf_file_section(const struct elf_file *file, uint32_t index, struct elf_section *section)
{
    Elf64_Shdr header;
    if (index >= file->section_count || !read_section_header(file, index, &header))
        return false;
    *section = (struct elf_section){.index = index,
                                    .type = header.sh_type,
                                    .flags = header.sh_flags,
                                    .address = header.sh_addr,
                                    .size_in_memory = header.sh_size,
                                    .link = header.sh_link};
    section->name = text_of(string_at(file->section_names, header.sh_name));
    if (header.sh_type != SHT_NOBITS && inside(file, header.sh_offset, header.sh_size))
        section->data = (struct text_view){file->data + header.sh_offset, header.sh_size};
    return true;
}

bool elf_file_find_section(const struct elf_file *file, const char *name, struct elf_section *section)
{
    for (uint32_t i = 0; i < file->section_count; i++)
        if (elf_file_section(file, i, section) && text_equal(section->name, text_of(name)))
            return true;
    return false;
}

bool elf_file_segment(const struct elf_file *file, uint32_t index, struct elf_segment *segment)
{
    Elf64_Phdr header;
    if (index >= file->program_count ||
        !copy_out(file, file->program_offset + (uint64_t)index * sizeof(header), &header, sizeof(header)))
        return false;
    *segment = (struct elf_segment){.type = header.p_type,
                                    .flags = header.p_flags,
                                    .offset = header.p_offset,
                                    .address = header.p_vaddr,
                                    .size_in_file = header.p_filesz,
                                    .size_in_memory = header.p_memsz};
    return true;
}

uint64_t elf_file_base(const struct elf_file *file)
{
    struct elf_segment segment;
    for (uint32_t i = 0; elf_file_segment(file, i, &segment); i++)
        if (segment.type == PT_LOAD)
            return segment.address;
    return 0;
}

bool elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t file_offset, uint64_t *bias)
{
    struct elf_segment segment;
    for (uint32_t i = 0; elf_file_segment(file, i, &segment); i++) {
        uint64_t first = segment.offset & ~(uint64_t)4095; /* the loader maps whole pages */
        if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0 || file_offset < first ||
            file_offset >= segment.offset + segment.size_in_file)
            continue;
        *bias = start - file_offset + segment.offset - segment.address;
        return true;
    }
    return false;
}

static bool find_note(struct text_view notes, struct text_view *build_id)
{
    while (notes.size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        memcpy(&header, notes.data, sizeof(header));
        uint64_t name_size = ((uint64_t)header.n_namesz + 3) & ~3ULL;
        uint64_t data_size = ((uint64_t)header.n_descsz + 3) & ~3ULL;
        struct text_view name = text_part(notes, sizeof(header), header.n_namesz);
        struct text_view data = text_part(notes, sizeof(header) + name_size, header.n_descsz);
        if (header.n_type == NT_GNU_BUILD_ID && text_equal(name, (struct text_view){"GNU", 4}) &&
            data.size == header.n_descsz && data.size > 0) {
            *build_id = data;
            return true;
        }
        notes = text_from(notes, sizeof(header) + name_size + data_size);
    }
    return false;
}

bool elf_file_build_id(const struct elf_file *file, struct text_view *build_id)
{
    struct elf_section section;
    struct elf_segment segment;
    for (uint32_t i = 0; elf_file_section(file, i, &section); i++)
        if (section.type == SHT_NOTE && find_note(section.data, build_id))
            return true;
    for (uint32_t i = 0; elf_file_segment(file, i, &segment); i++)
        if (segment.type == PT_NOTE && inside(file, segment.offset, segment.size_in_file) &&
            find_note((struct text_view){file->data + segment.offset, segment.size_in_file}, build_id))
            return true;
    return false;
}

bool elf_file_debug_link(const struct elf_file *file, struct text_view *name, uint32_t *checksum)
{
    struct elf_section section;
    if (!elf_file_find_section(file, ".gnu_debuglink", &section) || section.data.size < 8)
        return false;
    const char *text = string_at(section.data, 0);
    if (text == NULL || text[0] == '\0')
        return false;
    *name = text_of(text);
    size_t at = (name->size + 4) & ~(size_t)3; /* after the zero byte, aligned */
    if (at + 4 > section.data.size)
        return false;
    memcpy(checksum, section.data.data + at, 4);
    return true;
}

bool elf_symbols_open(const struct elf_file *file, const char *section_name, struct elf_symbols *symbols)
{
    struct elf_section section, strings;
    if (!elf_file_find_section(file, section_name, &section) ||
        !elf_file_section(file, section.link, &strings))
        return false;
    *symbols = (struct elf_symbols){section.data, strings.data};
    while (symbols->names.size > 0 && symbols->names.data[symbols->names.size - 1] != '\0')
        symbols->names.size--;
    return true;
}

size_t elf_symbol_count(const struct elf_symbols *symbols)
{
    return symbols->entries.size / sizeof(Elf64_Sym);
}

bool elf_symbol_at(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol)
{
    Elf64_Sym entry;
    if (index >= elf_symbol_count(symbols))
        return false;
    memcpy(&entry, symbols->entries.data + index * sizeof(entry), sizeof(entry));
    bool has_name = entry.st_name < symbols->names.size;
    *symbol = (struct elf_symbol){.name = has_name ? symbols->names.data + entry.st_name : "",
                                  .address = entry.st_value,
                                  .size = entry.st_size,
                                  .type = ELF64_ST_TYPE(entry.st_info),
                                  .binding = ELF64_ST_BIND(entry.st_info),
                                  .section = entry.st_shndx};
    return true;
}

static bool find_in(const struct elf_file *file, const char *table, const char *name,
                    struct elf_symbol *symbol)
{
    struct elf_symbols symbols;
    if (!elf_symbols_open(file, table, &symbols))
        return false;
    for (size_t i = 1; elf_symbol_at(&symbols, i, symbol); i++)
        if (symbol->section != SHN_UNDEF && strcmp(symbol->name, name) == 0)
            return true;
    return false;
}

bool elf_file_find_symbol(const struct elf_file *file, const char *name, struct elf_symbol *symbol)
{
    return find_in(file, ".dynsym", name, symbol) || find_in(file, ".symtab", name, symbol);
}
