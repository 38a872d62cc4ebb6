#include "native_sampler/process_tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text_view.h"

#define MOST_PROCESSES ((size_t)1 << 22)

static bool add(struct process_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->pids[i] == pid)
            return true;
    if (!array_reserve(&tree->pids, &tree->capacity, tree->count + 1, MOST_PROCESSES))
        return false;
    tree->pids[tree->count++] = pid;
    return true;
}

static bool add_children_of(struct process_tree *tree, pid_t pid, const char *thread)
{
    char path[320];
    int child;
    bool good = true;
    snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, thread);
    FILE *stream = fopen(path, "re");
    while (good && stream != NULL && fscanf(stream, "%d", &child) == 1)
        good = add(tree, child);
    if (stream != NULL)
        fclose(stream);
    return good;
}

static bool add_children(struct process_tree *tree, pid_t pid)
{
    char path[64];
    uint64_t number;
    bool good = true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; good && folder != NULL && (entry = readdir(folder)) != NULL;)
        if (text_to_u64(text_of(entry->d_name), &number))
            good = add_children_of(tree, pid, entry->d_name);
    if (folder != NULL)
        closedir(folder);
    return good;
}

bool process_tree_read(struct process_tree *tree, const pid_t *roots, size_t count, bool descends)
{
    bool good = true;
    *tree = (struct process_tree){.pids = NULL};
    for (size_t i = 0; good && i < count; i++)
        good = add(tree, roots[i]);
    tree->root_count = tree->count;
    for (size_t i = 0; good && descends && i < tree->count; i++)
        good = add_children(tree, tree->pids[i]);
    return good;
}

void process_tree_leave_out(struct process_tree *tree, pid_t pid)
{
    size_t left = tree->root_count;
    for (size_t i = left; i < tree->count; i++)
        if (tree->pids[i] != pid)
            tree->pids[left++] = tree->pids[i];
    tree->count = left;
}

void process_tree_release(struct process_tree *tree)
{
    free(tree->pids);
    *tree = (struct process_tree){.pids = NULL};
}
