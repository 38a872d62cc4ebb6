/* What stands in the way of profiling one process. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "commands/doctor/doctor.h"
#include "jvm_attach/attach.h"
#include "python_sampler/python_process.h"
#include "symbols/module_map.h"

static void check_flag(struct doctor *doctor, const struct jvm_process *process, const char *flag,
                       const char *when_off)
{
    char fix[128];
    snprintf(fix, sizeof(fix), "start the JVM with -XX:+UnlockDiagnosticVMOptions -XX:+%s", flag);
    if (jvm_process_flag(process, flag, false))
        doctor_say(doctor, DOCTOR_GOOD, flag, NULL, "on");
    else
        doctor_say(doctor, DOCTOR_LIMITED, flag, fix, "off: %s", when_off);
}

static void check_agent_loading(struct doctor *doctor, const struct jvm_process *process)
{
    if (!jvm_process_flag(process, "EnableDynamicAgentLoading", true))
        doctor_say(
            doctor, DOCTOR_BAD, "loading agents",
            "restart without -XX:-EnableDynamicAgentLoading, or start with -agentpath:libsparkflame.so=…",
            "switched off by -XX:-EnableDynamicAgentLoading");
    else
        doctor_say(doctor, DOCTOR_GOOD, "loading agents", NULL, "allowed");
}

static void check_attach(struct doctor *doctor, const struct jvm_process *process)
{
    struct error error = {0};
    if (attach_check(process, &error))
        doctor_say(doctor, DOCTOR_GOOD, "attach", NULL, "possible%s",
                   process->inner_pid != process->pid ? ", into its container" : "");
    else
        doctor_say(doctor, DOCTOR_BAD, "attach", NULL, "%s", error.message);
}

static void check_perf_data(struct doctor *doctor, const struct jvm_process *process)
{
    if (!jvm_process_flag(process, "UsePerfData", true) ||
        jvm_process_flag(process, "PerfDisableSharedMem", false))
        doctor_say(doctor, DOCTOR_LIMITED, "UsePerfData",
                   "start the JVM without -XX:-UsePerfData and -XX:+PerfDisableSharedMem",
                   "off: jps and jstat do not see this JVM; sparkflame does");
    else
        doctor_say(doctor, DOCTOR_GOOD, "UsePerfData", NULL, "on");
}

/* A folder for the agent's library, if the target cannot see ours. */
static void check_folders(struct doctor *doctor, const struct jvm_process *process)
{
    static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm"};
    char path[PATH_MAX];
    struct statvfs status;
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        snprintf(path, sizeof(path), "/proc/%d/root%s", (int)process->pid, folders[i]);
        if (statvfs(path, &status) == 0 && (status.f_flag & (ST_NOEXEC | ST_RDONLY)) == 0 &&
            access(path, W_OK) == 0) {
            doctor_say(doctor, DOCTOR_GOOD, "agent's place", NULL, "its %s can take the library", folders[i]);
            return;
        }
    }
    doctor_say(doctor, DOCTOR_LIMITED, "agent's place",
               "mount a writable /tmp without noexec, or put libsparkflame.so into its image",
               "its /tmp, /var/tmp and /dev/shm are read-only, noexec or not writable for this user");
}

static void check_libjvm(struct doctor *doctor, pid_t pid)
{
    struct module_map map;
    module_map_init(&map, pid);
    if (module_map_refresh(&map, NULL)) {
        for (struct module *module = map.modules; module != NULL; module = module->next) {
            if (strcmp(module->name, "libjvm.so") != 0 || !module_load_symbols(&map, module, NULL))
                continue;
            bool full =
                module->symbols.source == SYMBOLS_SYMTAB || module->symbols.source == SYMBOLS_DEBUG_FILE;
            doctor_say(doctor, full ? DOCTOR_GOOD : DOCTOR_LIMITED, "libjvm symbols",
                       full ? NULL : "install the JDK's debug symbols (Debian: openjdk-NN-dbg)", "%s: %s",
                       module->path,
                       full ? "complete" : "exported names only, so GC and compiler frames have few names");
            break;
        }
    }
    module_map_release(&map);
}

static void check_jvm(struct doctor *doctor, const struct jvm_process *process)
{
    check_attach(doctor, process);
    if (process->kind != JVM_HOTSPOT)
        return;
    check_agent_loading(doctor, process);
    check_flag(
        doctor, process, "DebugNonSafepoints",
        "samples before the agent was loaded, or by other tools, may fall on the next safepoint's line");
    check_perf_data(doctor, process);
    check_folders(doctor, process);
    check_libjvm(doctor, process->pid);
}

static void check_python(struct doctor *doctor, pid_t pid)
{
    struct error error = {0};
    enum python_find_result found;
    struct python_process *python = python_process_new(pid, &found, &error);
    if (python != NULL)
        doctor_say(doctor, DOCTOR_GOOD, "Python", NULL, "%u.%u, its stacks can be read%s",
                   python->runtime.layout.version >> 8, python->runtime.layout.version & 0xff,
                   python->memory.inner_pid != pid ? ", into its container" : "");
    else if (found == PYTHON_NONE)
        doctor_say(doctor, DOCTOR_BAD, "program", NULL, "neither a JVM nor a Python process");
    else
        doctor_say(doctor, DOCTOR_BAD, "Python", NULL, "%s", error.message);
    python_process_free(python);
}

/* For a process that cannot be read, the first argument decides; it is usually right. */
static bool seems_python(struct jvm_process *process)
{
    struct text_view program = text_of(text_builder_c_string(&process->command_line));
    size_t slash = text_find_last_byte(program, '/');
    return text_starts_with(slash == TEXT_NOT_FOUND ? program : text_from(program, slash + 1),
                            TEXT("python"));
}

bool doctor_process(struct doctor *doctor, pid_t pid, struct error *error)
{
    struct jvm_process process;
    bool good = jvm_process_read(&process, pid, error);
    if (good) {
        bool same = process.uid == geteuid();
        doctor_say(doctor, same || geteuid() == 0 ? DOCTOR_GOOD : DOCTOR_BAD, "user",
                   same || geteuid() == 0 ? NULL : "run as that user or as root",
                   "process %d runs as user %d, this command as %d", (int)pid, (int)process.uid,
                   (int)geteuid());
        if (process.kind == JVM_NONE && (process.maps_readable || seems_python(&process)))
            check_python(doctor, pid);
        else
            check_jvm(doctor, &process);
    }
    jvm_process_release(&process);
    return good;
}
