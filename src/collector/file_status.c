#include "collector/file_status.h"

bool file_status_differs(const char *path, const struct stat *read, struct stat *now)
{
    if (stat(path, now) != 0)
        *now = (struct stat){.st_ino = 0};
    return now->st_ino != read->st_ino || now->st_dev != read->st_dev || now->st_size != read->st_size ||
           now->st_mtim.tv_sec != read->st_mtim.tv_sec || now->st_mtim.tv_nsec != read->st_mtim.tv_nsec;
}
