/*
 * number_text.h - numbers for JSON, CSV and other text: integers without a point, others in the shortest exact form.
 */
#ifndef FORMATS_NUMBER_TEXT_H
#define FORMATS_NUMBER_TEXT_H

#include "base/output.h"

/* NaN and infinity, which JSON lacks, become 0. */
void number_text_write(struct output *output, double number);
/* Without exponent, for folded text: other tools read digits and one dot. */
void number_text_write_digits(struct output *output, double number);

#endif
