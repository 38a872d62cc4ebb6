#include "jvm_attach/loaded_agent.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/text_view.h"

/* Other libraries are rejected after reading their headers and dynamic section; these limit the cost of a damaged
 * one. */
enum { PROGRAM_HEADER_LIMIT = 64, DYNAMIC_LIMIT = 256, SYMBOL_LIMIT = 1024, NAME_LIMIT = 64, BATCH = 256 };

/* An ELF image: mapped into a process, or a file. */
struct image {
    pid_t pid;
    uint64_t base;  /* address of its mapping */
    int descriptor; /* of the file; -1: read memory */
    Elf64_Phdr headers[PROGRAM_HEADER_LIMIT];
    size_t header_count;
    uint64_t symbols, strings, strings_size; /* virtual addresses in the image */
    uint64_t state;                          /* the same; 0: an older version */
};

static bool read_memory(const struct image *image, uint64_t address, void *bytes, size_t size)
{
    struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)(image->base + address), size};
    return process_vm_readv(image->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool read_file(const struct image *image, uint64_t address, void *bytes, size_t size)
{
    for (size_t i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *header = &image->headers[i];
        if (header->p_type != PT_LOAD || address < header->p_vaddr ||
            address - header->p_vaddr >= header->p_filesz ||
            size > header->p_filesz - (address - header->p_vaddr))
            continue;
        off_t offset = (off_t)(header->p_offset + (address - header->p_vaddr));
        return pread(image->descriptor, bytes, size, offset) == (ssize_t)size;
    }
    return false;
}

static bool read_image(const struct image *image, uint64_t address, void *bytes, size_t size)
{
    return image->descriptor < 0 ? read_memory(image, address, bytes, size)
                                 : read_file(image, address, bytes, size);
}

/* The headers are at the start of the file and of its first mapping. */
static bool read_begin(const struct image *image, uint64_t offset, void *bytes, size_t size)
{
    return image->descriptor < 0 ? read_memory(image, offset, bytes, size)
                                 : pread(image->descriptor, bytes, size, (off_t)offset) == (ssize_t)size;
}

static bool read_headers(struct image *image)
{
    Elf64_Ehdr header;
    if (!read_begin(image, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
        header.e_phnum > PROGRAM_HEADER_LIMIT)
        return false;
    image->header_count = header.e_phnum;
    return read_begin(image, header.e_phoff, image->headers, header.e_phnum * sizeof(Elf64_Phdr));
}

/* The dynamic loader replaces these addresses by absolute ones, in memory. */
static uint64_t relative(const struct image *image, uint64_t address)
{
    return image->descriptor < 0 && address >= image->base ? address - image->base : address;
}

static bool read_dynamic(struct image *image)
{
    for (size_t i = 0; i < image->header_count; i++) {
        if (image->headers[i].p_type != PT_DYNAMIC)
            continue;
        for (size_t j = 0; j < DYNAMIC_LIMIT; j++) {
            Elf64_Dyn entry;
            if (!read_image(image, image->headers[i].p_vaddr + j * sizeof(entry), &entry, sizeof(entry)))
                return false;
            if (entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == DT_SYMTAB)
                image->symbols = relative(image, entry.d_un.d_ptr);
            else if (entry.d_tag == DT_STRTAB)
                image->strings = relative(image, entry.d_un.d_ptr);
            else if (entry.d_tag == DT_STRSZ)
                image->strings_size = entry.d_un.d_val;
        }
    }
    /* The number of symbols is not stored; linkers put their names right after them. */
    return image->symbols != 0 && image->strings > image->symbols;
}

static bool has_name(const struct image *image, const Elf64_Sym *symbol, const char *expected)
{
    char name[NAME_LIMIT];
    size_t size = strlen(expected) + 1;
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           symbol->st_name != 0 && symbol->st_name < image->strings_size &&
           image->strings_size - symbol->st_name >= size &&
           read_image(image, image->strings + symbol->st_name, name, size) &&
           memcmp(name, expected, size) == 0;
}

/* The second one is exported by versions without a marker. */
static bool is_agent_symbol(const struct image *image, const Elf64_Sym *symbol)
{
    return has_name(image, symbol, "sparkflame_agent_marker") ||
           has_name(image, symbol, "Java_org_sparkflame_Agent_execute");
}

/* Libraries with many symbols are not the agent, which has a few hundred. */
static bool exports_agent(struct image *image)
{
    Elf64_Sym symbols[BATCH];
    bool found = false;
    uint64_t count = (image->strings - image->symbols) / sizeof(Elf64_Sym);
    if (count > SYMBOL_LIMIT)
        return false;
    for (uint64_t first = 0; first < count; first += BATCH) {
        size_t number = count - first < BATCH ? (size_t)(count - first) : BATCH;
        if (!read_image(image, image->symbols + first * sizeof(Elf64_Sym), symbols,
                        number * sizeof(symbols[0])))
            return false;
        for (size_t i = 0; i < number; i++) {
            found = found || is_agent_symbol(image, &symbols[i]);
            if (image->state == 0 && has_name(image, &symbols[i], "sparkflame_agent_state"))
                image->state = symbols[i].st_value;
        }
    }
    return found;
}

enum verdict { IS_OTHER, IS_AGENT, IS_UNREADABLE };

static enum verdict judge(struct image *image)
{
    Elf64_Ehdr header;
    if (!read_begin(image, 0, &header, sizeof(header)))
        return IS_UNREADABLE;
    return read_headers(image) && read_dynamic(image) && exports_agent(image) ? IS_AGENT : IS_OTHER;
}

/* Same layout as in jvm_agent/agent_marker.h. */
struct agent_times {
    uint64_t opened_ns, recording_ns;
};

/* Prefers the copy whose recording started first, so that its views find it again; else the one loaded first. */
static bool is_better(const struct agent_times *times, const struct agent_times *best)
{
    if (times->recording_ns != best->recording_ns)
        return times->recording_ns - 1 < best->recording_ns - 1; /* 0 is last */
    return times->opened_ns - 1 < best->opened_ns - 1;
}

/* A line of /proc/PID/maps that maps the start of a file. */
struct mapping {
    uint64_t begin, end, inode;
    char path[PATH_MAX];
    bool is_deleted;
};

static bool parse_mapping(char *line, struct mapping *mapping)
{
    static const char deleted[] = " (deleted)";
    unsigned long long begin, end, offset, inode;
    int used = 0;
    if (sscanf(line, "%llx-%llx %*s %llx %*s %llu %n", &begin, &end, &offset, &inode, &used) != 4 ||
        used == 0 || offset != 0 || inode == 0 || line[used] != '/')
        return false;
    struct text_view path = text_trim(text_of(line + used));
    mapping->is_deleted = text_ends_with(path, text_of(deleted));
    if (mapping->is_deleted)
        path.size -= strlen(deleted);
    if (path.size >= sizeof(mapping->path))
        return false;
    memcpy(mapping->path, path.data, path.size);
    mapping->path[path.size] = '\0';
    mapping->begin = begin;
    mapping->end = end;
    mapping->inode = inode;
    return true;
}

static int open_same_file(pid_t pid, const struct mapping *mapping)
{
    char path[PATH_MAX + 64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)mapping->begin,
             (unsigned long long)mapping->end);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0 || mapping->is_deleted)
        return descriptor;
    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, mapping->path);
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (descriptor >= 0 &&
        (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_ino != mapping->inode)) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

/*
 * The memory of another process may be closed to its own user (kernel.yama.ptrace_scope), and map_files is readable by
 * root only. If nothing can be read, the file name decides; names of the plugin's copies start with it, too.
 */
static bool is_agent(pid_t pid, const struct mapping *mapping, struct agent_times *times)
{
    struct image image = {.pid = pid, .base = mapping->begin, .descriptor = -1};
    enum verdict verdict = judge(&image);
    if (verdict == IS_AGENT && image.state != 0)
        (void)read_memory(&image, image.state, times, sizeof(*times));
    if (verdict != IS_UNREADABLE)
        return verdict == IS_AGENT;
    image = (struct image){.pid = pid, .descriptor = open_same_file(pid, mapping)};
    if (image.descriptor >= 0) {
        verdict = judge(&image);
        close(image.descriptor);
        return verdict == IS_AGENT;
    }
    const char *slash = strrchr(mapping->path, '/');
    return strncmp(slash + 1, "libsparkflame", strlen("libsparkflame")) == 0;
}

/* The kernel reports paths in our namespace; the process may have another root. */
static void set_path(struct loaded_agent *agent, pid_t pid, const struct mapping *mapping)
{
    char link[64], root[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
    ssize_t size = readlink(link, root, sizeof(root));
    bool is_below = size > 1 && strncmp(mapping->path, root, (size_t)size) == 0 && mapping->path[size] == '/';
    snprintf(agent->path, sizeof(agent->path), "%s", mapping->path + (is_below ? size : 0));
    agent->is_deleted = mapping->is_deleted;
}

bool loaded_agent_find(pid_t pid, const char *preferred, struct loaded_agent *agent)
{
    char path[64], *line = NULL;
    size_t capacity = 0;
    struct mapping mapping;
    struct agent_times best = {0};
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL)
        return false;
    while (!(found && strcmp(agent->path, preferred) == 0) && getline(&line, &capacity, maps) > 0) {
        struct agent_times times = {0};
        struct loaded_agent candidate;
        if (!parse_mapping(line, &mapping) || !is_agent(pid, &mapping, &times))
            continue;
        set_path(&candidate, pid, &mapping);
        if (found && strcmp(candidate.path, preferred) != 0 && !is_better(&times, &best))
            continue;
        *agent = candidate;
        best = times;
        found = true;
    }
    free(line);
    fclose(maps);
    return found;
}
