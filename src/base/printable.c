#include "base/printable.h"

#include <stdbool.h>

void make_printable(char *text, size_t size)
{
    bool after_c2 = false; /* the first byte of U+0080 to U+00BF */
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool is_second = after_c2 && byte >= 0x80 && byte < 0xa0;
        if (is_second)
            text[i - 1] = '?';
        if (is_second || byte < ' ' || byte == 0x7f)
            text[i] = '?';
        after_c2 = byte == 0xc2;
    }
}
