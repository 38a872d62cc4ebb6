#include "python_sampler/process_numbers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last id of the line "NSpid:", which is that of the innermost namespace. */
static pid_t read_inner_number(const char *path, pid_t otherwise)
{
    char text[4096];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return otherwise;
    ssize_t got = read(descriptor, text, sizeof(text) - 1);
    close(descriptor);
    text[got < 0 ? 0 : got] = '\0';
    char *line = strstr(text, "\nNSpid:");
    if (line == NULL)
        return otherwise;
    line++;
    line[strcspn(line, "\n")] = '\0';
    char *last = strrchr(line, '\t');
    long number = last == NULL ? 0 : strtol(last, NULL, 10);
    return number > 0 ? (pid_t)number : otherwise;
}

pid_t process_inner_number(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    return read_inner_number(path, pid);
}

pid_t process_find_thread(pid_t pid, pid_t inner)
{
    char path[320];
    pid_t found = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return 0;
    for (struct dirent *entry; found == 0 && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, entry->d_name);
        if (read_inner_number(path, 0) == inner)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(folder);
    return found;
}

bool process_has_thread(pid_t pid, pid_t thread)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)thread);
    return thread > 0 && access(path, F_OK) == 0;
}

void process_visit_numbers(const char *text, size_t size, void (*visit)(void *context, pid_t child),
                           void *context)
{
    long number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            number = number * 10 + (text[i] - '0');
        } else if (number != 0) {
            visit(context, (pid_t)number);
            number = 0;
        }
    }
    if (number != 0)
        visit(context, (pid_t)number);
}

static void visit_file(const char *path, void (*visit)(void *context, pid_t child), void *context)
{
    char text[8192];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ssize_t got = read(descriptor, text, sizeof(text));
    close(descriptor);
    process_visit_numbers(text, got < 0 ? 0 : (size_t)got, visit, context);
}

void process_visit_children(pid_t pid, void (*visit)(void *context, pid_t child), void *context)
{
    char path[320];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, entry->d_name);
        visit_file(path, visit, context);
    }
    closedir(folder);
}
