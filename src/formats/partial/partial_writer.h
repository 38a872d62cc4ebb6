/*
 * partial_writer.h - writes a sum of the merger as partial_format.h describes. Equal sums give equal bytes.
 */
#ifndef FORMATS_PARTIAL_WRITER_H
#define FORMATS_PARTIAL_WRITER_H

#include "base/output.h"
#include "formats/reader.h"
#include "model/profile.h"

/* `read`: how the profiles were read that were summed up, with its sum_options. */
void partial_write(const struct profile *sum, const struct read_options *read, struct output *output);

#endif
