/*
 * memory_image.h - pieces of a process's memory in a file: what record_python_memory writes and fuzz_python_memory
 * reads.
 *
 * The file is a head, then pieces, each with its bytes behind it. Where pieces overlap the later one holds, from that
 * read on which it names: so memory changes while it is read.
 */
#ifndef FUZZ_MEMORY_IMAGE_H
#define FUZZ_MEMORY_IMAGE_H

#include <stdint.h>

/* In the version: what no piece has can be read, too, and is zero. */
#define MEMORY_IMAGE_FILLED 0x80000000u

struct memory_image_head {
    uint64_t runtime;   /* address of _PyRuntime */
    uint32_t version;   /* 0x030a: 3.10; one that describes itself needs none */
    uint32_t inner_pid; /* as the process knows itself */
};

struct memory_image_piece {
    uint64_t address;
    uint32_t size;
    uint32_t first_read; /* the number of the read from which on it is there */
};

#endif
