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

void number_text_write_digits(struct output *output, double number)
{
    if (number >= 0 && number < 9e15 && number == (double)(uint64_t)number) {
        output_u64(output, (uint64_t)number);
        return;
    }
    char text[400];
    for (int digits = 1; digits <= 20; digits++) {
        snprintf(text, sizeof(text), "%.*f", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    output_c_string(output, text);
}
