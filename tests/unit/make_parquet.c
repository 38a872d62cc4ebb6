/*
 * make_parquet.c - writes the table of standard input as a Parquet file, for tests/parquet_tables.py.
 *
 * The first line has the columns, separated by tabs: NAME:TYPE:ENCODING[:optional], types and encodings by their
 * numbers in parquet_footer.h. Each further line has the values of a row; \N is none, and texts are in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/parquet/parquet_file.h"

static struct parquet_column columns[PARQUET_COLUMN_LIMIT];

static size_t read_columns(char *line)
{
    size_t count = 0;
    for (char *rest = line, *word; (word = strsep(&rest, "\t\n")) != NULL && *word != '\0'; count++) {
        const char *name = strsep(&word, ":"), *type = strsep(&word, ":"), *encoding = strsep(&word, ":");
        columns[count] =
            (struct parquet_column){strdup(name), (enum parquet_type)strtol(type, NULL, 10),
                                    (enum parquet_encoding)strtol(encoding, NULL, 10), word != NULL};
    }
    return count;
}

static void add_text(struct parquet_file *file, size_t column, const char *digits)
{
    size_t size = strlen(digits) / 2;
    char *text = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(digits + 2 * i, "%2x", &byte) != 1)
            exit(2);
        text[i] = (char)byte;
    }
    parquet_add_text(file, column, (struct text_view){text, size});
    free(text);
}

static bool copy_rows(struct parquet_file *file, size_t count, struct error *error)
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    while (good && getline(&line, &room, stdin) > 0) {
        char *rest = line;
        for (size_t i = 0; i < count; i++) {
            const char *word = strsep(&rest, "\t\n");
            if (strcmp(word, "\\N") == 0)
                parquet_add_null(file, i);
            else if (columns[i].type == PARQUET_TEXT)
                add_text(file, i, word);
            else
                parquet_add_number(file, i, strtoll(word, NULL, 10));
        }
        good = parquet_end_row(file, error);
    }
    free(line);
    return good;
}

int main(void)
{
    struct error error = {0};
    struct output output;
    struct parquet_file file;
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, stdin) <= 0 || !output_open(&output, "-", &error))
        return 2;
    size_t count = read_columns(line);
    struct parquet_property properties[] = {{"rows", "random"}};
    bool good = parquet_file_init(&file, columns, count, &output, &error) &&
                copy_rows(&file, count, &error) && parquet_file_finish(&file, properties, 1, &error);
    parquet_file_release(&file);
    good = good && output_finish(&output, &error);
    output_release(&output);
    for (size_t i = 0; i < count; i++)
        free((char *)columns[i].name);
    free(line);
    if (!good)
        fprintf(stderr, "%s\n", error.message);
    return good ? 0 : 1;
}
