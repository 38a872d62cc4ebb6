/*
 * multipart.h - the parts of a body of multipart/form-data, one after the other.
 *
 * Owns: nothing; views point into the body and into the header.
 * Limit: MULTIPART_PARTS parts, headers of MULTIPART_HEADER_BYTES each.
 */
#ifndef COLLECTOR_MULTIPART_H
#define COLLECTOR_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define MULTIPART_PARTS 16
#define MULTIPART_HEADER_BYTES 4096
#define MULTIPART_BOUNDARY_BYTES 70

struct multipart {
    struct text_view rest;
    char delimiter[2 + 2 + MULTIPART_BOUNDARY_BYTES + 1]; /* line end, "--", boundary */
    size_t parts;
    bool ended;
};

struct multipart_part {
    struct text_view name;
    struct text_view content;
};

/* Whether this is such a Content-Type; NULL is none. */
bool multipart_is_type(const char *content_type);
bool multipart_init(struct multipart *multipart, const char *content_type, struct text_view body,
                    struct error *error) MUST_CHECK;
/* False at the end, or with *error set. */
bool multipart_next(struct multipart *multipart, struct multipart_part *part, struct error *error) MUST_CHECK;

#endif
