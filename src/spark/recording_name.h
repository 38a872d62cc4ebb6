/*
 * recording_name.h - the process of a recording, by its path: "exec-1/000002.jfr" and, of earlier versions and on
 * local disks, "exec-1.000002.jfr" are executor 1's, "profile-exec-1.jfr" of Spark's own profiler, too.
 */
#ifndef SPARK_RECORDING_NAME_H
#define SPARK_RECORDING_NAME_H

#include "base/text_view.h"

/* "exec-1" of "dir/exec-1.000002.jfr.gz" and of "dir/exec-1/000002.jfr". */
struct text_view recording_base_name(struct text_view path);
/* The executor of "exec-7.000001.jfr", "profile-exec-7.jfr" or "driver.000001.jfr"; empty: the name has none. */
struct text_view recording_executor(struct text_view path);
/* The application id of the last folder or file whose name begins with one: "app-20261116073000-0001" of
 * "a/app-20261116073000-0001_2/exec-7.jfr"; empty: none does. */
struct text_view recording_application(struct text_view path);

#endif
