/*
 * recording_name.h - whose recording a file is, by its name: "exec-1.000002.jfr" is executor 1's.
 */
#ifndef SPARK_RECORDING_NAME_H
#define SPARK_RECORDING_NAME_H

#include "base/text_view.h"

/* "exec-1" of "dir/exec-1.000002.jfr.gz". */
struct text_view recording_base_name(struct text_view path);
/* "driver", or the executor's id; empty when the name does not tell. */
struct text_view recording_executor(struct text_view path);

#endif
