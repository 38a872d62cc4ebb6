/*
 * python_layout.h - the location of CPython's thread states, frames and code objects, for one version.
 *
 * Up to 3.12 the offsets come from a table (x86-64 and aarch64 agree: all fields are 8-byte words or smaller ones in
 * the same order); since 3.13 the interpreter describes them in _Py_DebugOffsets, whose format depends on the version.
 */
#ifndef PYTHON_SAMPLER_PYTHON_LAYOUT_H
#define PYTHON_SAMPLER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

#define NO_OFFSET UINT32_MAX
/* Size of the start of _PyRuntime that python_layout_from_runtime() needs. */
#define PYTHON_DEBUG_OFFSETS_BYTES 1024
/* Maximum size read of each structure. Offsets are checked against these, and buffers have these sizes. */
#define PYTHON_MOST_THREAD_BYTES 4096
#define PYTHON_MOST_FRAME_BYTES 256
#define PYTHON_MOST_CODE_BYTES 1024
#define PYTHON_MOST_STRING_HEAD_BYTES 64
#define PYTHON_MOST_OBJECT_BYTES 256
#define PYTHON_MOST_TYPE_BYTES 1024

enum python_line_table_kind {
    LINE_TABLE_LNOTAB,    /* up to 3.9 */
    LINE_TABLE_RANGES,    /* 3.10, PEP 626 */
    LINE_TABLE_LOCATIONS, /* from 3.11 on */
};

struct python_layout {
    uint32_t version; /* 0x030d: 3.13 */
    bool free_threaded;
    enum python_line_table_kind line_table_kind;
    struct {
        uint32_t interpreters_head;
        uint32_t current_thread; /* holder of the GIL, up to 3.11 */
        uint32_t collecting;     /* 3.8 */
        uint32_t gil;            /* the GIL's state, up to 3.11 */
    } runtime;
    struct {
        uint32_t next;
        uint32_t threads_head;
        uint32_t modules;
        uint32_t gil; /* pointer to the GIL's state, from 3.12 on */
        uint32_t collecting;
        uint32_t code_generation; /* changes when a code is freed (3.14) or created (3.13; searched) */
        uint32_t bytes;           /* of the whole structure; 0: unknown */
    } interpreter;
    struct {
        uint32_t locked;
        uint32_t holder;
        uint32_t enabled;  /* free-threaded builds */
        uint32_t switches; /* counts how often another thread took it */
    } gil;
    struct {
        uint32_t next;
        uint32_t interpreter;
        uint32_t frame;            /* the innermost frame, or a struct on the C stack that points to it */
        uint32_t frame_in_cframe;  /* NO_OFFSET: `frame` is direct */
        uint32_t thread_id;        /* pthread_self() */
        uint32_t native_thread_id; /* NO_OFFSET up to 3.10 */
        uint32_t status;           /* free-threaded: attached or not */
        uint32_t bytes;            /* to read of a thread state */
    } thread;
    struct {
        uint32_t previous;
        uint32_t code;
        uint32_t instruction;    /* pointer to the instruction; up to 3.10 its index */
        uint32_t owner;          /* NO_OFFSET up to 3.10 */
        uint32_t generator;      /* up to 3.10: the generator that the frame belongs to */
        uint32_t bytecode_index; /* free-threaded 3.14: selects the copy of the bytecode */
        uint32_t locals;
        uint32_t bytes;             /* to read of a frame */
        uint8_t first_hidden_owner; /* frames with this owner or a higher one are not Python code */
        uint8_t instruction_bytes;  /* 1 or 2: unit of `instruction` up to 3.10; 0: it is a pointer */
        uint8_t entry_mark;         /* 3.11: offset of the flag of an entry frame; 0: none */
        uint8_t activity;           /* up to 3.10: offset of the flag that the frame is running; 0: none */
    } frame;
    struct {
        uint32_t file_name;
        uint32_t name;
        uint32_t qualified_name; /* NO_OFFSET up to 3.10 */
        uint32_t line_table;
        uint32_t first_line;
        uint32_t bytecode;        /* NO_OFFSET up to 3.10 */
        uint32_t bytecode_copies; /* free-threaded 3.14 */
        uint32_t local_names;
        uint32_t bytes;     /* to read of a code object */
        uint32_t version;   /* 3.12 and 3.13: a number unique to the code object; 0: none */
        uint8_t returns[2]; /* 3.11 and 3.12: instructions that end a frame; 0: none */
    } code;
    struct {
        uint32_t type;
        uint32_t string_length;
        uint32_t string_hash;
        uint32_t string_state;
        uint32_t string_ascii_bytes;
        uint32_t string_compact_bytes;
        uint32_t bytes_size;
        uint32_t bytes_data;
        uint32_t tuple_size;
        uint32_t tuple_items;
        uint32_t dict_keys;
        uint32_t dict_values;
        uint32_t type_name;
        uint32_t type_flags;
        uint32_t type_basic_size;
        uint32_t type_dict_offset;
        uint32_t type_cached_keys;
        uint32_t module_dict;
        uint32_t long_digits; /* of a PyLong; preceded by the word with sign and size */
    } object;
};

/* For 3.8 to 3.12. False with a message for any other version. */
bool python_layout_of_version(struct python_layout *layout, uint32_t version, struct error *error) MUST_CHECK;
/* From the first PYTHON_DEBUG_OFFSETS_BYTES of _PyRuntime, 3.13 or later. */
bool python_layout_from_runtime(struct python_layout *layout, const unsigned char *runtime,
                                struct error *error) MUST_CHECK;
/* True if the bytes start like the _PyRuntime of 3.13 or later. */
bool python_layout_has_debug_offsets(const unsigned char *runtime);

#endif
