/*
 * jfr_details.h - labels implied by another label: samples with "stage=3" also have "job=1;description=nightly".
 *
 * Owns: the texts, until jfr_details_release().
 * Threads: one at a time while adding; then many may look up.
 */
#ifndef FORMATS_JFR_DETAILS_H
#define FORMATS_JFR_DETAILS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_view.h"

struct jfr_details {
    struct string_table texts;
    struct id_map by_label; /* from and to numbers of texts */
};

bool jfr_details_init(struct jfr_details *details) MUST_CHECK;
void jfr_details_release(struct jfr_details *details);
/* The later of two for one label wins. False: out of memory. */
bool jfr_details_add(struct jfr_details *details, struct text_view label, struct text_view labels) MUST_CHECK;
/* Labels implied by the first label of a text ("stage=3;task=41"); empty: none. */
struct text_view jfr_details_find(const struct jfr_details *details, struct text_view text);

#endif
