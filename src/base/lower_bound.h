/*
 * lower_bound.h - index of the first item of a sorted list whose field is not below a key, or the list's size.
 */
#ifndef BASE_LOWER_BOUND_H
#define BASE_LOWER_BOUND_H

#include <stddef.h>

#define LOWER_BOUND(items, count, field, key)           \
    ({                                                  \
        size_t low_ = 0, high_ = (count);               \
        while (low_ < high_) {                          \
            size_t middle_ = low_ + (high_ - low_) / 2; \
            if ((items)[middle_].field < (key))         \
                low_ = middle_ + 1;                     \
            else                                        \
                high_ = middle_;                        \
        }                                               \
        low_;                                           \
    })

#endif
