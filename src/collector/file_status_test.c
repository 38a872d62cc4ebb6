#include "collector/file_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit_test.h"

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(notices_other_contents_another_file_and_none)
{
    char folder[] = "/tmp/file_status_test-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    char path[64], other[64];
    snprintf(path, sizeof(path), "%s/file", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    struct stat read = {.st_ino = 0}, now;
    CHECK(!file_status_differs(path, &read, &now));
    write_text(path, "a");
    CHECK(file_status_differs(path, &read, &now));
    read = now;
    CHECK(!file_status_differs(path, &read, &now));
    write_text(path, "ab");
    CHECK(file_status_differs(path, &read, &now));
    read = now;
    write_text(other, "ab");
    CHECK(rename(other, path) == 0);
    CHECK(file_status_differs(path, &read, &now));
    read = now;
    CHECK(unlink(path) == 0);
    CHECK(file_status_differs(path, &read, &now));
    CHECK(now.st_ino == 0);
    CHECK(rmdir(folder) == 0);
}
