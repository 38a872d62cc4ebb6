/*
 * frame.h - one stack frame in eight bytes: the kind in the top byte, its data below.
 *
 * Java kinds: bytecode index in bits 32..47, method number (method_table.h) in bits 0..31. Native, stub and kernel
 * kinds: an address in bits 0..47 (the upper bits of kernel addresses are omitted). Class frames: class number in bits
 * 0..31. Error frames: enum frame_error.
 */
#ifndef JVM_AGENT_FRAME_H
#define JVM_AGENT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* The first seven are the numbers of JFR's frame types in every recording we write. */
enum agent_frame_kind {
    AGENT_FRAME_INTERPRETED = 0,
    AGENT_FRAME_COMPILED = 1,
    AGENT_FRAME_INLINED = 2,
    AGENT_FRAME_NATIVE = 3,
    AGENT_FRAME_STUB = 4, /* generated code that is no Java method */
    AGENT_FRAME_KERNEL = 5,
    AGENT_FRAME_C1_COMPILED = 6,
    AGENT_FRAME_CLASS = 7, /* the class of an object or lock: the leaf of an allocation or lock stack */
    AGENT_FRAME_ERROR = 8,
    AGENT_FRAME_PROCESSOR = 9, /* the processor that the sample was taken on, as root */
    AGENT_FRAME_POLICY = 10,   /* how the kernel schedules the thread, as root above all others */
};

enum frame_error {
#define FRAME_ERROR_TEXT(name, text) FRAME_ERROR_##name,
#include "jvm_agent/frame_errors.def"
#undef FRAME_ERROR_TEXT
    FRAME_ERRORS
};

typedef uint64_t frame_word;

#define FRAME_ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

static inline frame_word frame_java(enum agent_frame_kind kind, uint32_t method, int bytecode_index)
{
    uint64_t index = bytecode_index < 0 || bytecode_index > 0xffff ? 0 : (uint64_t)bytecode_index;
    return (uint64_t)kind << 56 | index << 32 | method;
}

static inline frame_word frame_address(enum agent_frame_kind kind, uintptr_t address)
{
    return (uint64_t)kind << 56 | ((uint64_t)address & FRAME_ADDRESS_MASK);
}

static inline frame_word frame_number(enum agent_frame_kind kind, uint32_t number)
{
    return (uint64_t)kind << 56 | number;
}

static inline enum agent_frame_kind frame_kind_of(frame_word frame)
{
    return (enum agent_frame_kind)(frame >> 56);
}

static inline bool frame_is_java(frame_word frame)
{
    enum agent_frame_kind kind = frame_kind_of(frame);
    return kind == AGENT_FRAME_INTERPRETED || kind == AGENT_FRAME_COMPILED || kind == AGENT_FRAME_INLINED ||
           kind == AGENT_FRAME_C1_COMPILED;
}

static inline uint32_t frame_low(frame_word frame)
{
    return (uint32_t)frame;
}

static inline int frame_bytecode_index(frame_word frame)
{
    return (int)(frame >> 32 & 0xffff);
}

static inline uint64_t frame_address_of(frame_word frame)
{
    return frame & FRAME_ADDRESS_MASK;
}

#endif
