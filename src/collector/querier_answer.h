/*
 * querier_answer.h - answers of Pyroscope's QuerierService, as messages of protobuf or JSON.
 */
#ifndef COLLECTOR_QUERIER_ANSWER_H
#define COLLECTOR_QUERIER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "collector/querier_call.h"

/* The rows of a list: ids of profile types, names, values, or labels as lines "name=value". */
bool querier_write_rows(enum querier_method method, bool is_json, char *const rows[], size_t count,
                        struct text_builder *to, struct error *error) MUST_CHECK;
/* SelectMergeStacktracesResponse of the JSON that `sparkflame query --format flamebearer` writes. */
bool querier_write_graph(struct text_view flamebearer, bool is_json, struct text_builder *to,
                         struct error *error) MUST_CHECK;
/* SelectSeriesResponse of the lines that `sparkflame query --over-time` writes, split by these labels. */
bool querier_write_points(struct text_view lines, const struct querier_texts *names, bool is_json,
                          struct text_builder *to, struct error *error) MUST_CHECK;

#endif
