/*
 * perf_registers.h - the kernel's numbers of the registers that a walk needs, in masks of perf events
 * (asm/perf_regs.h).
 */
#ifndef SYMBOLS_PERF_REGISTERS_H
#define SYMBOLS_PERF_REGISTERS_H

#include <stdint.h>

#if defined(__aarch64__)
enum { PERF_REGISTER_FP = 29, PERF_REGISTER_LINK = 30, PERF_REGISTER_SP = 31, PERF_REGISTER_PC = 32 };
#define PERF_RECORD_REGISTERS                                                                                \
    (UINT64_C(1) << PERF_REGISTER_FP | UINT64_C(1) << PERF_REGISTER_LINK | UINT64_C(1) << PERF_REGISTER_SP | \
     UINT64_C(1) << PERF_REGISTER_PC)
#else
enum {
    PERF_REGISTER_FP = 6,
    PERF_REGISTER_SP = 7,
    PERF_REGISTER_PC = 8,
    PERF_REGISTER_LINK = PERF_REGISTER_FP
};
#define PERF_RECORD_REGISTERS \
    (UINT64_C(1) << PERF_REGISTER_FP | UINT64_C(1) << PERF_REGISTER_SP | UINT64_C(1) << PERF_REGISTER_PC)
#endif

#endif
