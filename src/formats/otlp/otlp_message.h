/*
 * otlp_message.h - OpenTelemetry's profiles, the message ExportProfilesServiceRequest, which has the fields of
 * ProfilesData: field numbers, tables, attributes and lists of numbers.
 *
 * The package is opentelemetry.proto.profiles.v1development as of release 1.10 of the protocol; releases before have
 * other numbers under the same names.
 *
 * Owns: the lists that have a release function. Texts point into the message; `file` is its first byte, from which the
 * offsets of errors count.
 */
#ifndef FORMATS_OTLP_MESSAGE_H
#define FORMATS_OTLP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "formats/pprof/protobuf_reader.h"

#define OTLP_ITEM_LIMIT ((size_t)1 << 31)

/* Of the request. */
enum otlp_request_field { OTLP_RESOURCE_PROFILES = 1, OTLP_DICTIONARY = 2 };
/* Of the dictionary. */
enum otlp_table {
    OTLP_MAPPINGS = 1,
    OTLP_LOCATIONS = 2,
    OTLP_FUNCTIONS = 3,
    OTLP_LINKS = 4,
    OTLP_STRINGS = 5,
    OTLP_ATTRIBUTES = 6,
    OTLP_STACKS = 7,
};
#define OTLP_TABLES 8
/* Of ResourceProfiles and ScopeProfiles, and of a resource. */
enum otlp_resource_field { OTLP_RESOURCE = 1, OTLP_SCOPE_PROFILES = 2 };
enum otlp_scope_field { OTLP_PROFILES = 2 };
enum { OTLP_RESOURCE_ATTRIBUTES = 1 };

enum otlp_profile_field {
    OTLP_SAMPLE_TYPE = 1,
    OTLP_SAMPLES = 2,
    OTLP_TIME = 3,
    OTLP_DURATION = 4,
    OTLP_PERIOD_TYPE = 5,
    OTLP_PERIOD = 6,
    OTLP_PROFILE_ATTRIBUTES = 11,
};

enum otlp_sample_field {
    OTLP_SAMPLE_STACK = 1,
    OTLP_SAMPLE_ATTRIBUTES = 2,
    OTLP_SAMPLE_LINK = 3,
    OTLP_SAMPLE_VALUES = 4,
    OTLP_SAMPLE_TIMES = 5,
};

/* False with *error set: "offset 17: a stack that is not there". */
bool otlp_fail(const void *file, struct text_view at, const char *what, struct error *error);

typedef bool (*otlp_taker)(void *context, const struct protobuf_field *field, struct error *error);
/* Calls `take` for each field of a message; false from it ends this, and is returned. */
bool otlp_each_field(struct text_view message, const void *file, otlp_taker take, void *context,
                     struct error *error) MUST_CHECK;

/* ---- the tables ---- */

/* The entries of one table: messages, or texts. */
struct otlp_entries {
    struct text_view *items;
    size_t count, capacity;
};

/* All of the dictionary. Number 0 of each stands for nothing. */
struct otlp_tables {
    const void *file;
    struct otlp_entries of[OTLP_TABLES]; /* by enum otlp_table */
    size_t count, limit;                 /* entries of all */
};

/* Reads those of a request, wherever they stand; more than `limit` entries in all are ERROR_MEMORY. Owns the lists,
 * until otlp_tables_release(), also after a failure. */
bool otlp_tables_read(struct otlp_tables *tables, struct text_view request, size_t limit,
                      struct error *error) MUST_CHECK;
void otlp_tables_release(struct otlp_tables *tables);
/* The entry of a number; "" for 0. `what` says in the error what refers to it, at `at`. */
bool otlp_tables_get(const struct otlp_tables *tables, enum otlp_table table, uint64_t number,
                     struct text_view at, const char *what, struct text_view *entry,
                     struct error *error) MUST_CHECK;
bool otlp_string(const struct otlp_tables *tables, uint64_t number, struct text_view at,
                 struct text_view *text, struct error *error) MUST_CHECK;

/* ---- attributes ---- */

struct otlp_attribute {
    struct text_view name;
    struct text_view value; /* "" for lists and other values that are no plain text or number */
    char number[32];        /* what the value may point to: do not copy the struct */
};

/* Where an attribute has the string number of its name: KeyValue, and KeyValueAndUnit of the dictionary. */
enum otlp_attribute_form { OTLP_KEY_VALUE = 3, OTLP_KEY_VALUE_AND_UNIT = 1 };

bool otlp_attribute_read(struct otlp_attribute *attribute, const struct otlp_tables *tables,
                         struct text_view message, enum otlp_attribute_form form,
                         struct error *error) MUST_CHECK;

/* ---- lists of numbers ---- */

struct otlp_numbers {
    uint64_t *items;
    size_t count, capacity;
};

void otlp_numbers_release(struct otlp_numbers *numbers);
/* Appends what a field has, packed or not: of varints, and of fixed numbers of 8 bytes. */
bool otlp_numbers_add(struct otlp_numbers *numbers, const struct protobuf_field *field, const void *file,
                      struct error *error) MUST_CHECK;
bool otlp_numbers_add_fixed(struct otlp_numbers *numbers, const struct protobuf_field *field,
                            const void *file, struct error *error) MUST_CHECK;

#endif
