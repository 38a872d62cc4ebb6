/*
 * frame_rules.h - runs the instructions of one function's frame description and reports each change of the rule.
 */
#ifndef SYMBOLS_FRAME_RULES_H
#define SYMBOLS_FRAME_RULES_H

#include "symbols/frame_section.h"
#include "symbols/unwind_rule.h"

/* Called for each address (as linked) from which on rule holds; false stops. complicated: rule has kind UNWIND_NONE
   because ours cannot express it. */
typedef bool frame_rule_callback(void *context, uint64_t address, struct unwind_rule rule, bool complicated);

/* False when the callback stopped. Damaged instructions end the function early, with rule UNWIND_NONE. */
bool frame_rules_run(const struct frame_entry *entry, uint16_t machine, frame_rule_callback *callback,
                     void *context);

#endif
