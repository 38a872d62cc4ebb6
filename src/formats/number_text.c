#include "formats/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void number_text_write(struct output *output, double number)
{
    if (!isfinite(number))
        number = 0;
    if (fabs(number) < 9e15 && number == (double)(int64_t)number) {
        output_i64(output, (int64_t)number);
        return;
    }
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    output_c_string(output, text);
}
