/*
 * rollup_file.h - the file of a roll-up: for each series of its recordings (application, attempt and labels) one
 * section, and perhaps one of all series together. What is in a section the writer knows; it is opaque here.
 *
 * docs/COLLECTOR.md describes the layout. A file is written once and never changed.
 *
 * Owns: the descriptor and the list of sections, until rollup_file_close(). Threads: one at a time.
 */
#ifndef COLLECTOR_ROLLUP_FILE_H
#define COLLECTOR_ROLLUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"
#include "collector/store/stored_rollup.h"

/* Of what is in sections, a digit: a file with others is taken as damaged. */
#define ROLLUP_SECTION_VERSION 1
#define ROLLUP_SECTION_LIMIT ((size_t)1 << 16)
/* Of one section, compressed. */
#define ROLLUP_SECTION_BYTES ((size_t)1 << 30)

struct rollup_section {
    bool is_union;                  /* of all series; then `series` is empty */
    struct stored_recording series; /* application, attempt and labels */
    struct text_view drops;         /* names of labels that its samples had and lost, a line each */
    uint64_t recordings;            /* that it sums up */
    uint64_t broken;                /* and those that could not be read */
    uint64_t offset, bytes;         /* where it is */
    uint64_t unpacked_bytes;
    uint32_t crc;
};

struct rollup_file {
    int descriptor;
    struct stored_rollup rollup; /* `bytes` is the file's size, `number` the one in its name */
    struct rollup_section *sections;
    size_t section_count;
    struct text_builder directory;
};

#define ROLLUP_NAME_BYTES 32
void rollup_file_name(char name[ROLLUP_NAME_BYTES], uint64_t number);
/* The number in a file name "0000000042.rollup"; false: another file. */
bool rollup_file_number(const char *name, uint64_t *number);

/* Reads its list of sections. ERROR_BAD_INPUT: it is damaged, or of another version. */
bool rollup_file_open(struct rollup_file *file, int folder, uint64_t number, struct error *error) MUST_CHECK;
/* Reads only what it says at its end: no list of sections. */
bool rollup_file_open_end(struct rollup_file *file, int folder, uint64_t number,
                          struct error *error) MUST_CHECK;
/* False with ERROR_BAD_INPUT if it sums up other recordings than these of the group: its number was given twice. */
bool rollup_file_check(const struct rollup_file *file, const char *group, uint64_t first, uint64_t last,
                       struct error *error) MUST_CHECK;
void rollup_file_close(struct rollup_file *file);
/* Appends the bytes of a section, if their checksum is right. */
bool rollup_file_read(const struct rollup_file *file, const struct rollup_section *section,
                      struct text_builder *to, struct error *error) MUST_CHECK;

/* To write one: begin, each section, end. The output stays the caller's. */
struct rollup_writer {
    struct output *output;
    struct text_builder directory;
    uint32_t section_count;
};

void rollup_writer_begin(struct rollup_writer *writer, struct output *output);
/* Sets the section's place and checksum. */
bool rollup_writer_add(struct rollup_writer *writer, struct rollup_section *section, struct text_view bytes,
                       struct error *error) MUST_CHECK;
bool rollup_writer_end(struct rollup_writer *writer, const struct stored_rollup *rollup,
                       struct error *error) MUST_CHECK;
/* In any case. */
void rollup_writer_release(struct rollup_writer *writer);

#endif
