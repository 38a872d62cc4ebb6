#include "jvm_agent/jfr/jfr_facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/redaction.h"
#include "base/redaction_patterns.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "jvm_agent/labels/tags.h"
#include "jvm_agent/output/frame_text.h"
#include "jvm_agent/jfr/secret_patterns.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/native_modules.h"

#define FACT_LIMIT_BYTES ((size_t)4 << 20)

static void put_setting(struct text_builder *bytes, uint64_t time_ns, uint32_t type, const char *name,
                        struct text_view value)
{
    size_t begin = jfr_event_begin(bytes, JFR_ACTIVE_SETTING);
    jfr_put_time(bytes, time_ns);
    jfr_put_number(bytes, type);
    jfr_put_text(bytes, text_of(name));
    jfr_put_text(bytes, value);
    jfr_event_end(bytes, begin);
}

static void put_number_setting(struct text_builder *bytes, uint64_t time_ns, uint32_t type, const char *name,
                               uint64_t value)
{
    char text[24];
    size_t size = text_format_u64(text, value);
    put_setting(bytes, time_ns, type, name, (struct text_view){text, size});
}

static void put_settings(struct text_builder *bytes, uint64_t time_ns, const struct arguments *arguments,
                         const struct event_plan *plan)
{
    put_setting(bytes, time_ns, JFR_ACTIVE_RECORDING, "version", TEXT(SPARKFLAME_VERSION));
    put_setting(bytes, time_ns, JFR_ACTIVE_RECORDING, "clock", TEXT("monotonic"));
    put_setting(bytes, time_ns, JFR_ACTIVE_RECORDING, "event",
                text_of(arguments->event == NULL ? "" : arguments->event));
    if (plan->execution != NULL) {
        put_setting(bytes, time_ns, JFR_ACTIVE_RECORDING, "engine", text_of(plan->execution->name));
        put_setting(bytes, time_ns, JFR_EXECUTION_SAMPLE, "enabled", TEXT("true"));
        put_number_setting(bytes, time_ns, JFR_EXECUTION_SAMPLE, "interval",
                           plan->execution_settings.interval_ns);
    }
    if (plan->wall != NULL)
        put_number_setting(bytes, time_ns, JFR_EXECUTION_SAMPLE, "wall", plan->wall_settings.interval_ns);
    if (plan->allocations)
        put_number_setting(bytes, time_ns, JFR_ALLOCATION, "alloc", plan->allocation_bytes);
    if (plan->locks)
        put_number_setting(bytes, time_ns, JFR_MONITOR_ENTER, "lock", plan->lock_ns);
}

static void put_recording(struct text_builder *bytes, uint64_t time_ns, const char *path)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t begin = jfr_event_begin(bytes, JFR_ACTIVE_RECORDING);
    jfr_put_time(bytes, time_ns);
    jfr_put_number(bytes, 1);
    jfr_put_text(bytes, TEXT("sparkflame " SPARKFLAME_VERSION));
    jfr_put_text(bytes, text_of(path));
    jfr_put_number(bytes, INT64_MAX);
    jfr_put_number(bytes, 0);
    jfr_put_number(bytes, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
    jfr_put_number(bytes, INT64_MAX);
    jfr_event_end(bytes, begin);
}

static void put_machine(struct text_builder *bytes, uint64_t time_ns)
{
    struct utsname name;
    char text[1024];
    if (uname(&name) != 0)
        return;
    snprintf(text, sizeof(text), "%s %s %s %s", name.sysname, name.release, name.version, name.machine);
    size_t begin = jfr_event_begin(bytes, JFR_OS_INFORMATION);
    jfr_put_time(bytes, time_ns);
    jfr_put_text(bytes, text_of(text));
    jfr_event_end(bytes, begin);
    uint64_t processors = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    begin = jfr_event_begin(bytes, JFR_CPU_INFORMATION);
    jfr_put_time(bytes, time_ns);
    jfr_put_text(bytes, text_of(name.machine));
    jfr_put_text(bytes, TEXT(""));
    jfr_put_number(bytes, 1);
    jfr_put_number(bytes, processors);
    jfr_put_number(bytes, processors);
    jfr_event_end(bytes, begin);
}

/* Replaces a value if its name or content looks like a secret, by our rules or the application's own patterns. */
static void add_hidden(struct text_builder *text, const struct redaction_patterns *patterns,
                       struct text_view key, struct text_view value)
{
    struct text_builder name, known, shown;
    text_builder_init(&name, FACT_LIMIT_BYTES);
    text_builder_init(&known, FACT_LIMIT_BYTES);
    text_builder_init(&shown, FACT_LIMIT_BYTES);
    text_builder_add(&name, key);
    if (!redaction_apply(value, &known))
        text_builder_add(&known, value);
    const char *rest = text_builder_c_string(&known);
    bool failed = name.failed || known.failed;
    bool hidden = failed || redaction_hides(key) ||
                  redaction_patterns_hide(patterns, text_builder_c_string(&name), rest);
    if (!hidden)
        redaction_patterns_apply(patterns, rest, &shown);
    text_builder_add(text, hidden || shown.failed ? REDACTED : text_builder_view(&shown));
    text_builder_release(&name);
    text_builder_release(&known);
    text_builder_release(&shown);
}

/* "-Dkey=value", "key=value" after "--conf" and similar. */
static void add_argument(struct text_builder *text, const struct redaction_patterns *patterns,
                         struct text_view argument)
{
    size_t equals = text_find_byte(argument, '=');
    bool has_key =
        equals != TEXT_NOT_FOUND && text_find(text_part(argument, 0, equals), TEXT("://")) == TEXT_NOT_FOUND;
    size_t begin = has_key ? equals + 1 : 0;
    if (text->size > 0)
        text_builder_add_byte(text, ' ');
    text_builder_add(text, text_part(argument, 0, begin));
    add_hidden(text, patterns, text_part(argument, 0, has_key ? equals : 0), text_from(argument, begin));
}

static struct text_view read_command_line(char *buffer, size_t size)
{
    int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : read(descriptor, buffer, size);
    if (descriptor >= 0)
        close(descriptor);
    return (struct text_view){buffer, got < 0 ? 0 : (size_t)got};
}

/* A secret may also be the next argument: "--password x". */
static void command_line(const struct redaction_patterns *patterns, struct text_builder *options,
                         struct text_builder *program)
{
    char buffer[16384];
    struct text_view rest = read_command_line(buffer, sizeof(buffer));
    bool hide_next = false, in_program = false;
    text_cut(&rest, '\0');
    while (rest.size > 0) {
        struct text_view argument = text_cut(&rest, '\0');
        bool dashed = argument.size > 0 && argument.data[0] == '-';
        in_program = in_program || !dashed;
        add_argument(in_program ? program : options, patterns, hide_next && !dashed ? REDACTED : argument);
        hide_next = dashed && text_find_byte(argument, '=') == TEXT_NOT_FOUND && redaction_hides(argument);
    }
}

static void add_property(struct text_builder *text, const char *key)
{
    char *value = NULL;
    if ((*java_vm.tools)->GetSystemProperty(java_vm.tools, key, &value) != JVMTI_ERROR_NONE || value == NULL)
        return;
    text_builder_add_c_string(text, value);
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)value);
}

static void put_built(struct text_builder *bytes, struct text_builder *text)
{
    jfr_put_text(bytes, text_builder_view(text));
    text_builder_clear(text);
}

static void put_machine_of_java(struct text_builder *bytes, uint64_t time_ns,
                                const struct redaction_patterns *patterns)
{
    struct text_builder text, program;
    text_builder_init(&text, 1 << 16);
    text_builder_init(&program, 1 << 16);
    size_t begin = jfr_event_begin(bytes, JFR_JVM_INFORMATION);
    jfr_put_time(bytes, time_ns);
    add_property(&text, "java.vm.name");
    put_built(bytes, &text);
    add_property(&text, "java.vm.version");
    put_built(bytes, &text);
    command_line(patterns, &text, &program);
    put_built(bytes, &text);
    jfr_put_text(bytes, TEXT(""));
    put_built(bytes, &program);
    jfr_put_number(bytes, 0);
    jfr_put_number(bytes, (uint64_t)getpid());
    jfr_event_end(bytes, begin);
    text_builder_release(&text);
    text_builder_release(&program);
}

static void put_property(struct text_builder *bytes, uint64_t time_ns, const char *key,
                         const struct redaction_patterns *patterns)
{
    char *value = NULL;
    struct text_builder shown;
    if ((*java_vm.tools)->GetSystemProperty(java_vm.tools, key, &value) != JVMTI_ERROR_NONE || value == NULL)
        return;
    text_builder_init(&shown, FACT_LIMIT_BYTES);
    add_hidden(&shown, patterns, text_of(key), text_of(value));
    size_t begin = jfr_event_begin(bytes, JFR_SYSTEM_PROPERTY);
    jfr_put_time(bytes, time_ns);
    jfr_put_text(bytes, text_of(key));
    put_built(bytes, &shown);
    jfr_event_end(bytes, begin);
    text_builder_release(&shown);
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)value);
}

static void put_properties(struct text_builder *bytes, uint64_t time_ns,
                           const struct redaction_patterns *patterns)
{
    jint count = 0;
    char **keys = NULL;
    if ((*java_vm.tools)->GetSystemProperties(java_vm.tools, &count, &keys) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        /* It may contain arguments that were replaced above. */
        if (strcmp(keys[i], "sun.java.command") != 0)
            put_property(bytes, time_ns, keys[i], patterns);
        (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)keys[i]);
    }
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)keys);
}

static void put_libraries(struct text_builder *bytes, uint64_t time_ns)
{
    native_modules_lock();
    const struct module_index *index = native_modules.index;
    for (size_t i = 0; index != NULL && i < index->count; i++) {
        size_t begin = jfr_event_begin(bytes, JFR_NATIVE_LIBRARY);
        jfr_put_time(bytes, time_ns);
        jfr_put_text(bytes, text_of(index->ranges[i].module->path));
        jfr_put_number(bytes, index->ranges[i].start);
        jfr_put_number(bytes, index->ranges[i].end);
        jfr_event_end(bytes, begin);
    }
    native_modules_unlock();
}

static void put_labels(struct text_builder *bytes, uint64_t time_ns, const char *labels)
{
    size_t begin = jfr_event_begin(bytes, JFR_RECORDING_LABELS);
    jfr_put_time(bytes, time_ns);
    jfr_put_text(bytes, text_of(labels));
    jfr_event_end(bytes, begin);
}

void jfr_facts_write(struct text_builder *bytes, uint64_t time_ns, const struct arguments *arguments,
                     const struct event_plan *plan, const char *path)
{
    if (arguments->labels != NULL)
        put_labels(bytes, time_ns, arguments->labels);
    put_recording(bytes, time_ns, path);
    put_settings(bytes, time_ns, arguments, plan);
    put_machine(bytes, time_ns);
}

void jfr_facts_write_process(struct text_builder *bytes, uint64_t time_ns)
{
    if (java_vm.tools != NULL) {
        struct redaction_patterns patterns;
        secret_patterns_read(&patterns);
        put_machine_of_java(bytes, time_ns, &patterns);
        put_properties(bytes, time_ns, &patterns);
        redaction_patterns_release(&patterns);
    }
    put_libraries(bytes, time_ns);
}

static void add_reason(struct text_builder *reasons, const char *name, uint64_t count)
{
    if (count > 0)
        text_builder_format(reasons, "%s%s=%llu", reasons->size > 0 ? " " : "", name,
                            (unsigned long long)count);
}

void jfr_facts_write_statistics(struct text_builder *bytes, uint64_t time_ns, const struct jfr_drops *drops)
{
    struct text_builder reasons;
    uint64_t failed = 0;
    text_builder_init(&reasons, 4096);
    for (uint32_t i = 0; i < FRAME_ERRORS; i++) {
        uint64_t count = atomic_load(&sampler.failed[i]);
        failed += count;
        add_reason(&reasons, frame_error_text(i), count);
    }
    add_reason(&reasons, "dropped_names", drops->names + thread_names_refused() + tags_refused());
    add_reason(&reasons, "unwritten", drops->samples);
    size_t begin = jfr_event_begin(bytes, JFR_STATISTICS);
    jfr_put_time(bytes, time_ns);
    jfr_put_number(bytes, atomic_load(&sampler.signals));
    jfr_put_number(bytes, atomic_load(&sampler.samples));
    jfr_put_number(bytes, failed);
    jfr_put_number(bytes, atomic_load(&sampler.ring.dropped) + atomic_load(&sampler.busy) +
                              atomic_load(&sampler.late) + atomic_load(&sampler.unknown_thread) +
                              drops->samples);
    jfr_put_number(bytes, fault_guard_count());
    jfr_put_number(bytes, atomic_load(&sampler.handler_ns));
    jfr_put_number(bytes, atomic_load(&sampler.writer_ns));
    jfr_put_number(bytes, sampler_table_bytes());
    put_built(bytes, &reasons);
    jfr_event_end(bytes, begin);
    text_builder_release(&reasons);
}
