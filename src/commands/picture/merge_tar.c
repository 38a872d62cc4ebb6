#include "commands/picture/merge_tar.h"

#include <stdio.h>

#include "base/string_table.h"
#include "commands/picture/merge_units.h"
#include "input/tar_reader.h"

#define NAMES_LIMIT_BYTES ((size_t)8 << 30)

struct merge_tar {
    struct merge_work *work;
    struct merger *merger;
    /* With stitching: all processes met, and the recordings of the last one. */
    struct string_table processes;
    uint32_t process; /* 0: none */
    uint64_t sequence;
    struct profile whole;
    bool has_whole;
};

static bool end_process(struct merge_tar *tar)
{
    if (tar->has_whole)
        merge_work_add(tar->work, &tar->whole, tar->merger);
    tar->has_whole = false;
    tar->process = 0;
    return !atomic_load(&tar->work->failed);
}

/* Which process the file is of, 0: none; false: it comes too late. */
static bool find_process(struct merge_tar *tar, struct text_view name, uint32_t *process, uint64_t *sequence,
                         struct error *error)
{
    struct text_view folder = name;
    *process = 0;
    if (!tar->work->stitch || !merge_unit_process(&folder, sequence))
        return true;
    size_t known = tar->processes.size;
    *process = string_table_add(&tar->processes, folder);
    if (*process == NO_STRING)
        return error_set_memory(error);
    if (*process >= known || (*process == tar->process && *sequence >= tar->sequence))
        return true;
    return error_set(error, ERROR_BAD_INPUT,
                     "%.*s: recordings of one process have to follow each other in a tar archive, in the "
                     "order of their numbers",
                     name.size > 300 ? 300 : (int)name.size, name.data);
}

static bool add_profile(struct merge_tar *tar, struct profile *profile, uint32_t process, struct error *error)
{
    if (process == 0) {
        merge_work_add(tar->work, profile, tar->merger);
        return true;
    }
    if (!tar->has_whole) {
        tar->whole = *profile;
        tar->has_whole = true;
        return true;
    }
    bool good = profile_merge(&tar->whole, profile, error);
    profile_release(profile);
    return good;
}

static bool add_member(struct merge_tar *tar, const struct tar_member *member, struct error *error)
{
    struct profile profile;
    uint32_t process;
    uint64_t sequence = 0;
    if (!find_process(tar, member->name, &process, &sequence, error))
        return false;
    if (process != tar->process && !end_process(tar))
        return true;
    tar->process = process;
    tar->sequence = sequence;
    char name[4096];
    snprintf(name, sizeof(name), "%.*s", TEXT_FORMAT(member->name));
    return !merge_work_read(tar->work, name, &member->bytes, &profile) ||
           add_profile(tar, &profile, process, error);
}

static bool read_archive(struct merge_tar *tar, const char *path, struct error *error)
{
    struct tar_reader reader;
    struct tar_member member;
    struct byte_source *source = byte_source_open(path, error);
    if (source == NULL)
        return error_prefix(error, "%s", path);
    tar_reader_init(&reader, source);
    bool good = true, more = true;
    while (good && more && !atomic_load(&tar->work->failed)) {
        good = tar_reader_next(&reader, &member, error);
        if (!good)
            error_prefix(error, "%s", byte_source_name(source));
        more = good && member.name.size > 0;
        good = good && (!more || add_member(tar, &member, error));
    }
    tar_reader_release(&reader);
    byte_source_close(source);
    return good;
}

void merge_tar_read(struct merge_work *work, char *const *paths, size_t count, struct merger *merger)
{
    struct merge_tar tar = {.work = work, .merger = merger};
    struct error error = {0};
    bool good = string_table_init(&tar.processes, NAMES_LIMIT_BYTES) || error_set_memory(&error);
    for (size_t i = 0; good && i < count; i++)
        good = read_archive(&tar, paths[i], &error);
    if (!good)
        merge_work_end(work, &error);
    end_process(&tar);
    string_table_release(&tar.processes);
}
