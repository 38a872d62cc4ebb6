/*
 * native_names.h - the frames of a profile for addresses of processes and of the kernel.
 *
 * Owns: the kernel's symbols, until native_names_release(); the profile is the caller's.
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_NATIVE_NAMES_H
#define NATIVE_SAMPLER_NATIVE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "model/profile.h"
#include "native_sampler/process_image.h"
#include "symbols/symbol_table.h"

struct native_names {
    struct profile *profile;
    struct symbol_table kernel;
    bool kernel_was_read;
    bool kernel_is_hidden; /* its frames are one unknown */
    struct id_map kernel_frames;
    uint32_t unknown; /* the frame of an address without code or name; NO_FRAME: none yet */
};

void native_names_init(struct native_names *names, struct profile *profile);
void native_names_release(struct native_names *names);
/* Both give NO_FRAME when out of memory. */
uint32_t native_names_kernel(struct native_names *names, uint64_t address) MUST_CHECK;
uint32_t native_names_user(struct native_names *names, struct process_image *image,
                           struct program_files *files, uint64_t address, int64_t now_ns) MUST_CHECK;
/* Whether it stands for code whose name is not known. */
bool native_names_is_unknown(const struct native_names *names, uint32_t frame);

#endif
