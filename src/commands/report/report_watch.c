#include "commands/report/report_watch.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_list.h"
#include "base/hash.h"
#include "base/text_view.h"

static uint64_t add(uint64_t state, uint64_t number)
{
    return hash_mix(state ^ HASH_SEED, number ^ HASH_MULTIPLIER);
}

static uint64_t state_of_file(const struct stat *found, uint64_t state)
{
    state = add(state, (uint64_t)found->st_size);
    state = add(state, (uint64_t)found->st_mtim.tv_sec);
    return add(add(state, (uint64_t)found->st_mtim.tv_nsec), (uint64_t)found->st_ino);
}

static bool is_same_file(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

/* A folder's own times change with the output in it. */
static uint64_t state_of_folder(const char *path, const char *output, uint64_t state)
{
    struct stat found, written;
    struct error error = {0};
    struct file_list list = {.paths = NULL};
    bool has_output = output != NULL && stat(output, &written) == 0;
    /* What cannot be listed is reported by those who read it. */
    (void)!file_list_read(&list, path, &error);
    for (size_t i = 0; i < list.size; i++) {
        if (stat(list.paths[i], &found) != 0 || (has_output && is_same_file(&found, &written)))
            continue;
        state = add(state, hash_bytes(list.paths[i], strlen(list.paths[i])));
        state = state_of_file(&found, state);
    }
    file_list_release(&list);
    return state;
}

uint64_t report_watch_state(char *const *paths, size_t count, const char *output)
{
    uint64_t state = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        if (stat(paths[i], &found) != 0)
            state = add(state, 0);
        else if (S_ISDIR(found.st_mode))
            state = state_of_folder(paths[i], output, state);
        else
            state = state_of_file(&found, state);
    }
    return state;
}

bool report_watch_follow(char *const *paths, size_t count)
{
    bool follows = false;
    for (size_t i = 0; i < count; i++) {
        struct text_view path = text_of(paths[i]), suffix = TEXT(".inprogress");
        if (!text_ends_with(path, suffix) || access(paths[i], F_OK) == 0)
            continue;
        paths[i][path.size - suffix.size] = '\0';
        bool is_there = access(paths[i], F_OK) == 0;
        if (!is_there)
            paths[i][path.size - suffix.size] = suffix.data[0];
        follows |= is_there;
    }
    return follows;
}
