#include "collector/query/query_folder.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "query-"

enum { OPEN_FOLDERS = 16 };

bool query_folder_name(char to[QUERY_FOLDER_BYTES], const char *data, uint64_t number)
{
    int size = snprintf(to, QUERY_FOLDER_BYTES, "%s/" PREFIX "%llu", data, (unsigned long long)number);
    return size > 0 && size < QUERY_FOLDER_BYTES;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    return remove(path);
}

void query_folder_remove(const char *path)
{
    (void)nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

void query_folder_remove_all(const char *data)
{
    char path[QUERY_FOLDER_BYTES];
    DIR *folder = opendir(data);
    if (folder == NULL)
        return;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        int size = snprintf(path, sizeof(path), "%s/%s", data, entry->d_name);
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 && size > 0 && (size_t)size < sizeof(path))
            query_folder_remove(path);
    }
    closedir(folder);
}
