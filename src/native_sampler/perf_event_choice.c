#include "native_sampler/perf_event_choice.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "native_sampler/tracefs.h"

struct known_event {
    const char *name;
    uint32_t type;
    uint64_t config;
};

static const struct known_event known[] = {
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
};

/* "L1-dcache" and "-load-misses"; what follows from the kernel's order of numbers. */
static const struct known_event caches[] = {
    {"L1-dcache", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D},
    {"L1-icache", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1I},
    {"LLC", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL},
    {"dTLB", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB},
    {"iTLB", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB},
    {"branch", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_BPU},
    {"node", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE},
};

#define CACHE(operation, result) \
    ((uint64_t)PERF_COUNT_HW_CACHE_OP_##operation << 8 | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct known_event cache_parts[] = {
    {"-loads", 0, CACHE(READ, ACCESS)},          {"-load-misses", 0, CACHE(READ, MISS)},
    {"-stores", 0, CACHE(WRITE, ACCESS)},        {"-store-misses", 0, CACHE(WRITE, MISS)},
    {"-prefetches", 0, CACHE(PREFETCH, ACCESS)}, {"-prefetch-misses", 0, CACHE(PREFETCH, MISS)},
};

const struct perf_event_choice perf_event_cpu = {
    .name = "cpu", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .is_clock = true};

static bool find_known(struct perf_event_choice *choice, struct text_view name)
{
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (!text_equal(name, text_of(known[i].name)))
            continue;
        choice->type = known[i].type;
        choice->config = known[i].config;
        return true;
    }
    return false;
}

static bool find_cache(struct perf_event_choice *choice, struct text_view name)
{
    for (size_t i = 0; i < COUNT_OF(caches); i++) {
        struct text_view cache = text_of(caches[i].name);
        for (size_t j = 0; text_starts_with(name, cache) && j < COUNT_OF(cache_parts); j++) {
            if (!text_equal(text_from(name, cache.size), text_of(cache_parts[j].name)))
                continue;
            choice->type = PERF_TYPE_HW_CACHE;
            choice->config = caches[i].config | cache_parts[j].config;
            return true;
        }
    }
    return false;
}

/* "r1a8": the processor's own number. */
static bool find_raw(struct perf_event_choice *choice, struct text_view name)
{
    choice->type = PERF_TYPE_RAW;
    return text_starts_with(name, TEXT("r")) && text_to_hex64(text_from(name, 1), &choice->config);
}

static bool is_plain_name(struct text_view name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '_' || c == '-';
        if (!is_plain)
            return false;
    }
    return name.size > 0;
}

/* The kernel's number of a tracepoint. */
static bool read_tracepoint(struct perf_event_choice *choice, struct text_view system, struct text_view event,
                            struct error *error)
{
    char path[PERF_EVENT_NAME_BYTES + 32], line[32];
    choice->type = PERF_TYPE_TRACEPOINT;
    snprintf(path, sizeof(path), "events/%.*s/%.*s/id", TEXT_FORMAT(system), TEXT_FORMAT(event));
    int reason = tracefs_read(path, line, sizeof(line));
    if (reason == 0 && text_to_u64(text_trim(text_of(line)), &choice->config))
        return true;
    if (reason == EACCES || reason == EPERM)
        return error_set(error, ERROR_UNSUPPORTED,
                         "tracepoint %s: /sys/kernel/tracing may not be read by this user", choice->name);
    if (reason == ENODEV)
        return error_set(error, ERROR_UNSUPPORTED,
                         "tracepoint %s: tracefs is not mounted (mount -t tracefs tracefs "
                         "/sys/kernel/tracing)",
                         choice->name);
    return error_set(error, ERROR_UNSUPPORTED, "tracepoint %s: this kernel has none of that name",
                     choice->name);
}

/* "u" and "k" at the end: only code of programs, only of the kernel. Others, as of precision, are not known. */
static bool cut_modifiers(struct perf_event_choice *choice, struct text_view *name)
{
    size_t colon = text_find_last_byte(*name, ':');
    if (colon == TEXT_NOT_FOUND)
        return true;
    struct text_view modifiers = text_from(*name, colon + 1);
    bool wants_user = false, wants_kernel = false;
    for (size_t i = 0; i < modifiers.size; i++) {
        if (modifiers.data[i] != 'u' && modifiers.data[i] != 'k')
            return false;
        wants_user |= modifiers.data[i] == 'u';
        wants_kernel |= modifiers.data[i] == 'k';
    }
    if (modifiers.size == 0)
        return false;
    choice->excludes_kernel = !wants_kernel;
    choice->excludes_user = !wants_user;
    *name = text_part(*name, 0, colon);
    return true;
}

static void describe(struct perf_event_choice *choice)
{
    bool is_software = choice->type == PERF_TYPE_SOFTWARE;
    choice->is_clock = is_software && (choice->config == PERF_COUNT_SW_CPU_CLOCK ||
                                       choice->config == PERF_COUNT_SW_TASK_CLOCK);
    bool is_tracepoint = choice->type == PERF_TYPE_TRACEPOINT;
    choice->is_of_kernel = is_software && (choice->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                           choice->config == PERF_COUNT_SW_CPU_MIGRATIONS);
    choice->is_of_kernel |= is_tracepoint;
    choice->is_of_hardware = !is_software && !is_tracepoint;
}

static bool find_event(struct perf_event_choice *choice, struct text_view name, struct error *error)
{
    size_t colon = text_find_byte(name, ':');
    if (colon != TEXT_NOT_FOUND) {
        struct text_view system = text_part(name, 0, colon), event = text_from(name, colon + 1);
        if (is_plain_name(system) && is_plain_name(event) && !find_known(choice, system) &&
            !find_cache(choice, system) && !find_raw(choice, system))
            return read_tracepoint(choice, system, event, error);
    }
    if (cut_modifiers(choice, &name) &&
        (find_known(choice, name) || find_cache(choice, name) || find_raw(choice, name)))
        return true;
    return error_set(error, ERROR_USAGE,
                     "unknown event \"%s\" of native programs: cpu, wall, offcpu, or as \"perf list\" names "
                     "them: page-faults, cycles, r1a8, sched:sched_switch, with :u or :k",
                     choice->name);
}

bool perf_event_choice_parse(struct perf_event_choice *choice, struct text_view name, struct error *error)
{
    if (text_equal(name, TEXT("cpu"))) {
        *choice = perf_event_cpu;
        return true;
    }
    *choice = (struct perf_event_choice){.config = 0};
    if (name.size >= sizeof(choice->name))
        return error_set(error, ERROR_USAGE, "the name of the event is too long");
    memcpy(choice->name, name.data, name.size);
    if (!find_event(choice, name, error))
        return false;
    describe(choice);
    return true;
}
