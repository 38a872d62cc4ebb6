/*
 * page_scale.h - finds the largest unit in which numbers are whole: samples of 10 ms are stored as 1, 2, 3.
 */
#ifndef RENDER_PAGE_SCALE_H
#define RENDER_PAGE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* JavaScript's numbers are exact up to here. */
#define PAGE_EXACT_LIMIT 9007199254740992.0

struct page_scale {
    uint64_t divisor; /* greatest common divisor so far; 0: no number yet */
    double largest;
    bool fractions;
};

void page_scale_add(struct page_scale *scale, double number);
/* What a stored 1 stands for; positive. */
double page_scale_unit(const struct page_scale *scale);
/* Negative numbers and NaN are stored as 0. */
uint64_t page_scale_stored(double number, double unit);

#endif
