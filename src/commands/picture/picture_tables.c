#include "commands/picture/picture_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output.h"
#include "model/merger.h"

/* Owner's only, as files are, and whoever may enter what they may read. */
#define FOLDER_MODE (output_file_mode() | (output_file_mode() & 0444) >> 2)

#define MAX_TABLES 16 /* more than any format has */

/* The next name of a blank-separated list; empty: none. */
static struct text_view next_name(struct text_view *rest)
{
    size_t blank = text_find_byte(*rest, ' ');
    struct text_view name = blank == TEXT_NOT_FOUND ? *rest : text_part(*rest, 0, blank);
    *rest = text_from(*rest, blank == TEXT_NOT_FOUND ? rest->size : blank + 1);
    return name;
}

static bool is_known(const struct writer *writer, const char *table)
{
    struct text_view rest = text_of(writer->tables), name;
    while ((name = next_name(&rest)).size > 0)
        if (text_equal(name, text_of(table)))
            return true;
    return false;
}

static bool make_folder(const char *path, struct error *error)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return error_set(error, ERROR_USAGE,
                         "tables need a folder: -o FOLDER (convert and merge: or --table NAME)");
    if (mkdir(path, FOLDER_MODE) == 0)
        return true;
    if (errno != EEXIST)
        return error_set_system(error, "cannot make the folder %s", path);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return true;
    return error_set(error, ERROR_USAGE, "%s is not a folder, which tables need", path);
}

bool picture_tables_prepare(const struct writer *writer, const char *path, const char *table,
                            struct error *error)
{
    bool has_tables = writer != NULL && writer->tables != NULL;
    if (table != NULL && !has_tables)
        return error_set(error, ERROR_USAGE, "--table: the format has no tables");
    if (table != NULL && !is_known(writer, table))
        return error_set(error, ERROR_USAGE, "--table: no table \"%s\"; there are: %s", table,
                         writer->tables);
    return has_tables && table == NULL ? make_folder(path, error) : output_check(path, error);
}

bool picture_tables_order(struct profile *profile, double resolution, struct error *error)
{
    struct merger merger;
    struct merger_options options = {profile->keep_times, true, (int64_t)(resolution * 1e9)};
    struct profile ordered;
    if (profile->exact != NULL)
        return true;
    if (!profile_place_stacks(profile, error) || !merger_init(&merger, &options, error))
        return false;
    if (!merger_add(&merger, profile, error)) {
        merger_release(&merger);
        return false;
    }
    profile_release(profile);
    if (!merger_finish(&merger, &ordered, error))
        return false;
    *profile = ordered;
    return true;
}

/* Opens and completes the table's file, which is left to be finished, or released. */
static bool write_table(const struct writer *writer, const char *folder, const struct profile *profile,
                        const struct write_options *options, struct output *output, struct error *error)
{
    char *path;
    if (asprintf(&path, "%s/%s.%s", folder, options->table, writer->extensions) < 0)
        return error_set_memory(error);
    bool good = output_open(output, path, error);
    free(path);
    if (!good)
        return false;
    if (writer->write(profile, options, output, error) && output_complete(output, error))
        return true;
    output_release(output);
    return false;
}

bool picture_tables_write(const struct writer *writer, const char *folder, const struct profile *profile,
                          const struct write_options *options, struct error *error)
{
    struct text_view rest = text_of(writer->tables), name;
    struct output outputs[MAX_TABLES];
    size_t count = 0, finished = 0;
    bool good = true;
    while (good && count < MAX_TABLES && (name = next_name(&rest)).size > 0) {
        struct write_options own = *options;
        char table[64];
        snprintf(table, sizeof(table), "%.*s", TEXT_FORMAT(name));
        own.table = table;
        good = write_table(writer, folder, profile, &own, &outputs[count], error);
        count += good;
    }
    /* Only when all are complete do they replace those of a profile before. */
    while (good && finished < count)
        good = output_finish(&outputs[finished++], error);
    while (finished < count)
        output_release(&outputs[finished++]);
    return good;
}
