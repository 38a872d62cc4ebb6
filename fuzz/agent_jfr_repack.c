/*
 * agent_jfr_repack.c - gives libFuzzer's input to what puts an ended recording in order.
 */
#include <stdlib.h>

#include "jvm_agent/jfr/jfr_repack.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_builder packed;
    struct error error = {0};
    text_builder_init(&packed, LIMIT_BYTES);
    if (!jfr_repack((struct text_view){(const char *)data, size}, &packed, &error) &&
        error.message[0] == '\0')
        abort();
    text_builder_release(&packed);
    return 0;
}
