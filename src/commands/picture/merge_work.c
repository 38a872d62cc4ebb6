#include "commands/picture/merge_work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "model/stitch.h"

#define MOST_BROKEN ((size_t)1 << 24)

void merge_work_init(struct merge_work *work, bool quiet)
{
    progress_init(&work->progress, quiet);
    pthread_mutex_init(&work->lock, NULL);
}

void merge_work_release(struct merge_work *work)
{
    for (size_t i = 0; i < work->broken_count; i++)
        free(work->broken[i]);
    free(work->broken);
    pthread_mutex_destroy(&work->lock);
}

void merge_work_end(struct merge_work *work, const struct error *error)
{
    pthread_mutex_lock(&work->lock);
    if (!atomic_exchange(&work->failed, true))
        work->error = *error;
    pthread_mutex_unlock(&work->lock);
}

static void keep_broken(struct merge_work *work, const char *message)
{
    pthread_mutex_lock(&work->lock);
    char *copy = strdup(message);
    if (copy != NULL &&
        array_reserve(&work->broken, &work->broken_capacity, work->broken_count + 1, MOST_BROKEN))
        work->broken[work->broken_count++] = copy;
    else
        free(copy);
    pthread_mutex_unlock(&work->lock);
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

void merge_work_sort_broken(struct merge_work *work)
{
    if (work->broken_count > 0)
        qsort(work->broken, work->broken_count, sizeof(*work->broken), compare_texts);
}

/* ---- reading ---- */

static void pass_notice(void *context, const char *text)
{
    struct merge_work *work = context;
    pthread_mutex_lock(&work->lock);
    progress_wipe(&work->progress);
    if (work->read->notice != NULL)
        work->read->notice(work->read->notice_context, text);
    pthread_mutex_unlock(&work->lock);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* The first of all by name, so that they do not depend on the order of files. */
static void join_passed(struct merge_work *work, const struct passed_events *passed)
{
    char names[2 * PASSED_EVENT_LIMIT][sizeof(passed->names[0])];
    pthread_mutex_lock(&work->lock);
    size_t count = work->passed.count;
    memcpy(names, work->passed.names, count * sizeof(*names));
    memcpy(names + count, passed->names, passed->count * sizeof(*names));
    count += passed->count;
    qsort(names, count, sizeof(*names), compare_names);
    work->passed.count = 0;
    for (size_t i = 0; i < count && work->passed.count < PASSED_EVENT_LIMIT; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            memcpy(work->passed.names[work->passed.count++], names[i], sizeof(*names));
    pthread_mutex_unlock(&work->lock);
}

/* Before it is read, so that a file that takes long is named. */
static void count_file(struct merge_work *work, const char *path, const struct text_view *bytes)
{
    struct stat status;
    uint64_t size = 0;
    if (bytes != NULL)
        size = bytes->size;
    else if (work->progress.is_shown && stat(path, &status) == 0)
        size = (uint64_t)status.st_size;
    pthread_mutex_lock(&work->lock);
    work->files++;
    progress_file(&work->progress, path);
    progress_advance(&work->progress, size);
    pthread_mutex_unlock(&work->lock);
}

bool merge_work_read(struct merge_work *work, const char *path, const struct text_view *bytes,
                     struct profile *profile)
{
    struct error error = {0};
    struct passed_events passed = {.count = 0};
    struct read_options read = *work->read;
    read.threads = 1;
    read.notice = pass_notice;
    read.notice_context = work;
    read.passed_events = &passed;
    count_file(work, path, bytes);
    if (!profile_init(profile, work->options.keep_times, &error)) {
        merge_work_end(work, &error);
        return false;
    }
    if (bytes == NULL ? read_profile(path, work->format, &read, profile, &error)
                      : read_profile_bytes(*bytes, path, work->format, &read, profile, &error)) {
        join_passed(work, &passed);
        return true;
    }
    keep_broken(work, error.message);
    profile_release(profile);
    return false;
}

void merge_work_add(struct merge_work *work, struct profile *profile, struct merger *merger)
{
    struct error error = {0};
    /* What has exact weights is a partial sum, and stitched. */
    bool good = !work->stitch || profile->exact != NULL || stitch_profile(profile, &error);
    if (!good || !profile_place_stacks(profile, &error) || !merger_add(merger, profile, &error))
        merge_work_end(work, &error);
    profile_release(profile);
}
