#include "formats/perf_data/perf_data_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "symbols/vdso.h"

#define KERNEL_PID UINT32_MAX
#define KERNEL_PATH TEXT("[kernel.kallsyms]")
#define BUILD_ID_BYTES 20
#define MOST_NAMES ((size_t)1 << 22)

bool perf_data_names_init(struct perf_data_names *names, const struct perf_data_file *file,
                          struct error *error)
{
    *names = (struct perf_data_names){.file = file};
    id_map_init(&names->comms);
    id_map_init(&names->places);
    id_map_init(&names->module_numbers);
    id_map_init(&names->build_ids);
    symbol_table_init(&names->kernel);
    return string_table_init(&names->strings, (size_t)1 << 30) || error_set_memory(error);
}

void perf_data_names_release(struct perf_data_names *names)
{
    for (size_t i = 0; i < names->process_count; i++) {
        code_ranges_release(&names->processes[i].ranges);
        perf_map_release(&names->processes[i].generated);
    }
    for (size_t i = 0; i < names->module_count; i++) {
        unwind_table_release(&names->modules[i].unwind);
        symbol_table_release(&names->modules[i].symbols);
        elf_file_release(&names->modules[i].file);
    }
    free(names->processes);
    free(names->modules);
    symbol_table_release(&names->kernel);
    string_table_release(&names->strings);
    id_map_release(&names->comms);
    id_map_release(&names->places);
    id_map_release(&names->module_numbers);
    id_map_release(&names->build_ids);
}

/* NULL: out of memory. */
static struct perf_data_process *find_process(struct perf_data_names *names, uint32_t pid)
{
    uint32_t *place = id_map_place(&names->places, pid);
    if (place == NULL)
        return NULL;
    if (*place != NO_ID)
        return &names->processes[*place];
    *place = 0;
    if (!array_reserve(&names->processes, &names->process_capacity, names->process_count + 1, MOST_NAMES))
        return NULL;
    *place = (uint32_t)names->process_count;
    struct perf_data_process *process = &names->processes[names->process_count++];
    *process = (struct perf_data_process){.pid = pid};
    perf_map_init(&process->generated);
    return process;
}

/* ---- records ---- */

static bool set_comm(struct perf_data_names *names, uint32_t tid, struct text_view comm)
{
    uint32_t number = string_table_add(&names->strings, comm);
    return number != NO_STRING && id_map_set(&names->comms, tid, number);
}

static void forget_ranges(struct perf_data_names *names, struct perf_data_process *process)
{
    names->range_count -= process->ranges.count;
    process->ranges.count = 0;
}

static bool add_range(struct perf_data_names *names, struct perf_data_process *process,
                      const struct code_range *range)
{
    bool changed = false;
    size_t before = process->ranges.count;
    if (names->range_count >= PERF_DATA_RANGE_LIMIT)
        return true; /* code there has no names */
    if (!code_ranges_insert(&process->ranges, range, &changed))
        return false;
    names->range_count += process->ranges.count - before; /* may be fewer */
    return true;
}

static bool apply_comm(struct perf_data_names *names, const struct perf_data_record *record)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    uint32_t pid = perf_data_take_u32(&cursor), tid = perf_data_take_u32(&cursor);
    if (cursor.failed)
        return true;
    struct perf_data_process *process = find_process(names, pid);
    if (process == NULL)
        return false;
    if (record->header.misc & PERF_RECORD_MISC_COMM_EXEC)
        forget_ranges(names, process);
    return set_comm(names, tid, perf_data_take_text(&cursor));
}

static bool apply_fork(struct perf_data_names *names, const struct perf_data_record *record)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    uint32_t pid = perf_data_take_u32(&cursor), parent_pid = perf_data_take_u32(&cursor);
    uint32_t tid = perf_data_take_u32(&cursor), parent_tid = perf_data_take_u32(&cursor);
    uint32_t comm = id_map_get(&names->comms, parent_tid);
    if (cursor.failed)
        return true;
    if (comm != NO_ID && !id_map_set(&names->comms, tid, comm))
        return false;
    if (pid == parent_pid)
        return true;
    struct perf_data_process *child = find_process(names, pid);
    struct perf_data_process *parent = child == NULL ? NULL : find_process(names, parent_pid);
    if (parent == NULL)
        return false;
    child = find_process(names, pid); /* the table may have moved */
    forget_ranges(names, child);
    if (names->range_count + parent->ranges.count > PERF_DATA_RANGE_LIMIT)
        return true;
    names->range_count += parent->ranges.count;
    return code_ranges_copy(&child->ranges, &parent->ranges);
}

/* Of the kernel only where it lies is of use: the last number is the address of its symbol "_text". */
static void note_kernel(struct perf_data_names *names, struct text_view path, uint64_t start,
                        uint64_t reference)
{
    bool is_core = text_starts_with(path, KERNEL_PATH);
    if (is_core && names->kernel_reference == 0)
        names->kernel_reference = reference != 0 ? reference : start;
}

static bool add_module(struct perf_data_names *names, struct text_view path, struct text_view build_id,
                       uint32_t *module)
{
    *module = NO_FILE;
    if (path.size == 0 || text_starts_with(path, TEXT("//")) ||
        (path.data[0] != '/' && !text_equal(path, TEXT("[vdso]"))))
        return true;
    uint32_t number = string_table_add(&names->strings, path);
    uint32_t *place = number == NO_STRING ? NULL : id_map_place(&names->module_numbers, number);
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&names->modules, &names->module_capacity, names->module_count + 1, MOST_NAMES))
            return false;
        *place = (uint32_t)names->module_count;
        struct perf_data_module *added = &names->modules[names->module_count++];
        *added = (struct perf_data_module){.path = path, .build_id = build_id};
        symbol_table_init(&added->symbols);
        unwind_table_init(&added->unwind);
    }
    *module = *place;
    return true;
}

/* MMAP has no protection; MMAP2 has it, and either device and inode or a build-id. */
static bool apply_mapping(struct perf_data_names *names, const struct perf_data_record *record,
                          bool is_second)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    struct code_range range = {.file = NO_FILE};
    struct text_view build_id = {"", 0};
    uint32_t pid = perf_data_take_u32(&cursor);
    bool is_code = true;
    (void)perf_data_take_u32(&cursor);
    range.start = perf_data_take_u64(&cursor);
    uint64_t size = perf_data_take_u64(&cursor);
    range.end = size > UINT64_MAX - range.start ? UINT64_MAX : range.start + size;
    range.offset = perf_data_take_u64(&cursor);
    if (is_second) {
        struct text_view identity = perf_data_take(&cursor, 24);
        is_code = (perf_data_take_u32(&cursor) & PROT_EXEC) != 0;
        (void)perf_data_take_u32(&cursor);
        if (!cursor.failed && (record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
            identity.data[0] == BUILD_ID_BYTES)
            build_id = text_part(identity, 4, BUILD_ID_BYTES);
    } else {
        is_code = (record->header.misc & PERF_RECORD_MISC_MMAP_DATA) == 0;
    }
    struct text_view path = perf_data_take_text(&cursor);
    if (cursor.failed || !is_code)
        return true;
    if (pid == KERNEL_PID) {
        note_kernel(names, path, range.start, range.offset);
        return true;
    }
    struct perf_data_process *process = find_process(names, pid);
    return process != NULL && add_module(names, path, build_id, &range.file) &&
           add_range(names, process, &range);
}

bool perf_data_names_apply(struct perf_data_names *names, const struct perf_data_record *record)
{
    switch (record->header.type) {
    case PERF_RECORD_COMM:
        return apply_comm(names, record);
    case PERF_RECORD_FORK:
        return apply_fork(names, record);
    case PERF_RECORD_MMAP:
        return apply_mapping(names, record, false);
    case PERF_RECORD_MMAP2:
        return apply_mapping(names, record, true);
    default:
        return true;
    }
}

struct text_view perf_data_comm(struct perf_data_names *names, uint32_t tid)
{
    static _Thread_local char unknown[16];
    uint32_t number = id_map_get(&names->comms, tid);
    if (number != NO_ID)
        return string_table_text(&names->strings, number);
    if (tid == 0)
        return TEXT("swapper");
    snprintf(unknown, sizeof(unknown), ":%u", tid);
    return text_of(unknown);
}

/* ---- functions ---- */

static bool same_kernel(const struct perf_data_names *names)
{
    struct utsname here;
    return names->file->release[0] != '\0' && uname(&here) == 0 &&
           strcmp(here.release, names->file->release) == 0;
}

static void read_kernel(struct perf_data_names *names)
{
    names->read_kernel = true;
    if (!same_kernel(names) || !symbol_table_load_kallsyms(&names->kernel, "/proc/kallsyms", NULL, NULL)) {
        symbol_table_release(&names->kernel);
        return;
    }
    for (size_t i = 0; i < names->kernel.count && names->kernel_reference != 0; i++) {
        const char *name = symbol_table_name(&names->kernel, &names->kernel.symbols[i]);
        if (strcmp(name, "_text") == 0 || strcmp(name, "_stext") == 0) { /* both are the start of the code */
            names->kernel_shift = names->kernel_reference - names->kernel.symbols[i].address;
            break;
        }
    }
}

/* The build-ids that the recorder noted at the end: records of a header, a process's number, 20 bytes of build-id and 4
 * more, and the path. Without memory, some are not known. */
static void read_build_ids(struct perf_data_names *names)
{
    struct perf_event_header header;
    struct text_view all = names->file->build_ids, rest = all;
    names->read_build_ids = true;
    while (rest.size >= sizeof(header)) {
        memcpy(&header, rest.data, sizeof(header));
        if (header.size < sizeof(header) || header.size > rest.size)
            break;
        struct perf_data_cursor cursor = {.rest =
                                              text_part(rest, sizeof(header), header.size - sizeof(header))};
        (void)perf_data_take_u32(&cursor);
        size_t place = (size_t)(cursor.rest.data - all.data);
        (void)perf_data_take(&cursor, 24);
        uint32_t path =
            cursor.failed ? NO_STRING : string_table_add(&names->strings, perf_data_take_text(&cursor));
        if (path != NO_STRING && place < UINT32_MAX && !id_map_set(&names->build_ids, path, (uint32_t)place))
            break;
        rest = text_from(rest, header.size);
    }
}

static struct text_view noted_build_id(struct perf_data_names *names, struct text_view path)
{
    if (!names->read_build_ids)
        read_build_ids(names);
    uint32_t number = string_table_add(&names->strings, path);
    uint32_t place = number == NO_STRING ? NO_ID : id_map_get(&names->build_ids, number);
    return place == NO_ID ? (struct text_view){"", 0}
                          : text_part(names->file->build_ids, place, BUILD_ID_BYTES);
}

static bool is_recorded_file(struct perf_data_names *names, const struct perf_data_module *module)
{
    struct text_view own,
        recorded = module->build_id.size > 0 ? module->build_id : noted_build_id(names, module->path);
    return recorded.size == 0 || !elf_file_build_id(&module->file, &own) || text_starts_with(recorded, own);
}

static void open_module(struct perf_data_names *names, struct perf_data_module *module)
{
    char path[4096];
    module->was_tried = true;
    snprintf(path, sizeof(path), "%.*s", TEXT_FORMAT(module->path));
    if (path[0] == '[')
        module->is_open = same_kernel(names) && vdso_open(&module->file);
    else
        module->is_open = elf_file_copy_code(&module->file, path, NULL);
    if (!module->is_open)
        return;
    module->is_open =
        is_recorded_file(names, module) &&
        symbol_table_load(&module->symbols, &module->file, path[0] == '/' ? path : NULL, "", NULL);
    if (!module->is_open) {
        symbol_table_release(&module->symbols);
        elf_file_release(&module->file);
    }
}

struct perf_data_location perf_data_locate(const struct perf_data_names *names, uint32_t pid,
                                           uint64_t address, bool is_kernel)
{
    struct perf_data_location location = {
        .is_kernel = is_kernel, .pid = pid, .module = NO_FILE, .address = address};
    uint32_t place = is_kernel ? NO_ID : id_map_get(&names->places, pid);
    const struct code_range *range =
        place == NO_ID ? NULL : code_ranges_find(&names->processes[place].ranges, address);
    location.is_generated = range != NULL && range->file == NO_FILE;
    if (range == NULL || location.is_generated)
        return location;
    location.module = range->file;
    location.start = range->start;
    location.offset = range->offset;
    location.address = address - range->start + range->offset;
    return location;
}

static bool find_generated(struct perf_data_names *names, const struct perf_data_location *location,
                           struct text_view *function)
{
    uint32_t place = id_map_get(&names->places, location->pid);
    if (place == NO_ID)
        return false;
    struct perf_data_process *process = &names->processes[place];
    if (!process->read_generated) {
        process->read_generated = true;
        if (!perf_map_read_recorded(&process->generated, location->pid))
            return false;
    }
    return perf_map_find(&process->generated, location->address, function);
}

/* NULL: the file is not here. *address is as linked. */
static struct perf_data_module *find_module(struct perf_data_names *names,
                                            const struct perf_data_location *location, uint64_t *address)
{
    uint64_t bias;
    struct perf_data_module *module = &names->modules[location->module];
    if (!module->was_tried)
        open_module(names, module);
    if (!module->is_open || !elf_file_bias(&module->file, location->start, location->offset, &bias))
        return NULL;
    *address = location->start - location->offset + location->address - bias;
    return module;
}

static bool find_function(struct perf_data_names *names, const struct perf_data_location *location,
                          struct symbol_match *match)
{
    uint64_t address;
    const struct perf_data_module *module = find_module(names, location, &address);
    return module != NULL && symbol_table_find(&module->symbols, address, match);
}

const struct unwind_rule *perf_data_rule(struct perf_data_names *names,
                                         const struct perf_data_location *location)
{
    uint64_t address;
    struct perf_data_module *module =
        location->module == NO_FILE ? NULL : find_module(names, location, &address);
    if (module == NULL)
        return NULL;
    if (!module->has_unwind) {
        const struct elf_file *debug_file =
            module->symbols.source == SYMBOLS_DEBUG_FILE ? &module->symbols.debug_file : NULL;
        module->has_unwind = true;
        if (!unwind_table_load_both(&module->unwind, &module->file, debug_file, NULL)) {
            unwind_table_release(&module->unwind);
            unwind_table_init(&module->unwind);
        }
    }
    return unwind_table_find(&module->unwind, address);
}

void perf_data_name(struct perf_data_names *names, const struct perf_data_location *location,
                    struct text_view *function, struct text_view *module)
{
    struct symbol_match match = {.name = "[unknown]"};
    *module = (struct text_view){"", 0};
    if (location->is_kernel) {
        if (!names->read_kernel)
            read_kernel(names);
        (void)symbol_table_find(&names->kernel, location->address - names->kernel_shift, &match);
        *module = KERNEL_PATH;
    } else if (location->module != NO_FILE) {
        (void)find_function(names, location, &match);
        *module = names->modules[location->module].path;
    } else if (location->is_generated) {
        snprintf(names->generated_path, sizeof(names->generated_path), "/tmp/perf-%u.map", location->pid);
        *module = text_of(names->generated_path);
        if (find_generated(names, location, function))
            return;
    }
    *function = text_of(match.name);
}
