/*
 * vdso.h - the code that the kernel maps into each process. All 64-bit processes of a kernel have the same, so our own
 * serves for every one.
 */
#ifndef SYMBOLS_VDSO_H
#define SYMBOLS_VDSO_H

#include <stdbool.h>

#include "base/attributes.h"
#include "symbols/elf_file.h"

/* False: there is none. */
bool vdso_open(struct elf_file *file) MUST_CHECK;

#endif
