#include "model/fixed_point.h"

#include <math.h>

#define FRACTION_STEPS 4294967296.0
#define HALF (UINT32_C(1) << 31)
/* The largest double below 2^63. */
#define WHOLE_LIMIT 9223372036854774784.0

struct fixed_point fixed_point_of(double number)
{
    if (isnan(number))
        return (struct fixed_point){0, 0};
    number = fmin(fmax(number, -WHOLE_LIMIT), WHOLE_LIMIT);
    double whole = floor(number), fraction = rint((number - whole) * FRACTION_STEPS);
    if (fraction >= FRACTION_STEPS)
        return (struct fixed_point){(int64_t)whole + 1, 0};
    return (struct fixed_point){(int64_t)whole, (uint32_t)fraction};
}

double fixed_point_double(struct fixed_point number)
{
    return (double)number.whole + number.fraction / FRACTION_STEPS;
}

int64_t fixed_point_round(struct fixed_point number)
{
    return number.whole + (number.fraction >= HALF && number.whole < INT64_MAX);
}
