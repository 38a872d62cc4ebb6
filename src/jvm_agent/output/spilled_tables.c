#include "jvm_agent/output/spilled_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/id_map.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/thread_names.h"

#define BUFFER_BYTES ((size_t)64 << 10)
#define THREADS_LIMIT ((size_t)1 << 22)
#define NUMBER_BYTES 10
#define READ_BACK_LIMIT_BYTES ((size_t)1 << 40)

/* Numbers with seven bits per byte, and texts with their size. */
struct spill_writer {
    int descriptor;
    uint64_t at, limit_bytes;
    size_t used;
    bool failed;
    unsigned char *buffer;
};

struct spill_reader {
    int descriptor;
    uint64_t at, end;
    size_t used, size;
    bool failed;
    unsigned char *buffer;
};

void spilled_tables_init(struct spilled_tables *spilled, uint64_t limit_bytes)
{
    *spilled = (struct spilled_tables){.descriptor = -1, .limit_bytes = limit_bytes};
}

void spilled_tables_release(struct spilled_tables *spilled)
{
    if (spilled->descriptor >= 0)
        close(spilled->descriptor);
    spilled_tables_init(spilled, spilled->limit_bytes);
}

/* ---- writing ---- */

static int open_in(const char *folder)
{
    char path[4096];
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0)
        return descriptor;
    int size = snprintf(path, sizeof(path), "%s/.sparkflame-stacks-XXXXXX", folder);
    if (size < 0 || (size_t)size >= sizeof(path))
        return -1;
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

static int open_beside(const char *path)
{
    char folder[4096] = ".";
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) < sizeof(folder))
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int descriptor = path == NULL ? -1 : open_in(folder);
    return descriptor >= 0 ? descriptor : open_in("/tmp");
}

static void flush(struct spill_writer *writer)
{
    for (size_t done = 0; done < writer->used && !writer->failed;) {
        ssize_t written =
            pwrite(writer->descriptor, writer->buffer + done, writer->used - done, (off_t)writer->at);
        if (written < 0 && errno == EINTR)
            continue;
        writer->failed = written <= 0;
        if (written > 0) {
            done += (size_t)written;
            writer->at += (uint64_t)written;
        }
    }
    writer->used = 0;
    writer->failed = writer->failed || writer->at > writer->limit_bytes;
}

static void put_number(struct spill_writer *writer, uint64_t number)
{
    if (writer->used + NUMBER_BYTES > BUFFER_BYTES)
        flush(writer);
    for (; number >= 0x80; number >>= 7)
        writer->buffer[writer->used++] = (unsigned char)(number | 0x80);
    writer->buffer[writer->used++] = (unsigned char)number;
}

static void put_bytes(struct spill_writer *writer, const void *bytes, size_t size)
{
    put_number(writer, size);
    for (size_t done = 0; done < size;) {
        size_t room = BUFFER_BYTES - writer->used, part = size - done < room ? size - done : room;
        memcpy(writer->buffer + writer->used, (const char *)bytes + done, part);
        writer->used += part;
        done += part;
        if (writer->used == BUFFER_BYTES)
            flush(writer);
    }
}

static void put_methods(struct spill_writer *writer, const struct method_table *table)
{
    uint32_t count = safe_items_count(&table->methods);
    put_number(writer, count);
    for (uint32_t i = 1; i <= count; i++) {
        const struct method *method = method_table_at(table, i);
        put_bytes(writer, method->class_name, method->class_size);
        put_bytes(writer, method->name, method->name_size);
        put_bytes(writer, method->signature, method->signature == NULL ? 0 : method->signature_size);
        put_number(writer, method->ready);
    }
}

/* Outputs of counts do not show lines, so the bytecode index is omitted. */
static void put_frame(struct spill_writer *writer, frame_word frame)
{
    put_number(writer, frame_kind_of(frame));
    put_number(writer, frame_is_java(frame) ? frame_low(frame) : frame & ~((frame_word)0xff << 56));
}

static void put_count(struct spill_writer *writer, const struct recording_tables *tables,
                      const struct sample_count *count)
{
    const struct trace *trace = recording_tables_trace(tables, count->trace);
    put_number(writer, count->kind);
    put_number(writer, count->state);
    put_number(writer, (uint32_t)count->tid);
    put_number(writer, count->class_number);
    put_number(writer, atomic_load(&count->samples));
    put_number(writer, atomic_load(&count->value));
    put_number(writer, trace->depth);
    for (uint32_t i = 0; i < trace->depth; i++)
        put_frame(writer, trace->frames[i]);
}

static void put_counts(struct spill_writer *writer, const struct recording_tables *tables)
{
    uint32_t number = sample_counts_number(&tables->counts), used = 0;
    for (uint32_t i = 1; i <= number; i++)
        used += atomic_load(&sample_counts_at(&tables->counts, i)->samples) > 0;
    put_number(writer, used);
    for (uint32_t i = 1; i <= number; i++) {
        const struct sample_count *count = sample_counts_at(&tables->counts, i);
        if (atomic_load(&count->samples) > 0)
            put_count(writer, tables, count);
    }
}

static void put_classes(struct spill_writer *writer, struct class_names *classes)
{
    uint32_t count = classes->opened ? (uint32_t)classes->names.size : 0;
    put_number(writer, count);
    for (uint32_t i = 1; i < count; i++) {
        struct text_view name = class_names_text(classes, i);
        put_bytes(writer, name.data, name.size);
    }
}

static void put_thread(struct spill_writer *writer, struct id_map *known, int32_t tid)
{
    struct thread_name name;
    if (tid == 0 || id_map_get(known, (uint32_t)tid) != NO_ID || !id_map_set(known, (uint32_t)tid, 1) ||
        !thread_names_get(tid, &name))
        return;
    put_number(writer, (uint32_t)tid);
    put_bytes(writer, name.text, strlen(name.text));
}

static void put_threads(struct spill_writer *writer, const struct sample_counts *counts)
{
    struct id_map known;
    id_map_init(&known);
    for (uint32_t i = 1; i <= sample_counts_number(counts); i++)
        put_thread(writer, &known, sample_counts_at(counts, i)->tid);
    put_number(writer, 0);
    id_map_release(&known);
}

static void count_lost(struct spilled_tables *spilled, const struct sample_counts *counts)
{
    for (uint32_t i = 1; i <= sample_counts_number(counts); i++) {
        const struct sample_count *count = sample_counts_at(counts, i);
        if (count->kind >= SAMPLE_KINDS)
            continue;
        spilled->lost[count->kind].samples += atomic_load(&count->samples);
        spilled->lost[count->kind].value += atomic_load(&count->value);
    }
}

static bool write_tables(struct spilled_tables *spilled, struct recording_tables *tables)
{
    struct spill_writer writer = {.descriptor = spilled->descriptor,
                                  .at = spilled->bytes,
                                  .limit_bytes = spilled->limit_bytes,
                                  .buffer = malloc(BUFFER_BYTES)};
    if (writer.buffer == NULL)
        return false;
    put_methods(&writer, &tables->methods);
    put_classes(&writer, &tables->classes);
    put_threads(&writer, &tables->counts);
    put_counts(&writer, tables);
    flush(&writer);
    free(writer.buffer);
    if (!writer.failed)
        spilled->bytes = writer.at;
    return !writer.failed;
}

void spilled_tables_add(struct spilled_tables *spilled, struct recording_tables *tables, const char *path)
{
    if (spilled->descriptor < 0)
        spilled->descriptor = open_beside(path);
    if (spilled->descriptor >= 0 && write_tables(spilled, tables))
        spilled->count++;
    else
        count_lost(spilled, &tables->counts);
}

/* ---- reading ---- */

static void fill(struct spill_reader *reader)
{
    uint64_t left = reader->end - reader->at;
    size_t wanted = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
    ssize_t got = wanted == 0 ? 0 : pread(reader->descriptor, reader->buffer, wanted, (off_t)reader->at);
    reader->used = 0;
    reader->size = got > 0 ? (size_t)got : 0;
    reader->at += reader->size;
    reader->failed = reader->size == 0;
}

static unsigned char get_byte(struct spill_reader *reader)
{
    if (reader->used == reader->size)
        fill(reader);
    return reader->failed ? 0 : reader->buffer[reader->used++];
}

static uint64_t get_number(struct spill_reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte = get_byte(reader);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return number;
}

static const char *get_text(struct spill_reader *reader, struct safe_arena *arena, uint16_t *size)
{
    uint64_t wanted = get_number(reader);
    char *text = wanted > UINT16_MAX ? NULL : safe_arena_allocate(arena, wanted + 1);
    reader->failed = reader->failed || text == NULL;
    *size = text == NULL ? 0 : (uint16_t)wanted;
    for (uint64_t i = 0; text != NULL && i < wanted; i++)
        text[i] = (char)get_byte(reader);
    return text;
}

static void get_methods(struct spill_reader *reader, struct method_table *table)
{
    uint64_t count = get_number(reader);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        uint32_t number = safe_items_add(&table->methods);
        reader->failed = reader->failed || number == 0;
        if (reader->failed)
            return;
        struct method *method = method_table_at(table, number);
        method->class_name = get_text(reader, table->arena, &method->class_size);
        method->name = get_text(reader, table->arena, &method->name_size);
        method->signature = get_text(reader, table->arena, &method->signature_size);
        method->ready = get_number(reader) != 0;
    }
}

static void get_classes(struct spill_reader *reader, struct safe_arena *arena, struct class_names *classes)
{
    uint64_t count = get_number(reader);
    for (uint64_t i = 1; i < count && !reader->failed; i++) {
        uint16_t size;
        const char *name = get_text(reader, arena, &size);
        if (name != NULL)
            (void)class_names_add_name(classes, (struct text_view){name, size});
    }
}

static int by_tid(const void *left, const void *right)
{
    const struct spilled_thread *first = left, *second = right;
    return (first->tid > second->tid) - (first->tid < second->tid);
}

static void get_threads(struct spill_reader *reader, struct safe_arena *arena,
                        struct spilled_threads *threads)
{
    for (uint32_t tid; !reader->failed && (tid = (uint32_t)get_number(reader)) != 0;) {
        uint16_t size;
        const char *name = get_text(reader, arena, &size);
        uint32_t number =
            name == NULL ? NO_STRING : string_table_add(&threads->names, (struct text_view){name, size});
        if (number != NO_STRING &&
            array_reserve(&threads->list, &threads->capacity, threads->count + 1, THREADS_LIMIT))
            threads->list[threads->count++] = (struct spilled_thread){(int32_t)tid, number};
    }
    if (threads->count > 0)
        qsort(threads->list, threads->count, sizeof(*threads->list), by_tid);
}

const char *spilled_thread_name(const struct spilled_threads *threads, int32_t tid)
{
    struct spilled_thread key = {tid, 0};
    const struct spilled_thread *found =
        threads == NULL || threads->count == 0
            ? NULL
            : bsearch(&key, threads->list, threads->count, sizeof(*threads->list), by_tid);
    return found == NULL ? NULL : string_table_c_string(&threads->names, found->name);
}

static void get_count(struct spill_reader *reader, struct recording_tables *tables, frame_word *frames)
{
    struct agent_sample sample = {.kind = (uint8_t)get_number(reader)};
    sample.state = (uint8_t)get_number(reader);
    sample.tid = (int32_t)get_number(reader);
    sample.class_number = (uint32_t)get_number(reader);
    uint64_t samples = get_number(reader);
    sample.value = get_number(reader);
    uint64_t depth = get_number(reader);
    reader->failed = reader->failed || depth > UINT16_MAX;
    for (uint64_t i = 0; i < depth && !reader->failed; i++) {
        frame_word kind = get_number(reader);
        frames[i] = kind << 56 | get_number(reader);
    }
    uint32_t trace = reader->failed ? 0 : trace_table_add(&tables->traces, frames, (uint32_t)depth);
    if (trace == 0)
        return;
    sample.trace = trace_reference(tables, trace);
    for (; samples > 0 && !reader->failed; samples -= sample.weight) {
        sample.weight = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
        reader->failed = !sample_counts_add(&tables->counts, &sample);
        sample.value = 0;
    }
}

static void get_counts(struct spill_reader *reader, struct recording_tables *tables)
{
    frame_word *frames = malloc((UINT16_MAX + 1) * sizeof(*frames));
    uint64_t count = get_number(reader);
    for (uint64_t i = 0; i < count && !reader->failed && frames != NULL; i++)
        get_count(reader, tables, frames);
    reader->failed = reader->failed || frames == NULL;
    free(frames);
}

struct read_back {
    struct recording_tables tables;
    struct spilled_threads threads;
};

static bool read_tables(struct spill_reader *reader, struct read_back *read)
{
    memset(read, 0, sizeof(*read));
    if (!string_table_init(&read->threads.names, READ_BACK_LIMIT_BYTES))
        return false;
    if (!recording_tables_open(&read->tables, READ_BACK_LIMIT_BYTES, true))
        return false;
    get_methods(reader, &read->tables.methods);
    get_classes(reader, &read->tables.arena, &read->tables.classes);
    get_threads(reader, &read->tables.arena, &read->threads);
    get_counts(reader, &read->tables);
    return !reader->failed;
}

static void release_read(struct read_back *read)
{
    recording_tables_close(&read->tables);
    string_table_release(&read->threads.names);
    free(read->threads.list);
}

bool spilled_tables_each(const struct spilled_tables *spilled,
                         bool (*visit)(struct recording_tables *tables, const struct spilled_threads *threads,
                                       void *context, struct error *error),
                         void *context, struct error *error)
{
    struct spill_reader reader = {.descriptor = spilled->descriptor, .end = spilled->bytes};
    struct read_back *read = malloc(sizeof(*read));
    reader.buffer = malloc(BUFFER_BYTES);
    bool done = (read != NULL && reader.buffer != NULL) || error_set_memory(error);
    for (uint32_t i = 0; i < spilled->count && done; i++) {
        done = read_tables(&reader, read) ||
               error_set(error, ERROR_SYSTEM, "cannot read back the stacks spilled to disk");
        done = done && visit(&read->tables, &read->threads, context, error);
        release_read(read);
    }
    free(reader.buffer);
    free(read);
    return done;
}
