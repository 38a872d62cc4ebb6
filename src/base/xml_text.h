/*
 * xml_text.h - writes text into XML or HTML, as content or inside a quoted attribute. What XML cannot hold (control
 * characters, invalid UTF-8) becomes U+FFFD.
 */
#ifndef BASE_XML_TEXT_H
#define BASE_XML_TEXT_H

#include "base/output.h"
#include "base/text_view.h"

void xml_text_write(struct output *output, struct text_view text);

#endif
