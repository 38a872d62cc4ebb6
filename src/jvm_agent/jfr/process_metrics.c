#include "jvm_agent/jfr/process_metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/times.h>
#include <unistd.h>

#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "jvm_agent/vm/java_heap.h"

static _Atomic uint64_t gc_count, gc_ns;

void process_metrics_gc(uint64_t duration_ns)
{
    atomic_fetch_add(&gc_count, 1);
    atomic_fetch_add(&gc_ns, duration_ns);
}

static bool read_text(const char *path, char *text, size_t size)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : read(descriptor, text, size - 1);
    if (descriptor >= 0)
        close(descriptor);
    text[got < 0 ? 0 : got] = 0;
    return got > 0;
}

struct process_state {
    struct process_usage usage;
    uint64_t machine_ticks, machine_idle_ticks;
    uint64_t read_bytes, written_bytes;
};

static uint64_t read_resident(const char *path)
{
    char text[256];
    unsigned long long pages = 0;
    if (read_text(path, text, sizeof(text)))
        sscanf(text, "%*u %llu", &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool process_usage_read(pid_t pid, struct process_usage *usage)
{
    char path[64], text[2048];
    unsigned long long user = 0, system = 0, threads = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    const char *after_name = read_text(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
    if (after_name == NULL || after_name[1] == 0 || after_name[2] == 'Z')
        return false;
    sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %llu",
           &user, &system, &threads);
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    *usage = (struct process_usage){user, system, threads, read_resident(path)};
    return true;
}

/* Not from /proc/self/stat: the kernel would sum up the threads for each of its figures. */
static void read_own_usage(struct process_usage *usage)
{
    struct tms used;
    times(&used);
    usage->user_ticks = (uint64_t)used.tms_utime;
    usage->system_ticks = (uint64_t)used.tms_stime;
    usage->threads = thread_watch_number();
    usage->resident_bytes = read_resident("/proc/self/statm");
}

static void read_machine(struct process_state *state)
{
    char text[4096];
    unsigned long long parts[8] = {0};
    if (!read_text("/proc/stat", text, sizeof(text)))
        return;
    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &parts[0], &parts[1], &parts[2], &parts[3],
           &parts[4], &parts[5], &parts[6], &parts[7]);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        state->machine_ticks += parts[i];
    state->machine_idle_ticks = parts[3] + parts[4];
}

static void read_transfers(struct process_state *state)
{
    char text[1024];
    unsigned long long count = 0;
    if (!read_text("/proc/self/io", text, sizeof(text)))
        return;
    const char *line = strstr(text, "read_bytes:");
    if (line != NULL && sscanf(line, "read_bytes: %llu", &count) == 1)
        state->read_bytes = count;
    line = strstr(text, "write_bytes:");
    if (line != NULL && sscanf(line, "write_bytes: %llu", &count) == 1)
        state->written_bytes = count;
}

static float part_of(uint64_t part, uint64_t whole)
{
    float share = whole == 0 ? 0 : (float)part / (float)whole;
    return share > 1 ? 1 : share;
}

static void put_load(const struct process_metrics *before, const struct process_state *now,
                     struct text_builder *bytes, uint64_t now_ns)
{
    uint64_t machine = now->machine_ticks - before->machine_ticks;
    uint64_t idle = now->machine_idle_ticks - before->machine_idle_ticks;
    size_t begin = jfr_event_begin(bytes, JFR_CPU_LOAD);
    jfr_put_time(bytes, now_ns);
    jfr_put_float(bytes, part_of(now->usage.user_ticks - before->user_ticks, machine));
    jfr_put_float(bytes, part_of(now->usage.system_ticks - before->system_ticks, machine));
    jfr_put_float(bytes, part_of(machine - (idle < machine ? idle : machine), machine));
    jfr_event_end(bytes, begin);
}

static void put_metrics(const struct process_state *now, struct text_builder *bytes, uint64_t now_ns)
{
    struct java_heap heap = {0};
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    java_heap_read(&heap);
    size_t begin = jfr_event_begin(bytes, JFR_METRICS);
    jfr_put_time(bytes, now_ns);
    jfr_put_number(bytes, heap.used_bytes);
    jfr_put_number(bytes, heap.committed_bytes);
    jfr_put_number(bytes, heap.limit_bytes);
    jfr_put_number(bytes, atomic_load(&gc_count));
    jfr_put_number(bytes, atomic_load(&gc_ns));
    jfr_put_number(bytes, now->usage.user_ticks * tick_ns);
    jfr_put_number(bytes, now->usage.system_ticks * tick_ns);
    jfr_put_number(bytes, now->usage.resident_bytes);
    jfr_put_number(bytes, now->usage.threads);
    jfr_put_number(bytes, now->read_bytes);
    jfr_put_number(bytes, now->written_bytes);
    jfr_event_end(bytes, begin);
}

void process_metrics_write(struct process_metrics *metrics, struct text_builder *bytes, uint64_t now_ns)
{
    struct process_state now = {0};
    read_own_usage(&now.usage);
    read_machine(&now);
    read_transfers(&now);
    if (metrics->taken_ns != 0)
        put_load(metrics, &now, bytes, now_ns);
    put_metrics(&now, bytes, now_ns);
    *metrics = (struct process_metrics){now.usage.user_ticks, now.usage.system_ticks, now.machine_ticks,
                                        now.machine_idle_ticks, now_ns};
}
