#include "render/page_scale.h"

#include <math.h>

#define FRACTION_UNIT 1e-6

static uint64_t common_divisor(uint64_t left, uint64_t right)
{
    while (right != 0) {
        uint64_t rest = left % right;
        left = right;
        right = rest;
    }
    return left;
}

void page_scale_add(struct page_scale *scale, double number)
{
    if (!(number > 0) || !isfinite(number))
        return;
    if (number > scale->largest)
        scale->largest = number;
    if (number >= PAGE_EXACT_LIMIT || number != floor(number))
        scale->fractions = true;
    else if (scale->divisor != 1)
        scale->divisor = common_divisor((uint64_t)number, scale->divisor);
}

double page_scale_unit(const struct page_scale *scale)
{
    if (!scale->fractions)
        return scale->divisor == 0 ? 1 : (double)scale->divisor;
    /* Half of the exact range, since samples are summed up. */
    double least = scale->largest / (PAGE_EXACT_LIMIT / 2);
    return least > FRACTION_UNIT ? least : FRACTION_UNIT;
}

uint64_t page_scale_stored(double number, double unit)
{
    if (!(number > 0))
        return 0;
    double stored = round(number / unit);
    return stored < PAGE_EXACT_LIMIT ? (uint64_t)stored : (uint64_t)PAGE_EXACT_LIMIT - 1;
}
