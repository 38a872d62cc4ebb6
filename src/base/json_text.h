/*
 * json_text.h - writes text as a JSON string, quotes included; invalid UTF-8 becomes U+FFFD. '<' is escaped too, so
 * that the result may be used inside a script element.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/output.h"
#include "base/text_view.h"

void json_text_write(struct output *output, struct text_view text);

#endif
