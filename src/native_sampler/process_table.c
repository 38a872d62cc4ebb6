#include "native_sampler/process_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_view.h"

#define MOST_PROCESSES ((size_t)1 << 22) /* the kernel's limit of numbers */
#define KEEP_EXITED_NS INT64_C(2000000000)
#define SWEEP_NS INT64_C(1000000000)
#define FIELDS_BEFORE_THREADS 17 /* in /proc/PID/stat, from the state on */

/* Those that have exited may have samples in the rings until they are forgotten. */
enum target_state { TARGET_RUNS, TARGET_EXITED, TARGET_FORGOTTEN };

void process_table_init(struct process_table *table, struct profile *profile)
{
    *table = (struct process_table){.profile = profile};
    program_files_init(&table->files);
    id_map_init(&table->places);
    id_map_init(&table->thread_names);
    id_map_init(&table->targets);
}

void process_table_release(struct process_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        process_image_release(table->images[i]);
        free(table->images[i]);
    }
    free(table->images);
    program_files_release(&table->files);
    id_map_release(&table->places);
    id_map_release(&table->thread_names);
    id_map_release(&table->targets);
    process_table_init(table, table->profile);
}

bool process_table_add_target(struct process_table *table, pid_t pid)
{
    return id_map_set(&table->targets, (uint64_t)pid, TARGET_RUNS);
}

bool process_table_is_target(const struct process_table *table, pid_t pid)
{
    uint32_t state = id_map_get(&table->targets, (uint64_t)pid);
    return table->whole_machine ? pid > 0 : state == TARGET_RUNS || state == TARGET_EXITED;
}

/* A zombie still has its number. Where only the first thread has ended, others run. */
static bool is_running(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *stream = fopen(path, "re");
    bool good = stream != NULL && fgets(line, sizeof(line), stream) != NULL;
    if (stream != NULL)
        fclose(stream);
    const char *end = good ? strrchr(line, ')') : NULL;
    if (end == NULL || end[1] != ' ' || end[2] == 'X')
        return false;
    uint64_t threads;
    struct text_view rest = text_of(end + 2);
    for (int i = 0; i < FIELDS_BEFORE_THREADS; i++)
        (void)text_cut(&rest, ' ');
    return end[2] != 'Z' || (text_to_u64(text_cut(&rest, ' '), &threads) && threads > 1);
}

size_t process_table_live(struct process_table *table)
{
    size_t live = table->whole_machine;
    for (size_t i = 0; table->targets.slots != NULL && i <= table->targets.mask; i++) {
        struct id_map_slot *slot = &table->targets.slots[i];
        if (slot->value != TARGET_RUNS)
            continue;
        bool runs = is_running((pid_t)slot->key);
        slot->value = runs ? TARGET_RUNS : TARGET_EXITED;
        live += runs;
    }
    return live;
}

static struct process_image *find_image(const struct process_table *table, pid_t pid)
{
    uint32_t place = id_map_get(&table->places, (uint64_t)pid);
    return place == NO_ID ? NULL : table->images[place];
}

static struct process_image *add_image(struct process_table *table, pid_t pid)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression)
    if (!array_reserve(&table->images, &table->capacity, table->count + 1, MOST_PROCESSES))
        return NULL;
    struct process_image *image = malloc(sizeof(*image));
    if (image == NULL || !id_map_set(&table->places, (uint64_t)pid, (uint32_t)table->count)) {
        free(image);
        return NULL;
    }
    process_image_init(image, pid);
    table->images[table->count++] = image;
    return image;
}

struct process_image *process_table_image(struct process_table *table, pid_t pid, int64_t now_ns)
{
    struct process_image *image = find_image(table, pid);
    if (image != NULL && !image->was_swept)
        return image;
    if (image != NULL)
        process_image_release(image); /* the number is used again */
    else
        image = add_image(table, pid);
    if (image != NULL)
        process_image_refresh(image, &table->files, now_ns);
    return image;
}

/* "" when it has exited already. */
static uint32_t read_name(struct process_table *table, pid_t pid, pid_t tid)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return profile_string(table->profile, TEXT(""));
    if (fgets(name, sizeof(name), stream) == NULL)
        name[0] = '\0';
    fclose(stream);
    return profile_string(table->profile, text_trim(text_of(name)));
}

static bool set_name(struct process_table *table, pid_t tid, uint32_t name)
{
    return name != NO_STRING && id_map_set(&table->thread_names, (uint64_t)tid, name);
}

uint32_t process_table_thread_name(struct process_table *table, pid_t pid, pid_t tid)
{
    uint32_t name = id_map_get(&table->thread_names, (uint64_t)tid);
    if (name != NO_ID)
        return name;
    name = read_name(table, pid, tid);
    return set_name(table, tid, name) ? name : NO_STRING;
}

/* The name is the parent's until it is set. */
static bool apply_start(struct process_table *table, const struct perf_record *record, int64_t now_ns)
{
    uint32_t name = process_table_thread_name(table, record->parent_pid, record->parent_tid);
    if (!set_name(table, record->tid, name))
        return false;
    if (record->pid == record->parent_pid)
        return true;
    if (table->follow_children && process_table_is_target(table, record->parent_pid) &&
        !process_table_add_target(table, record->pid))
        return false;
    if (!process_table_is_target(table, record->pid))
        return true;
    const struct process_image *parent = process_table_image(table, record->parent_pid, now_ns);
    struct process_image *image = find_image(table, record->pid);
    if (image != NULL)
        process_image_release(image); /* the number is used again */
    else
        image = add_image(table, record->pid);
    return image != NULL && parent != NULL && process_image_copy(image, parent);
}

/* Other threads may outlive the first. */
static void apply_exit(struct process_table *table, const struct perf_record *record)
{
    struct process_image *image = find_image(table, record->pid);
    if (record->pid == record->tid && image != NULL)
        image->exited_ns = record->time_ns;
}

static bool apply_name(struct process_table *table, const struct perf_record *record)
{
    struct process_image *image = find_image(table, record->pid);
    if (record->is_exec && image != NULL)
        process_image_release(image);
    return set_name(table, record->tid, profile_string(table->profile, record->name));
}

static bool apply_mapping(struct process_table *table, const struct perf_record *record, int64_t now_ns)
{
    struct process_image *image = process_table_image(table, record->pid, now_ns);
    return image != NULL && process_image_map(image, &table->files, &record->mapping);
}

bool process_table_apply(struct process_table *table, const struct perf_record *record, int64_t now_ns)
{
    if (record->kind == PERF_KIND_START)
        return apply_start(table, record, now_ns);
    if (!process_table_is_target(table, record->pid))
        return true;
    switch (record->kind) {
    case PERF_KIND_NAME:
        return apply_name(table, record);
    case PERF_KIND_EXIT:
        apply_exit(table, record);
        return true;
    case PERF_KIND_MAPPING:
        return !record->mapping.executable || apply_mapping(table, record, now_ns);
    default:
        return true;
    }
}

void process_table_sweep(struct process_table *table, int64_t now_ns)
{
    if (now_ns - table->swept_ns < SWEEP_NS)
        return;
    table->swept_ns = now_ns;
    for (size_t i = 0; i < table->count; i++) {
        struct process_image *image = table->images[i];
        if (image->exited_ns == 0 || image->was_swept || now_ns - image->exited_ns < KEEP_EXITED_NS ||
            is_running(image->pid))
            continue;
        process_image_release(image);
        image->was_swept = true;
        uint32_t *state = id_map_find(&table->targets, (uint64_t)image->pid);
        if (state != NULL)
            *state = TARGET_FORGOTTEN;
    }
}
