#include "processes/process_list.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text_builder.h"
#include "processes/process_arguments.h"
#include "processes/process_ports.h"

enum { ARENA_LIMIT_BYTES = 256 << 20, FILE_LIMIT_BYTES = 8 << 20 };

struct process_files {
    struct text_builder status, arguments, environment;
};

void process_list_init(struct process_list *list)
{
    *list = (struct process_list){.processes = NULL};
    arena_init(&list->arena, ARENA_LIMIT_BYTES);
}

void process_list_release(struct process_list *list)
{
    free(list->processes);
    arena_release(&list->arena);
    process_list_init(list);
}

static bool read_file(const char *folder, pid_t pid, const char *name, struct text_builder *builder)
{
    char path[512];
    text_builder_clear(builder);
    snprintf(path, sizeof(path), "%s/%d/%s", folder, (int)pid, name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    ssize_t size = -1;
    for (char *room; (room = text_builder_room(builder, 16384)) != NULL;) {
        size = read(descriptor, room, 16384);
        if (size <= 0)
            break;
        text_builder_took(builder, (size_t)size);
    }
    close(descriptor);
    return size == 0;
}

static const char *keep(struct process_list *list, struct text_view text)
{
    const char *copy = arena_copy_text(&list->arena, text).data;
    return copy == NULL ? "" : copy;
}

static struct text_view last_part(struct text_view path, char separator)
{
    size_t at = text_find_last_byte(path, separator);
    return at == TEXT_NOT_FOUND ? path : text_from(path, at + 1);
}

static bool is_python_name(struct text_view name)
{
    if (text_starts_with(name, TEXT("pypy")))
        return true;
    if (!text_starts_with(name, TEXT("python")))
        return false;
    for (size_t i = 6; i < name.size; i++)
        if (!isdigit((unsigned char)name.data[i]) && name.data[i] != '.' && name.data[i] != 't' &&
            name.data[i] != 'w')
            return false;
    return true;
}

/* By the program's file, else by its mapped files: custom launchers, embedded Python. */
static enum process_language find_language(const char *folder, pid_t pid, struct text_view arguments)
{
    char path[512], target[4096];
    snprintf(path, sizeof(path), "%s/%d/exe", folder, (int)pid);
    ssize_t size = readlink(path, target, sizeof(target));
    struct text_view program =
        size > 0 ? (struct text_view){target, (size_t)size} : text_cut(&arguments, '\0');
    struct text_view name = last_part(program, '/');
    if (text_equal(name, TEXT("java")))
        return PROCESS_JVM;
    if (is_python_name(name))
        return PROCESS_PYTHON;
    struct text_builder maps;
    text_builder_init(&maps, FILE_LIMIT_BYTES);
    enum process_language language = PROCESS_OTHER;
    if (read_file(folder, pid, "maps", &maps)) {
        struct text_view text = text_builder_view(&maps);
        if (text_find(text, TEXT("/libjvm.so")) != TEXT_NOT_FOUND)
            language = PROCESS_JVM;
        else if (text_find(text, TEXT("/libpython")) != TEXT_NOT_FOUND)
            language = PROCESS_PYTHON;
    }
    text_builder_release(&maps);
    return language;
}

static struct text_view status_value(struct text_view status, const char *name)
{
    while (status.size > 0) {
        struct text_view line = text_cut(&status, '\n');
        if (text_equal(text_cut(&line, ':'), text_of(name)))
            return text_trim(line);
    }
    return TEXT("");
}

static uint64_t status_number(struct text_view status, const char *name)
{
    uint64_t number = 0;
    struct text_view value = status_value(status, name);
    return text_to_u64(text_cut(&value, '\t'), &number) ? number : 0;
}

/* A static program must not load system libraries for user names. */
static const struct passwd *find_user(uid_t uid)
{
    if (getauxval(AT_BASE) != 0)
        return getpwuid(uid);
    FILE *stream = fopen("/etc/passwd", "re");
    const struct passwd *entry = NULL;
    while (stream != NULL && (entry = fgetpwent(stream)) != NULL && entry->pw_uid != uid) {
    }
    if (stream != NULL)
        fclose(stream);
    return entry;
}

static const char *user_name(struct process_list *list, uid_t uid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->processes[i].uid == uid)
            return list->processes[i].user;
    const struct passwd *entry = find_user(uid);
    char number[16];
    snprintf(number, sizeof(number), "%u", (unsigned)uid);
    return keep(list, text_of(entry == NULL ? number : entry->pw_name));
}

static enum spark_role role_of_class(struct text_view name)
{
    static const struct {
        const char *name;
        enum spark_role role;
    } classes[] = {
        {"org.apache.spark.deploy.SparkSubmit", SPARK_ROLE_DRIVER},
        {"org.apache.spark.deploy.worker.DriverWrapper", SPARK_ROLE_DRIVER},
        {"org.apache.spark.deploy.yarn.ApplicationMaster", SPARK_ROLE_DRIVER},
        {"org.apache.spark.deploy.yarn.ExecutorLauncher", SPARK_ROLE_APPLICATION_MASTER},
        {"org.apache.spark.executor.CoarseGrainedExecutorBackend", SPARK_ROLE_EXECUTOR},
        {"org.apache.spark.executor.YarnCoarseGrainedExecutorBackend", SPARK_ROLE_EXECUTOR},
        {"org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend", SPARK_ROLE_EXECUTOR},
        {"org.apache.spark.deploy.master.Master", SPARK_ROLE_MASTER},
        {"org.apache.spark.deploy.worker.Worker", SPARK_ROLE_WORKER},
        {"org.apache.spark.deploy.history.HistoryServer", SPARK_ROLE_HISTORY_SERVER},
        {"org.apache.spark.deploy.ExternalShuffleService", SPARK_ROLE_SHUFFLE_SERVICE},
        {"org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", SPARK_ROLE_SERVER},
        {"org.apache.spark.sql.connect.service.SparkConnectServer", SPARK_ROLE_SERVER},
    };
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (text_equal(name, text_of(classes[i].name)))
            return classes[i].role;
    return SPARK_ROLE_NONE;
}

static struct text_view first_of(struct text_view first, struct text_view second)
{
    return first.size > 0 ? first : second;
}

/* spark-submit runs the servers too: "--class …HiveThriftServer2". */
static enum spark_role role_of_jvm(struct text_view main_class, struct text_view arguments)
{
    enum spark_role role = role_of_class(main_class);
    if (role == SPARK_ROLE_DRIVER && role_of_class(argument_after(arguments, "--class")) == SPARK_ROLE_SERVER)
        return SPARK_ROLE_SERVER;
    return role;
}

static void describe_jvm(struct process_list *list, struct process *process,
                         const struct process_files *files)
{
    char room[64];
    struct text_view arguments = text_builder_view(&files->arguments);
    struct text_view environment = text_builder_view(&files->environment);
    struct text_view main_class = java_main_class(arguments);
    process->main_class = keep(list, main_class);
    process->role = role_of_jvm(main_class, arguments);
    struct text_view name = argument_after(arguments, "--class");
    process->name =
        process->role == SPARK_ROLE_NONE || name.size == 0 ? process->main_class : keep(list, name);
    if (process->role == SPARK_ROLE_NONE)
        return;
    struct text_view application = argument_after(arguments, "--app-id");
    application = first_of(application, argument_value(arguments, "-D", "spark.app.id"));
    application = first_of(application, argument_value(environment, "", "SPARK_APPLICATION_ID"));
    application = first_of(application,
                           application_of_container(argument_value(environment, "", "CONTAINER_ID"), room));
    process->application = keep(list, application);
    if (process->role == SPARK_ROLE_EXECUTOR) {
        process->executor = keep(list, argument_after(arguments, "--executor-id"));
        process->driver_port = port_of_address(argument_after(arguments, "--driver-url"));
    } else if (process->role == SPARK_ROLE_DRIVER || process->role == SPARK_ROLE_SERVER) {
        process->executor = "driver";
    }
}

static void describe_python(struct process_list *list, struct process *process,
                            const struct process_files *files)
{
    bool is_module;
    struct text_view program = python_program(text_builder_view(&files->arguments), &is_module);
    process->main_class = keep(list, program);
    process->name = keep(list, is_module ? program : last_part(program, '/'));
    if (is_module && text_starts_with(program, TEXT("pyspark.daemon")))
        process->role = SPARK_ROLE_PYTHON_DAEMON;
    else if (is_module && text_starts_with(program, TEXT("pyspark.worker")))
        process->role = SPARK_ROLE_PYTHON_WORKER;
}

static bool add_process(struct process_list *list, const char *folder, pid_t pid, struct process_files *files)
{
    if (!read_file(folder, pid, "status", &files->status) ||
        !read_file(folder, pid, "cmdline", &files->arguments) || files->arguments.size == 0)
        return true; /* ended, or of the kernel */
    struct text_view status = text_builder_view(&files->status);
    struct process process = {.pid = pid, .application = "", .executor = "", .main_class = "", .name = ""};
    process.language = find_language(folder, pid, text_builder_view(&files->arguments));
    if (process.language == PROCESS_OTHER || status_value(status, "State").data[0] == 'Z')
        return true;
    if (!array_reserve(&list->processes, &list->capacity, list->count + 1, PROCESS_LIMIT)) {
        list->left_out++;
        return list->count == PROCESS_LIMIT;
    }
    process.parent = (pid_t)status_number(status, "PPid");
    process.uid = (uid_t)status_number(status, "Uid");
    process.user = user_name(list, process.uid);
    read_file(folder, pid, "environ", &files->environment);
    if (process.language == PROCESS_JVM)
        describe_jvm(list, &process, files);
    else
        describe_python(list, &process, files);
    list->processes[list->count++] = process;
    return true;
}

static int compare_pids(const void *left_pointer, const void *right_pointer)
{
    const struct process *left = left_pointer, *right = right_pointer;
    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static struct process *find(const struct process_list *list, pid_t pid)
{
    struct process key = {.pid = pid};
    if (list->count == 0)
        return NULL;
    return bsearch(&key, list->processes, list->count, sizeof(key), compare_pids);
}

static void inherit(struct process *process, const struct process *from)
{
    if (process->application[0] == '\0')
        process->application = from->application;
    if (process->executor[0] == '\0')
        process->executor = from->executor;
}

/* Workers forked by a daemon have its command line; a Python parent or child of the driver's JVM belongs to the
 * driver. */
static void relate(struct process_list *list, struct process *process)
{
    struct process *parent = find(list, process->parent);
    bool runs_driver = process->role == SPARK_ROLE_DRIVER || process->role == SPARK_ROLE_SERVER;
    if (parent == NULL)
        return;
    if (runs_driver && parent->language == PROCESS_PYTHON &&
        (parent->role == SPARK_ROLE_NONE || parent->role == SPARK_ROLE_PYTHON_DRIVER)) {
        parent->role = SPARK_ROLE_PYTHON_DRIVER;
        inherit(parent, process);
    }
    if (process->language != PROCESS_PYTHON)
        return;
    if (process->role == SPARK_ROLE_PYTHON_DAEMON &&
        (parent->role == SPARK_ROLE_PYTHON_DAEMON || parent->role == SPARK_ROLE_PYTHON_WORKER))
        process->role = SPARK_ROLE_PYTHON_WORKER;
    else if (process->role == SPARK_ROLE_NONE && parent->role == SPARK_ROLE_DRIVER)
        process->role = SPARK_ROLE_PYTHON_DRIVER;
    if (process->role != SPARK_ROLE_NONE)
        inherit(process, parent);
}

/* A driver's command line does not contain its application id; executors that connect to its port have it. */
static void name_driver(struct process_list *list, const char *folder, struct process *driver)
{
    uint16_t tried = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct process *executor = &list->processes[i];
        if (executor->driver_port == 0 || executor->driver_port == tried || executor->application[0] == '\0')
            continue;
        tried = executor->driver_port;
        if (process_listens(folder, driver->pid, tried)) {
            driver->application = executor->application;
            return;
        }
    }
}

static void name_drivers(struct process_list *list, const char *folder)
{
    for (size_t i = 0; i < list->count; i++) {
        struct process *process = &list->processes[i];
        bool is_driver = process->role == SPARK_ROLE_DRIVER || process->role == SPARK_ROLE_SERVER;
        if (is_driver && process->language == PROCESS_JVM && process->application[0] == '\0')
            name_driver(list, folder, process);
    }
}

static bool read_folder(struct process_list *list, const char *folder, struct process_files *files,
                        struct error *error)
{
    DIR *stream = opendir(folder);
    uint64_t pid;
    bool good = true;
    if (stream == NULL)
        return error_set_system(error, "%s", folder);
    for (const struct dirent *entry; good && (entry = readdir(stream)) != NULL;)
        if (text_to_u64(text_of(entry->d_name), &pid) && pid <= INT32_MAX && pid != (uint64_t)getpid())
            good = add_process(list, folder, (pid_t)pid, files);
    closedir(stream);
    return good || error_set_memory(error);
}

bool process_list_read(struct process_list *list, const char *folder, struct error *error)
{
    struct process_files files;
    text_builder_init(&files.status, FILE_LIMIT_BYTES);
    text_builder_init(&files.arguments, FILE_LIMIT_BYTES);
    text_builder_init(&files.environment, FILE_LIMIT_BYTES);
    bool good = read_folder(list, folder, &files, error);
    text_builder_release(&files.status);
    text_builder_release(&files.arguments);
    text_builder_release(&files.environment);
    if (list->count > 0)
        qsort(list->processes, list->count, sizeof(list->processes[0]), compare_pids);
    name_drivers(list, folder);
    /* A child may have a smaller PID than its parent, so inherited values may come late. */
    for (unsigned round = 0; round < 3; round++)
        for (size_t i = 0; i < list->count; i++)
            relate(list, &list->processes[i]);
    return good;
}

const char *spark_role_name(enum spark_role role)
{
    static const char *const names[] = {"",
                                        "driver",
                                        "executor",
                                        "python-driver",
                                        "python-daemon",
                                        "python-worker",
                                        "application-master",
                                        "master",
                                        "worker",
                                        "history-server",
                                        "server",
                                        "shuffle-service"};
    return names[role];
}

const char *process_language_name(enum process_language language)
{
    static const char *const names[] = {"other", "jvm", "python"};
    return names[language];
}

bool process_matches(const struct process *process, const char *pattern)
{
    struct text_view text = text_of(pattern), executor = TEXT("executor ");
    uint64_t pid;
    if (text_to_u64(text, &pid))
        return pid == (uint64_t)process->pid;
    if (text_starts_with(text, executor))
        return text_equal(text_from(text, executor.size), text_of(process->executor));
    if (process->role != SPARK_ROLE_NONE && strcmp(spark_role_name(process->role), pattern) == 0)
        return true;
    if (process->application[0] != '\0' && strcmp(process->application, pattern) == 0)
        return true;
    return text.size > 0 &&
           (text_equal(text, text_of(process->name)) || text_equal(text, text_of(process->main_class)) ||
            text_equal(text, last_part(text_of(process->name), '.')) ||
            text_equal(text, last_part(text_of(process->main_class), '/')));
}
