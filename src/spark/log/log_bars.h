/*
 * log_bars.h - Spark's console progress bars, which share lines with the log when both go to one stream.
 */
#ifndef SPARK_LOG_BARS_H
#define SPARK_LOG_BARS_H

#include "base/text_view.h"

/* What follows the bars at the start of a line: "26/11/16 …" of "\r[Stage 15:==> (3 + 2) / 6]26/11/16 …"; the line
 * itself if it starts with none. Empty if the line holds nothing else. */
struct text_view log_bars_skip(struct text_view line);

#endif
