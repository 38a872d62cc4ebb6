/*
 * picture_tables.h - formats that are made of tables: a folder with a file for each, or one of them as a file.
 */
#ifndef COMMANDS_PICTURE_TABLES_H
#define COMMANDS_PICTURE_TABLES_H

#include <stdbool.h>

#include "base/attributes.h"
#include "formats/writer.h"

/* Checks the table's name (NULL: all tables, in a folder), and that the output can be written, before long work; makes
 * the folder. `writer` NULL: none. */
bool picture_tables_prepare(const struct writer *writer, const char *path, const char *table,
                            struct error *error) MUST_CHECK;
/* Numbers the profile by its content, with times rounded down, as tables need it. */
bool picture_tables_order(struct profile *profile, double resolution, struct error *error) MUST_CHECK;
/* All tables into the folder, under their names only when all are complete. */
bool picture_tables_write(const struct writer *writer, const char *folder, const struct profile *profile,
                          const struct write_options *options, struct error *error) MUST_CHECK;

#endif
