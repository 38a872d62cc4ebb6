/*
 * stack_order.h - samples in the order of a walk through the stack tree, so that neighbours share most of their
 * callers.
 *
 * Owns: the rows, until stack_order_release(). Borrows the profile.
 */
#ifndef FORMATS_STACK_ORDER_H
#define FORMATS_STACK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

struct stack_order_row {
    uint64_t key; /* equal for samples of one stack and context, which follow one another */
    uint32_t sample;
};

struct stack_order {
    struct stack_order_row *rows;
    size_t size;
};

bool stack_order_init(struct stack_order *order, const struct profile *profile,
                      struct error *error) MUST_CHECK;
void stack_order_release(struct stack_order *order);

#endif
