/*
 * stack_records.h - stack records in JSON, one object per line, among lines of any other kind:
 *
 *     {"stacktrace":["inner","outer"],"count":3,"threadName":"main","threadState":"RUNNABLE",...}   Uber's JVM profiler
 *     19/02/17 INFO ConsoleOutputReporter - Stacktrace: {...}                                       the same in a log
 *     {"stacktrace":["file.py:function:12",...],"count":3,"i_d":"1_id"}                             PySpark profilers
 *
 * Records of other kinds (CpuAndMemory, ProcessInfo, …) are skipped, broken ones with a notice.
 */
#ifndef FORMATS_STACK_RECORDS_H
#define FORMATS_STACK_RECORDS_H

#include "formats/reader.h"

bool stack_records_read(struct byte_source *source, const struct read_options *options,
                        struct profile *profile, struct error *error) MUST_CHECK;
/* True when the head holds a record of a PySpark profiler (else of a JVM). */
bool stack_records_look_like_python(struct text_view head);
bool stack_records_look_like_java(struct text_view head);

#endif
