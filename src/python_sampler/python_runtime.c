#include "python_sampler/python_runtime.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text_builder.h"
#include "base/text_view.h"
#include "python_sampler/process_denial.h"
#include "symbols/elf_file.h"
#include "symbols/memory_map.h"

#define MOST_CANDIDATES 8
#define MOST_INTERPRETERS 1000
#define MOST_THREADS 10000
#define MOST_MAPS_BYTES ((size_t)64 << 20)

struct candidate {
    char path[PATH_MAX];
    uint64_t start; /* of the mapping of the file's start */
    uint64_t end;
    bool is_program; /* not a library */
};

struct search {
    struct process_memory *memory;
    char program[PATH_MAX];
    struct candidate candidates[MOST_CANDIDATES];
    size_t count;
    uint32_t version_by_path; /* from …/lib/python3.9/…, 0: unknown */
};

static struct text_view base_name(struct text_view path)
{
    size_t slash = text_find_last_byte(path, '/');
    return slash == TEXT_NOT_FOUND ? path : text_from(path, slash + 1);
}

/* "3.9…" at the start of the text; 0 if there is none. */
static uint32_t parse_version(struct text_view text)
{
    if (text.size < 3 || text.data[0] != '3' || text.data[1] != '.')
        return 0;
    uint32_t minor = 0;
    size_t at = 2;
    for (; at < text.size && at < 4 && text.data[at] >= '0' && text.data[at] <= '9'; at++)
        minor = minor * 10 + (uint32_t)(text.data[at] - '0');
    return at == 2 ? 0 : 0x0300 | minor;
}

static uint32_t version_of_path(struct text_view path)
{
    struct text_view name = base_name(path);
    if (text_starts_with(name, TEXT("libpython")))
        return parse_version(text_from(name, 9));
    if (text_starts_with(name, TEXT("python")))
        return parse_version(text_from(name, 6));
    size_t at = text_find(path, TEXT("/lib/python"));
    return at == TEXT_NOT_FOUND ? 0 : parse_version(text_from(path, at + 11));
}

static void note_mapping(struct search *search, const struct memory_mapping *mapping)
{
    if (mapping->path.size == 0 || mapping->path.data[0] != '/' || mapping->path.size >= PATH_MAX)
        return;
    if (search->version_by_path == 0)
        search->version_by_path = version_of_path(mapping->path);
    bool is_program = text_equal(mapping->path, text_of(search->program));
    if (!is_program && !text_starts_with(base_name(mapping->path), TEXT("libpython")))
        return;
    if (mapping->offset != 0 || search->count == MOST_CANDIDATES)
        return;
    struct candidate *candidate = &search->candidates[search->count++];
    memcpy(candidate->path, mapping->path.data, mapping->path.size);
    candidate->path[mapping->path.size] = '\0';
    candidate->start = mapping->start;
    candidate->end = mapping->end;
    candidate->is_program = is_program;
}

static void explain_unread(pid_t pid, int reason, struct error *error)
{
    if (reason == ENOENT || reason == ESRCH) {
        error_set(error, ERROR_SYSTEM, "there is no process %d", (int)pid);
    } else if (reason == EACCES || reason == EPERM) {
        struct process_denial denial;
        process_denial_find(&denial, pid);
        process_denial_explain(&denial, error);
    }
}

/* Searches all mappings of the process. */
static bool find_candidates(struct search *search, struct error *error)
{
    struct text_builder maps;
    struct memory_mapping mapping;
    pid_t pid = search->memory->pid;
    text_builder_init(&maps, MOST_MAPS_BYTES);
    errno = 0;
    bool is_read = memory_map_read(&maps, pid, error);
    if (!is_read)
        explain_unread(pid, errno, error);
    for (struct text_view left = text_builder_view(&maps); is_read && memory_map_next(&left, &mapping);)
        note_mapping(search, &mapping);
    text_builder_release(&maps);
    return is_read;
}

static void read_program_path(struct search *search)
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)search->memory->pid);
    ssize_t size = readlink(link, search->program, sizeof(search->program) - 1);
    search->program[size < 0 ? 0 : size] = '\0';
    static const char deleted[] = " (deleted)";
    size_t length = strlen(search->program), tail = sizeof(deleted) - 1;
    if (length > tail && strcmp(search->program + length - tail, deleted) == 0)
        search->program[length - tail] = '\0';
}

/* The file as the process sees it: deleted, in a container or in a chroot. */
static bool open_candidate(const struct search *search, const struct candidate *candidate, bool all_symbols,
                           struct elf_file *file, struct error *error)
{
    char path[PATH_MAX + 64];
    int pid = (int)search->memory->pid;
    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    if (candidate->is_program && elf_file_copy(file, path, all_symbols, error))
        return true;
    snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, (unsigned long)candidate->start,
             (unsigned long)candidate->end);
    if (elf_file_copy(file, path, all_symbols, error))
        return true;
    snprintf(path, sizeof(path), "/proc/%d/root%s", pid, candidate->path);
    return elf_file_copy(file, path, all_symbols, error) ||
           elf_file_copy(file, candidate->path, all_symbols, error);
}

/* The load bias of the file whose first byte is mapped at `start`. */
static uint64_t find_bias(const struct elf_file *file, uint64_t start)
{
    struct elf_segment segment;
    for (uint32_t i = 0; elf_file_segment(file, i, &segment); i++) {
        if (segment.type == PT_LOAD)
            return start - (segment.address - segment.offset);
    }
    return start;
}

/* Link-time addresses; 0: not found. A binary without symbols still has the section, since 3.10. */
static uint64_t find_runtime(const struct elf_file *file)
{
    struct elf_symbol symbol;
    struct elf_section section;
    if (elf_file_find_symbol(file, "_PyRuntime", &symbol))
        return symbol.address;
    return elf_file_find_section(file, ".PyRuntime", &section) ? section.address : 0;
}

/* The version in the process or in paths; 0: unknown. */
static uint32_t find_version(struct search *search, const struct candidate *candidate,
                             uint64_t version_address)
{
    uint64_t value;
    if (version_address != 0 && process_memory_read_u64(search->memory, version_address, &value))
        return (uint32_t)(value >> 16 & 0xffff);
    uint32_t version = version_of_path(text_of(candidate->path));
    return version != 0 ? version : search->version_by_path;
}

static enum python_find_result find_layout(struct python_runtime *runtime, struct process_memory *memory,
                                           uint32_t version, struct error *error)
{
    unsigned char begin[PYTHON_DEBUG_OFFSETS_BYTES];
    enum memory_result result = process_memory_read(memory, runtime->address, begin, sizeof(begin));
    if (result != MEMORY_OK) {
        process_memory_explain(memory, result, error);
        return result == MEMORY_FAULT ? PYTHON_NOT_READY : PYTHON_FAILED;
    }
    if (python_layout_has_debug_offsets(begin))
        return python_layout_from_runtime(&runtime->layout, begin, error) ? PYTHON_FOUND : PYTHON_FAILED;
    if (version == 0) {
        error_set(error, ERROR_UNSUPPORTED, "process %d runs an unknown version of Python", (int)memory->pid);
        return PYTHON_FAILED;
    }
    return python_layout_of_version(&runtime->layout, version, error) ? PYTHON_FOUND : PYTHON_FAILED;
}

/* Usually the dynamic symbols are enough. */
static bool look_into_file(struct python_runtime *runtime, const struct search *search,
                           const struct candidate *candidate, bool all_symbols, uint64_t *version_address,
                           struct error *error)
{
    struct elf_file file;
    struct elf_symbol version;
    if (!open_candidate(search, candidate, all_symbols, &file, error))
        return false;
    uint64_t address = find_runtime(&file), bias = find_bias(&file, candidate->start);
    if (address != 0) {
        runtime->address = address + bias;
        *version_address = elf_file_find_symbol(&file, "Py_Version", &version) ? version.address + bias : 0;
    }
    elf_file_release(&file);
    return address != 0;
}

/* Up to 3.10 a thread state has pthread_self() only; glibc stores the kernel's thread id in that block, and the main
 * thread's id is the process id (in the process's namespace). */
static void find_thread_number_offset(struct python_runtime *runtime, struct process_memory *memory,
                                      uint64_t thread)
{
    uint64_t self;
    uint32_t words[256];
    if (runtime->layout.thread.native_thread_id != NO_OFFSET)
        return;
    /* The newest thread comes first. */
    uint64_t next = thread;
    for (unsigned i = 0; next != 0 && i < MOST_THREADS; i++) {
        thread = next;
        if (!process_memory_read_u64(memory, thread + runtime->layout.thread.next, &next))
            return;
    }
    if (!process_memory_read_u64(memory, thread + runtime->layout.thread.thread_id, &self) ||
        process_memory_read(memory, self, words, sizeof(words)) != MEMORY_OK)
        return;
    for (uint32_t i = 0; i < 256; i++) {
        if (words[i] == (uint32_t)memory->inner_pid) {
            runtime->thread_number_offset = 4 * i;
            return;
        }
    }
}

enum python_find_result python_runtime_check(const struct python_runtime *runtime,
                                             struct process_memory *memory, struct error *error)
{
    uint64_t interpreter = 0, thread = 0, back = 0;
    const struct python_layout *layout = &runtime->layout;
    enum memory_result result = process_memory_read(
        memory, runtime->address + layout->runtime.interpreters_head, &interpreter, sizeof(interpreter));
    if (result != MEMORY_OK) {
        process_memory_explain(memory, result, error);
        return result == MEMORY_FAULT ? PYTHON_NONE : PYTHON_FAILED;
    }
    if (interpreter == 0 ||
        !process_memory_read_u64(memory, interpreter + layout->interpreter.threads_head, &thread) ||
        thread == 0 || !process_memory_read_u64(memory, thread + layout->thread.interpreter, &back) ||
        back != interpreter) {
        error_set(error, ERROR_BAD_INPUT, "process %d: its Python has not started or has ended",
                  (int)memory->pid);
        return PYTHON_NOT_READY;
    }
    return PYTHON_FOUND;
}

/* The main interpreter is the oldest, and the newest comes first. */
static void finish_found(struct python_runtime *runtime, struct process_memory *memory)
{
    uint64_t interpreter = 0, thread, next;
    const struct python_layout *layout = &runtime->layout;
    if (!process_memory_read_u64(memory, runtime->address + layout->runtime.interpreters_head, &next))
        return;
    for (unsigned i = 0; next != 0 && i < MOST_INTERPRETERS; i++) {
        interpreter = next;
        if (!process_memory_read_u64(memory, interpreter + layout->interpreter.next, &next))
            return;
    }
    if (process_memory_read_u64(memory, interpreter + layout->interpreter.threads_head, &thread))
        find_thread_number_offset(runtime, memory, thread);
}

enum python_find_result python_runtime_find_at(struct python_runtime *runtime, struct process_memory *memory,
                                               uint64_t address, uint32_t version, struct error *error)
{
    *runtime = (struct python_runtime){.address = address};
    enum python_find_result result = find_layout(runtime, memory, version, error);
    if (result == PYTHON_FOUND)
        result = python_runtime_check(runtime, memory, error);
    if (result == PYTHON_FOUND)
        finish_found(runtime, memory);
    return result;
}

static enum python_find_result try_candidate(struct python_runtime *runtime, struct search *search,
                                             const struct candidate *candidate, struct error *error)
{
    uint64_t version_address = 0;
    *runtime = (struct python_runtime){.address = 0};
    if (!look_into_file(runtime, search, candidate, false, &version_address, error) &&
        !look_into_file(runtime, search, candidate, true, &version_address, error))
        return PYTHON_NONE;
    return python_runtime_find_at(runtime, search->memory, runtime->address,
                                  find_version(search, candidate, version_address), error);
}

enum python_find_result python_runtime_find(struct python_runtime *runtime, struct process_memory *memory,
                                            struct error *error)
{
    struct search search = {.memory = memory};
    read_program_path(&search);
    if (!find_candidates(&search, error))
        return PYTHON_FAILED;
    enum python_find_result best = PYTHON_NONE;
    struct error best_error;
    error_set(&best_error, ERROR_UNSUPPORTED, "process %d is not a Python process (%s)", (int)memory->pid,
              search.program[0] == '\0' ? "a kernel thread, a zombie, or not visible" : search.program);
    for (size_t i = 0; i < search.count; i++) {
        struct error own_error = {ERROR_NONE, ""};
        enum python_find_result result = try_candidate(runtime, &search, &search.candidates[i], &own_error);
        if (result == PYTHON_FOUND)
            return result;
        if (result != PYTHON_NONE && best != PYTHON_FAILED) {
            best = result;
            best_error = own_error;
        }
    }
    if (error != NULL)
        *error = best_error;
    return best;
}
