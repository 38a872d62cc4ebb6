/*
 * elf_file.h - a 64-bit little-endian ELF file, mapped; every access is checked against its end.
 *
 * A mapped file that is truncated kills its reader (SIGBUS), and its owner may change it after a check. Files of others
 * are read by elf_file_copy() or elf_file_copy_code(), without mapping, and only if they are regular ones.
 *
 * Owns: the mapping or the copy, until elf_file_release(); views into it live as long.
 * Threads: any, once opened.
 * Limit: files of 4 GiB, 65535 sections; of a copy 256 MiB a part and 512 MiB in all, and longer parts are omitted.
 */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_view.h"

struct elf_file {
    const char *data; /* NULL when not open */
    size_t size;
    bool mapped;
    uint16_t machine; /* EM_X86_64, EM_AARCH64 */
    uint16_t type;
    uint64_t section_offset, program_offset;
    uint32_t section_count, program_count;
    struct text_view section_names;
    uint64_t copied_bytes; /* of a copy; 0: it is none */
};

struct elf_section {
    struct text_view name;
    uint32_t index;
    uint32_t type;
    uint64_t flags;
    uint64_t address; /* as linked */
    uint64_t size_in_memory;
    uint32_t link;
    struct text_view data; /* empty for .bss */
};

struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, address, size_in_file, size_in_memory;
};

struct elf_symbol {
    const char *name; /* "" when it has none */
    uint64_t address;
    uint64_t size;
    uint8_t type, binding;
    uint16_t section;
};

struct elf_symbols {
    struct text_view entries;
    struct text_view names; /* ends with a zero byte, or is empty */
};

bool elf_file_open(struct elf_file *file, const char *path, struct error *error) MUST_CHECK;
/* Headers, section names and .dynsym with its strings (or .symtab with its own); all other bytes are 0. */
bool elf_file_copy(struct elf_file *file, const char *path, bool all_symbols, struct error *error) MUST_CHECK;
/* Headers, notes, and all that names and unwinds code: both kinds of symbols, PLT, frames, name of the debug file. */
bool elf_file_copy_code(struct elf_file *file, const char *path, struct error *error) MUST_CHECK;
/* An image in memory, such as the vdso. */
bool elf_file_from_memory(struct elf_file *file, const void *data, size_t size,
                          struct error *error) MUST_CHECK;
void elf_file_release(struct elf_file *file);

bool elf_file_section(const struct elf_file *file, uint32_t index, struct elf_section *section);
bool elf_file_find_section(const struct elf_file *file, const char *name, struct elf_section *section);
bool elf_file_segment(const struct elf_file *file, uint32_t index, struct elf_segment *segment);
/* The address as linked of the first loaded byte. */
uint64_t elf_file_base(const struct elf_file *file);
/* How many bytes above its linked addresses a file is, whose code at file_offset is mapped at start. */
bool elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t file_offset, uint64_t *bias);

bool elf_file_build_id(const struct elf_file *file, struct text_view *build_id);
bool elf_file_debug_link(const struct elf_file *file, struct text_view *name, uint32_t *checksum);

/* A .symtab or .dynsym section and its strings. */
bool elf_symbols_open(const struct elf_file *file, const char *section_name, struct elf_symbols *symbols);
size_t elf_symbol_count(const struct elf_symbols *symbols);
bool elf_symbol_at(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol);
/* Looks a defined function or variable up by its exact name: .dynsym, then .symtab. */
bool elf_file_find_symbol(const struct elf_file *file, const char *name, struct elf_symbol *symbol);

#endif
