/*
 * write_parquet.c - one of a profile's tables as a Parquet file.
 */
#include "formats/parquet/profile_tables.h"
#include "formats/writer.h"

/* Of what docs/PARQUET.md describes; another first number when old queries no longer work. */
#define SCHEMA_VERSION "2.0"

static const struct profile_table *const tables[] = {&table_samples,      &table_stack_frames, &table_frames,
                                                     &table_method_costs, &table_applications, &table_events};

static const struct profile_table *table_by_name(const char *name)
{
    for (size_t i = 0; name != NULL && i < COUNT_OF(tables); i++)
        if (text_equal(text_of(name), text_of(tables[i]->name)))
            return tables[i];
    return tables[0];
}

static bool write(const struct profile *profile, const struct write_options *options, struct output *output,
                  struct error *error)
{
    const struct profile_table *table = table_by_name(options->table);
    const struct parquet_property properties[] = {{"sparkflame.schema", SCHEMA_VERSION},
                                                  {"sparkflame.table", table->name}};
    struct profile_tables shared;
    struct parquet_file file;
    if (!profile_tables_init(&shared, profile, options->weight, error))
        return false;
    bool good = parquet_file_init(&file, table->columns, table->column_count, output, error) &&
                table->write(&shared, &file, error) &&
                parquet_file_finish(&file, properties, COUNT_OF(properties), error);
    parquet_file_release(&file);
    profile_tables_release(&shared);
    return good;
}

extern const struct writer writer_parquet;
const struct writer writer_parquet = {
    .name = "parquet",
    .summary = "Tables for SQL in a folder of Parquet files",
    .extensions = "parquet",
    .holds_times = true,
    .holds_labels = true,
    .holds_lines = true,
    .holds_kinds = true,
    .is_packed = true,
    .tables = "samples stack_frames frames method_costs applications events",
    .write = write,
};
