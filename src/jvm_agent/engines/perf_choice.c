#include "jvm_agent/engines/perf_choice.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "jvm_agent/vm/native_symbols.h"

#define CACHE_MISS(cache)                                             \
    ((uint64_t)(cache) | (uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8 | \
     (uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

struct named_event {
    const char *name;
    uint32_t type;
    uint64_t config;
    uint64_t interval;
};

static const struct named_event events[] = {
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000000},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 10000000},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000000},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 1000000},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1000},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000000},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 1000},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 1000000},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 1000000},
    {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_L1D), 1000000},
    {"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_LL), 1000},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_DTLB), 1000},
};

void perf_choice_list(struct text_builder *text)
{
    for (size_t i = 0; i < COUNT_OF(events); i++)
        text_builder_format(text, "  %s\n", events[i].name);
}

static bool find_named(struct perf_choice *choice, const char *event)
{
    for (size_t i = 0; i < COUNT_OF(events); i++)
        if (strcmp(events[i].name, event) == 0) {
            choice->type = events[i].type;
            choice->config = events[i].config;
            choice->default_interval = events[i].interval;
            choice->is_clock =
                events[i].type == PERF_TYPE_SOFTWARE &&
                (events[i].config == PERF_COUNT_SW_CPU_CLOCK || events[i].config == PERF_COUNT_SW_TASK_CLOCK);
            return true;
        }
    return false;
}

/* The first line of a small file. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool read = file != NULL && fgets(line, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (read)
        line[strcspn(line, "\n")] = 0;
    return read;
}

static bool read_number(const char *path, uint64_t *number)
{
    char line[64];
    return read_line(path, line, sizeof(line)) && text_to_u64(text_of(line), number);
}

static bool is_plain_name(const char *name)
{
    return name[0] != 0 && strstr(name, "..") == NULL && strchr(name, '/') == NULL;
}

/* Tracepoint ids are in a file system that is mounted in one of two places. */
static bool find_tracepoint(struct perf_choice *choice, const char *event, struct error *error)
{
    static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    const char *colon = strchr(event, ':');
    char path[512];
    choice->type = PERF_TYPE_TRACEPOINT;
    choice->default_interval = 1;
    if (strncmp(event, "trace:", 6) == 0 && text_to_u64(text_of(event + 6), &choice->config))
        return true;
    for (size_t i = 0; is_plain_name(event) && i < COUNT_OF(folders); i++) {
        snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", folders[i], (int)(colon - event), event,
                 colon + 1);
        if (read_number(path, &choice->config))
            return true;
    }
    return error_set(error, ERROR_UNSUPPORTED,
                     "Perf events unavailable: there is no tracepoint %s, or tracefs is not mounted", event);
}

/* Puts a value into the bits of "config:8-15"; fields of several bit ranges are not supported. */
static bool put_format_bits(const char *format, uint64_t value, struct perf_choice *choice)
{
    unsigned low = 0;
    if (sscanf(format, "config:%u", &low) == 1 && low < 64)
        choice->config |= value << low;
    else if (sscanf(format, "config1:%u", &low) == 1 && low < 64)
        choice->config1 |= value << low;
    else if (sscanf(format, "config2:%u", &low) == 1 && low < 64)
        choice->config2 |= value << low;
    else
        return false;
    return true;
}

static bool put_term(struct perf_choice *choice, const char *unit, struct text_view term)
{
    char path[512], format[128];
    uint64_t value = 1;
    size_t equals = text_find_byte(term, '=');
    struct text_view name = equals == TEXT_NOT_FOUND ? term : text_part(term, 0, equals);
    if (equals != TEXT_NOT_FOUND) {
        struct text_view number = text_from(term, equals + 1);
        bool hexadecimal = text_starts_with(number, TEXT("0x"));
        if (!(hexadecimal ? text_to_hex64(text_from(number, 2), &value) : text_to_u64(number, &value)))
            return false;
    }
    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%.*s", unit, TEXT_FORMAT(name));
    return read_line(path, format, sizeof(format)) && put_format_bits(format, value, choice);
}

/* "unit/event/" or "unit/term=1,term2=2/": defined by files in the unit's folder. */
static bool find_unit_event(struct perf_choice *choice, const char *event, struct error *error)
{
    char unit[64], path[512], terms[256];
    uint64_t type;
    const char *slash = strchr(event, '/');
    snprintf(unit, sizeof(unit), "%.*s", (int)(slash - event), event);
    snprintf(terms, sizeof(terms), "%s", slash + 1);
    terms[strcspn(terms, "/")] = 0;
    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", unit);
    if (!is_plain_name(unit) || !read_number(path, &type))
        return error_set(error, ERROR_UNSUPPORTED, "Perf events unavailable: this machine has no PMU %s",
                         unit);
    choice->type = (uint32_t)type;
    choice->default_interval = 1000;
    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", unit, terms);
    if (is_plain_name(terms) && read_line(path, terms, sizeof(terms)))
        terms[strcspn(terms, "\n")] = 0;
    struct text_view rest = text_of(terms);
    while (rest.size > 0) {
        /* A list within an argument string cannot contain commas. */
        size_t end = strcspn(rest.data, ",+");
        if (!put_term(choice, unit, text_part(rest, 0, end)))
            return error_set(error, ERROR_USAGE, "%s: PMU %s has no event or term %.*s", event, unit,
                             (int)end, rest.data);
        rest = text_from(rest, end < rest.size ? end + 1 : end);
    }
    return true;
}

static uint32_t access_of(const char *text)
{
    uint32_t access = 0;
    for (; *text != 0; text++)
        access |= *text == 'r' ? HW_BREAKPOINT_R : *text == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_X;
    return access;
}

static bool set_breakpoint(struct perf_choice *choice, const char *place, uint32_t access,
                           struct error *error)
{
    uint64_t address;
    struct text_view text = text_of(place);
    if (!(text_starts_with(text, TEXT("0x")) && text_to_hex64(text_from(text, 2), &address)))
        address = native_symbols_find(place);
    if (address == 0)
        return error_set(error, ERROR_USAGE, "no library in this process has a function %s", place);
    choice->type = PERF_TYPE_BREAKPOINT;
    choice->config = 0;
    choice->config1 = address;
    choice->config2 = access == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_8;
    choice->breakpoint_type = access;
    choice->default_interval = 1;
    return true;
}

/* "mem:0x7f00:rw", "mem:symbol". */
static bool find_memory(struct perf_choice *choice, const char *event, struct error *error)
{
    char place[256];
    const char *colon = strrchr(event + 4, ':');
    bool has_access =
        colon != NULL && colon[1] != 0 && strspn(colon + 1, "rwx") == strlen(colon + 1) && colon[-1] != ':';
    snprintf(place, sizeof(place), "%.*s", has_access ? (int)(colon - event - 4) : 255, event + 4);
    return set_breakpoint(choice, place, has_access ? access_of(colon + 1) : HW_BREAKPOINT_X, error);
}

static bool find_probe(struct perf_choice *choice, const char *event, struct error *error)
{
    const char *colon = strchr(event, ':');
    bool kernel = event[0] == 'k', at_return = strncmp(event + 1, "ret", 3) == 0;
    uint64_t type;
    if (!read_number(kernel ? "/sys/bus/event_source/devices/kprobe/type"
                            : "/sys/bus/event_source/devices/uprobe/type",
                     &type))
        return error_set(error, ERROR_UNSUPPORTED, "Perf events unavailable: this kernel has no %.*s events",
                         (int)(colon - event), event);
    choice->type = (uint32_t)type;
    choice->config = at_return;
    choice->default_interval = 1;
    const char *target = colon + 1, *offset = kernel ? NULL : strrchr(target, '+');
    if (offset != NULL &&
        !text_to_hex64(text_of(offset + (strncmp(offset, "+0x", 3) == 0 ? 3 : 1)), &choice->config2))
        return error_set(error, ERROR_USAGE, "%s: uprobe:FILE+OFFSET", event);
    snprintf(choice->probe, sizeof(choice->probe), "%.*s",
             offset == NULL ? (int)strlen(target) : (int)(offset - target), target);
    return true;
}

static bool is_probe(const char *event)
{
    return strncmp(event, "kprobe:", 7) == 0 || strncmp(event, "kretprobe:", 10) == 0 ||
           strncmp(event, "uprobe:", 7) == 0 || strncmp(event, "uretprobe:", 10) == 0;
}

static bool find_raw(struct perf_choice *choice, const char *event)
{
    if (event[0] != 'r' || strlen(event) > 17 || !text_to_hex64(text_of(event + 1), &choice->config))
        return false;
    choice->type = PERF_TYPE_RAW;
    choice->default_interval = 1000;
    return true;
}

static bool find_event(struct perf_choice *choice, const char *event, struct error *error)
{
    const char *colon = strchr(event, ':');
    if (find_named(choice, event) || find_raw(choice, event))
        return true;
    if (strncmp(event, "mem:", 4) == 0)
        return find_memory(choice, event, error);
    if (is_probe(event))
        return find_probe(choice, event, error);
    if (strchr(event, '/') != NULL)
        return find_unit_event(choice, event, error);
    if (colon != NULL && colon[1] != ':')
        return find_tracepoint(choice, event, error);
    if (!set_breakpoint(choice, event, HW_BREAKPOINT_X, error))
        return error_set(error, ERROR_USAGE, "unknown event %s; see `list`", event);
    return true;
}

bool perf_choice_make(struct perf_choice *choice, const char *event, struct error *error)
{
    memset(choice, 0, sizeof(*choice));
    snprintf(choice->name, sizeof(choice->name), "%s", event);
    if (!find_event(choice, event, error))
        return false;
    choice->unit = choice->is_clock ? "ns" : "events";
    return true;
}
