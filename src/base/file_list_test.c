#include "base/file_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit_test.h"

static void make(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *stream = fopen(path, "we");
    CHECK(stream != NULL && fclose(stream) == 0);
}

/* Names of the files that are listed, "a b c"; the folder is gone afterwards. */
static bool lists(const char *const *names, const char *expected)
{
    char root[] = "/tmp/file_list_XXXXXX", folder[100], path[300], found[1000] = "";
    struct file_list list = {.paths = NULL};
    struct error error = {0};
    CHECK(mkdtemp(root) != NULL);
    snprintf(folder, sizeof(folder), "%s/exec-1", root);
    CHECK(mkdir(folder, 0700) == 0);
    for (size_t i = 0; names[i] != NULL; i++)
        make(folder, names[i]);
    CHECK(file_list_read(&list, root, &error));
    for (size_t i = 0; i < list.size; i++) {
        size_t size = strlen(found);
        snprintf(found + size, sizeof(found) - size, "%s%s", i == 0 ? "" : " ",
                 strrchr(list.paths[i], '/') + 1);
    }
    file_list_release(&list);
    for (size_t i = 0; names[i] != NULL; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        remove(path);
    }
    remove(folder);
    remove(root);
    if (strcmp(found, expected) != 0)
        printf("# %s instead of %s\n", found, expected);
    return strcmp(found, expected) == 0;
}

TEST(a_recording_that_is_part_of_another_is_skipped)
{
    CHECK(lists(
        (const char *[]){"000001-000012.jfr", "000001.jfr", "000007.jfr", "000012.jfr", "000013.jfr", NULL},
        "000001-000012.jfr 000013.jfr"));
    CHECK(lists(
        (const char *[]){"000001-000012.jfr", "000013-000024.jfr", "000001-000024.jfr", "000014.jfr", NULL},
        "000001-000024.jfr"));
    CHECK(
        lists((const char *[]){"000001-000012.jfr.gz", "000005-000006.jfr.gz", "000011-000014.jfr.gz", NULL},
              "000001-000012.jfr.gz 000011-000014.jfr.gz"));
}

TEST(other_files_are_not_parts)
{
    CHECK(lists((const char *[]){"000001-000012.jfr", "000003.log", "3.jfr", "000003-.jfr",
                                 "000005-000002.jfr", NULL},
                "000001-000012.jfr 000003-.jfr 000003.log 000005-000002.jfr 3.jfr"));
    CHECK(lists((const char *[]){"000001-000012.log", "000003.jfr", ".000001-000009.jfr.unfinished", NULL},
                "000001-000012.log 000003.jfr"));
}
