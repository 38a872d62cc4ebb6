/*
 * number_text.h - numbers as JSON, CSV and the like want them: whole ones without a point, others as short as exact.
 */
#ifndef FORMATS_NUMBER_TEXT_H
#define FORMATS_NUMBER_TEXT_H

#include "base/output.h"

/* NaN and infinity, which JSON cannot say, become 0. */
void number_text_write(struct output *output, double number);
/* Without exponent, for folded text: other tools read digits and one dot. */
void number_text_write_digits(struct output *output, double number);

#endif
