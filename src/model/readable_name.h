/*
 * readable_name.h - readable forms of names that compilers and runtimes generate.
 *
 * Normalizing only removes what differs from run to run (addresses, counters), so that executors and runs merge;
 * readable names are clearer: `Foo.lambda$bar$3` is "Foo.bar lambda", Spark's `GeneratedClass$GeneratedIteratorFor…`
 * "generated code (stage 2)", Scala's `$anonfun$map$1$adapted` "map closure".
 */
#ifndef MODEL_READABLE_NAME_H
#define MODEL_READABLE_NAME_H

#include "base/text_builder.h"
#include "base/text_view.h"
#include "model/frame_table.h"

void normalized_name_add(struct text_view name, struct text_builder *text);
void readable_name_add(struct text_view name, enum frame_kind kind, struct text_builder *text);

#endif
