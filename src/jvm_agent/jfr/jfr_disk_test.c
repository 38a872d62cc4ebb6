/*
 * Copies the file after each page of each write, as if the process had been killed there, to the folder given by
 * SPARKFLAME_SNAPSHOTS, where tests/test_jvm_agent_disk.py reads the copies with the JDK's reader.
 */
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/jfr/jfr_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/jfr/jfr_file.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "unit_test.h"

#define LIMIT_BYTES ((size_t)32 << 20)
#define PAGE ((size_t)4096)
#define DEPTH 30u

static char path[] = "/tmp/jfr_disk_test.XXXXXX/recording.jfr";
static const char *snapshots; /* a folder; NULL: none */
static const char *shape = "";
static uint32_t snapshot_count;
static uint64_t space_bytes = UINT64_MAX; /* available to files */
static bool unsynced;                     /* bytes were written since the last fsync() */
static uint32_t replaced_count;

/* The chunks end at the end of the file. */
static void check_chunks(void)
{
    unsigned char header[JFR_HEADER_BYTES];
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return; /* it has no name yet */
    CHECK(fstat(descriptor, &status) == 0);
    uint64_t at = 0;
    while (at < (uint64_t)status.st_size) {
        uint64_t size = 0;
        CHECK(pread(descriptor, header, sizeof(header), (off_t)at) == (ssize_t)sizeof(header));
        CHECK(memcmp(header, "FLR", 4) == 0);
        for (int i = 0; i < 8; i++)
            size = size << 8 | header[8 + i];
        CHECK(size > sizeof(header));
        at += size;
    }
    CHECK(at == (uint64_t)status.st_size);
    close(descriptor);
}

static void take_snapshot(void)
{
    char command[400];
    check_chunks();
    if (snapshots == NULL || access(path, F_OK) != 0)
        return;
    snprintf(command, sizeof(command), "cp %s %s/%s%05u.jfr", path, snapshots, shape, snapshot_count++);
    CHECK(system(command) == 0);
}

/* Replaces libc's function: writes page by page, as if the process could be killed after each. */
static ssize_t write_pages(int descriptor, const char *data, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        size_t part = PAGE - ((size_t)offset + done) % PAGE;
        part = part < size - done ? part : size - done;
        if ((uint64_t)offset + done + part > space_bytes) {
            errno = ENOSPC;
            return done > 0 ? (ssize_t)done : -1;
        }
        CHECK(syscall(SYS_pwrite64, descriptor, data + done, part, offset + (off_t)done) == (long)part);
        unsynced = true;
        done += part;
        take_snapshot();
    }
    return (ssize_t)done;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc uses reserved names for parameters. */
ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    return write_pages(descriptor, data, size, offset);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    ssize_t done = 0;
    for (int i = 0; i < count; i++) {
        ssize_t written = write_pages(descriptor, parts[i].iov_base, parts[i].iov_len, offset + done);
        if (written < 0)
            return done > 0 ? done : written;
        done += written;
    }
    return done;
}

int ftruncate(int descriptor, off_t size)
{
    long result = syscall(SYS_ftruncate, descriptor, size);
    take_snapshot();
    return (int)result;
}

int fsync(int descriptor)
{
    unsynced = false;
    return (int)syscall(SYS_fsync, descriptor);
}

/* After a power failure, a name must not be that of an empty file where there was a whole one. */
int rename(const char *from, const char *to)
{
    if (access(to, F_OK) == 0) {
        CHECK(!unsynced);
        replaced_count++;
    }
    long result = syscall(SYS_rename, from, to);
    take_snapshot();
    return (int)result;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void add_samples(struct jfr_file *file, uint32_t count)
{
    static uint32_t added;
    for (uint32_t i = 0; i < count; i++, added++) {
        frame_word frames[DEPTH];
        for (uint32_t k = 0; k < DEPTH; k++)
            frames[k] = frame_number(AGENT_FRAME_PROCESSOR, (added * 7 + k) % 5000);
        struct agent_sample sample = {
            .kind = SAMPLE_EXECUTION, .weight = 1, .tid = (int32_t)(1000 + added % 9)};
        sample.time_ns = agent_now_ns();
        sample.state = THREAD_STATE_RUNNABLE;
        sample.trace =
            trace_reference(sampler.tables, trace_table_add(&sampler.tables->traces, frames, DEPTH));
        jfr_file_add_sample(file, &sample);
    }
}

static void flush(struct jfr_file *file)
{
    struct error error = {0};
    CHECK_OK(error, jfr_file_flush(file, &error));
}

static void begin(struct jfr_file *file, bool compact)
{
    struct error error = {0};
    snapshots = getenv("SPARKFLAME_SNAPSHOTS");
    shape = compact ? "compact" : "wide";
    if (strstr(path, "XXXXXX") != NULL) {
        *strrchr(path, '/') = '\0';
        CHECK(mkdtemp(path) != NULL);
        path[strlen(path)] = '/';
    }
    CHECK_OK(error, sampler_open((size_t)64 << 20, false, &error));
    jfr_shape_choose(compact, false, agent_now_ns());
    CHECK_OK(error, jfr_file_open(file, path, LIMIT_BYTES, &error));
    CHECK_OK(error, jfr_file_begin_chunk(file, sampler.tables, &error));
    add_samples(file, 5);
    flush(file);
}

static void end(struct jfr_file *file)
{
    struct error error = {0};
    CHECK_OK(error, jfr_file_close(file, &error));
    sampler_close();
    unlink(path);
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0); /* no other files are left */
}

static void record_chunks(bool compact)
{
    struct error error = {0};
    struct jfr_file file;
    begin(&file, compact);
    for (uint32_t i = 0; i < 6; i++) {
        add_samples(&file, i * 8);
        flush(&file);
    }
    for (uint32_t chunk = 0; chunk < 2; chunk++) {
        CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
        add_samples(&file, 3);
        flush(&file);
        add_samples(&file, 250);
        flush(&file);
        flush(&file);
    }
    end(&file);
}

TEST(a_wide_recording_is_whole_after_each_write)
{
    record_chunks(false);
}

TEST(a_compact_recording_is_whole_after_each_write)
{
    record_chunks(true);
}

/* The padding starts at each offset of a page, also where its size would cross a page boundary. */
TEST(padding_begins_anywhere)
{
    struct error error = {0};
    struct jfr_disk disk;
    struct jfr_chunk_head head = {.pools_offset = JFR_HEADER_BYTES};
    char padding[] = {(char)0x8d, (char)0x80, (char)0x80, (char)0x80, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    struct text_view events = {padding, sizeof(padding)};
    struct jfr_file file;
    begin(&file, true);
    snapshots = NULL;
    CHECK_OK(error, jfr_disk_create(&disk, path, &head, events, &error));
    for (uint32_t i = 0; i < 5000; i++) {
        CHECK_OK(error, jfr_disk_append(&disk, &head, (struct text_view){padding, 13}, &error));
        CHECK(disk.padding_begin % PAGE <= PAGE - 5);
    }
    jfr_disk_trim(&disk);
    CHECK(disk.size == disk.padding_begin + 11);
    CHECK_OK(error, jfr_disk_end(&disk, &error));
    end(&file);
}

TEST(a_full_disk_delays_samples_but_loses_none)
{
    struct error error = {0};
    struct jfr_file file;
    begin(&file, false);
    shape = "full";
    space_bytes = file.disk.size + 3 * PAGE + 100;
    uint64_t before = file.disk.padding_begin;
    add_samples(&file, 300);
    for (int i = 0; i < 3; i++) {
        CHECK(!jfr_file_flush(&file, &error));
        CHECK(strstr(error.message, "No space left") != NULL);
        add_samples(&file, 10);
        CHECK(file.disk.padding_begin == before);
    }
    space_bytes = UINT64_MAX;
    flush(&file);
    CHECK(file.disk.padding_begin > before + 300);
    CHECK(file.dropped == 0);
    /* No space for a chunk, either. */
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    add_samples(&file, 300);
    space_bytes = file.disk.size + PAGE;
    CHECK(!jfr_file_flush(&file, &error));
    space_bytes = UINT64_MAX;
    flush(&file);
    end(&file);
}

TEST(while_a_disk_is_full_memory_is_limited)
{
    struct error error = {0};
    struct jfr_file file;
    begin(&file, true);
    snapshots = NULL;
    space_bytes = file.disk.size;
    for (int i = 0; i < 60; i++) {
        add_samples(&file, 20000);
        CHECK(!jfr_file_flush(&file, &error));
    }
    CHECK(file.dropped > 0);
    CHECK(file.events.size < LIMIT_BYTES / 2);
    CHECK_INT(file.dropped + file.unwritten, 60 * 20000);
    space_bytes = UINT64_MAX;
    flush(&file);
    CHECK_INT(file.unwritten, 0);
    end(&file);
}

TEST(samples_that_a_new_chunk_discards_are_counted)
{
    struct error error = {0};
    struct jfr_file file;
    begin(&file, true);
    snapshots = NULL;
    flush(&file);
    space_bytes = file.disk.size;
    add_samples(&file, 20000);
    CHECK(!jfr_file_flush(&file, &error));
    CHECK_INT(file.dropped, 0);
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    CHECK_INT(file.dropped, 20000);
    space_bytes = UINT64_MAX;
    flush(&file);
    CHECK_INT(file.dropped, 20000);
    end(&file);
}

TEST(a_file_that_cannot_be_made_leaves_nothing)
{
    struct error error = {0};
    struct jfr_file file;
    struct jfr_ended_file ended;
    struct stat status;
    char other[sizeof(path) + 8];
    begin(&file, false);
    snprintf(other, sizeof(other), "%s.next", path);
    flush(&file);
    jfr_file_switch(&file, other, &ended);
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    space_bytes = 100;
    CHECK(!jfr_file_flush(&file, &error));
    CHECK(stat(other, &status) != 0);
    jfr_file_switch_back(&file, &ended);
    CHECK(ended.disk.descriptor == -1);
    space_bytes = UINT64_MAX;
    flush(&file);
    end(&file);
}

static void plant(const char *place, const char *victim)
{
    FILE *file = fopen(victim, "w");
    CHECK(file != NULL && fputs("not ours", file) >= 0 && fclose(file) == 0);
    CHECK(symlink(victim, place) == 0);
}

/* In place of the temporary files, whose names can be guessed. */
TEST(planted_links_are_not_followed_and_what_is_replaced_is_synced_before)
{
    struct error error = {0};
    struct jfr_file file;
    struct stat status;
    char victim[sizeof(path) + 8], part[sizeof(path) + 32], packed[sizeof(path) + 8];
    begin(&file, true);
    CHECK_OK(error, jfr_file_close(&file, &error));
    CHECK(replaced_count == 1); /* by the file in order */
    snprintf(victim, sizeof(victim), "%s.victim", path);
    snprintf(part, sizeof(part), "%s.part-%ld", path, (long)getpid());
    snprintf(packed, sizeof(packed), "%s.packed", path);
    plant(part, victim);
    plant(packed, victim);
    sampler_close();
    begin(&file, true);
    CHECK_OK(error, jfr_file_close(&file, &error));
    CHECK(replaced_count == 3);
    CHECK(stat(victim, &status) == 0 && status.st_size == 8);
    CHECK(lstat(path, &status) == 0 && S_ISREG(status.st_mode));
    unlink(victim);
    end(&file);
}
