/*
 * host_report.h - a comparison of hosts as text for the terminal, and as JSON for the page (docs/PAGE_DATA.md).
 */
#ifndef COMMANDS_HOST_REPORT_H
#define COMMANDS_HOST_REPORT_H

#include "base/attributes.h"
#include "base/text_builder.h"
#include "commands/command.h"
#include "commands/record/host_comparison.h"

void host_report_print(const struct command *command, const struct host_comparison *all);
bool host_report_json(const struct host_comparison *all, struct text_builder *to,
                      struct error *error) MUST_CHECK;

#endif
