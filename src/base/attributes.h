/*
 * attributes.h - compiler attributes, spelled once.
 */
#ifndef BASE_ATTRIBUTES_H
#define BASE_ATTRIBUTES_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define CACHE_LINE_BYTES 64
/* For functions that only prefetch: gcc considers them free of effects and drops calls not inlined early. */
#define PREFETCHING static inline __attribute__((always_inline))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
