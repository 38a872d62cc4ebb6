/*
 * fuzz_demangle.c - gives libFuzzer's input to the demangler, as a name, with room that its size picks.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t room = 1 + size % 7 * 300;
    char *name = malloc(size + 1), *out = malloc(room);
    if (name != NULL && out != NULL) {
        memcpy(name, data, size);
        name[size] = '\0';
        for (int style = DEMANGLE_FULL; style <= DEMANGLE_NAME_ONLY; style++) {
            (void)demangle(name, style, out, room);
            if (memchr(out, '\0', room) == NULL)
                abort();
        }
    }
    free(name);
    free(out);
    return 0;
}
