/*
 * csv_text.h - writes text as a field of CSV: quoted where it must be, quotes doubled.
 */
#ifndef BASE_CSV_TEXT_H
#define BASE_CSV_TEXT_H

#include "base/output.h"
#include "base/text_view.h"

void csv_text_write(struct output *output, struct text_view text);

#endif
