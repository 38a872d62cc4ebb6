/*
 * vm_read.h - plain loads at computed addresses; only under a fault point (fault_guard.h).
 */
#ifndef JVM_AGENT_VM_READ_H
#define JVM_AGENT_VM_READ_H

#include <stdbool.h>
#include <stdint.h>

/* Sanitizers must not check reads of memory of other threads and functions. */
#define RAW_READ __attribute__((no_sanitize("address")))

RAW_READ static inline uintptr_t load_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

RAW_READ static inline int32_t load_int(uintptr_t address)
{
    return *(const volatile int32_t *)address;
}

RAW_READ static inline uint16_t load_u16(uintptr_t address)
{
    return *(const volatile uint16_t *)address;
}

RAW_READ static inline uint8_t load_byte(uintptr_t address)
{
    return *(const volatile uint8_t *)address;
}

/* A field; the offset is negative only if the field is missing. */
static inline uintptr_t field_of(uintptr_t object, int32_t offset)
{
    return object + (uintptr_t)(intptr_t)offset;
}

#if defined(__aarch64__)
#define USER_ADDRESS_BITS 48
#else
#define USER_ADDRESS_BITS 47
#endif

/* True if it may be the address of a VM object: aligned, in user space, not in the first page. */
static inline bool is_plausible(uintptr_t address)
{
    return address >= 0x1000 && (address & 7) == 0 && address >> USER_ADDRESS_BITS == 0;
}

#endif
