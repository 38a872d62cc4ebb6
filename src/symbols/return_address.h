/*
 * return_address.h - return addresses as the processor signed them (aarch64's pointer authentication), made plain.
 */
#ifndef SYMBOLS_RETURN_ADDRESS_H
#define SYMBOLS_RETURN_ADDRESS_H

#include <stdint.h>

/* xpaclri, which does nothing on processors without it. Of a thread of this machine only. */
static inline uint64_t return_address_plain(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t link __asm__("x30") = address;
    __asm__("hint #7" : "+r"(link));
    return link;
#else
    return address;
#endif
}

#endif
