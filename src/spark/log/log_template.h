/*
 * log_template.h - a message with its varying parts masked, so that similar messages are equal.
 *
 *     "Running task 3.0 in stage 7.0 (TID 41)"  →  "Running task # in stage # (TID #)"
 *
 * Numbers, hexadecimal identifiers and UUIDs become '#'.
 */
#ifndef SPARK_LOG_TEMPLATE_H
#define SPARK_LOG_TEMPLATE_H

#include "base/text_builder.h"
#include "base/text_view.h"

/* Appends the masked text; no line end is masked. */
void log_template_add(struct text_builder *to, struct text_view text);

#endif
