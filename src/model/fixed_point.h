/*
 * fixed_point.h - weights whose sums do not depend on the order of adding: 64 bits before the point and 32 after it.
 */
#ifndef MODEL_FIXED_POINT_H
#define MODEL_FIXED_POINT_H

#include <stdint.h>

/* whole + fraction / 2^32 */
struct fixed_point {
    int64_t whole;
    uint32_t fraction;
};

/* The nearest one; 0 of what is not a number. */
struct fixed_point fixed_point_of(double number);
double fixed_point_double(struct fixed_point number);
/* Rounds half up. */
int64_t fixed_point_round(struct fixed_point number);

#endif
