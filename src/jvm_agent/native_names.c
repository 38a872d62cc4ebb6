#include "jvm_agent/native_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/string_table.h"
#include "jvm_agent/native_modules.h"
#include "jvm_agent/runtime_stubs.h"
#include "symbols/demangle.h"

#define LIMIT_BYTES ((size_t)64 << 20)
#define KERNEL_SYMBOLS "/proc/kallsyms"
#define KERNEL_BITS (~FRAME_ADDRESS_MASK) /* that a frame leaves out of a kernel address */

static struct string_table texts;
static struct id_map functions, libraries;
static bool opened;
static struct symbol_table kernel_symbols;
static enum { KERNEL_UNREAD, KERNEL_SOME, KERNEL_READ, KERNEL_HIDDEN } kernel_state;
static struct wanted_addresses kernel_wanted; /* in state KERNEL_SOME */

static bool open_tables(void)
{
    if (!opened && string_table_init(&texts, LIMIT_BYTES)) {
        id_map_init(&functions);
        id_map_init(&libraries);
        opened = true;
    }
    return opened;
}

static void look_up_native(uint64_t address, struct native_name *name)
{
    static char text[1024];
    struct symbol_match match;
    const struct module *module = module_map_find(&native_modules, address);
    if (module == NULL)
        return;
    name->library = text_of(module->name);
    if (module_find_symbol(module, address, &match))
        demangle(match.name, DEMANGLE_NAME_ONLY, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "[%s]", module->name);
    name->function = text_part(text_of(text), 0, strcspn(text, "@")); /* without "@@GLIBC_2.17" */
}

static int compare_words(const void *left_pointer, const void *right_pointer)
{
    uint64_t left = *(const uint64_t *)left_pointer, right = *(const uint64_t *)right_pointer;
    return left < right ? -1 : left > right;
}

static void read_kernel(const struct wanted_addresses *wanted)
{
    struct error error = {0};
    symbol_table_release(&kernel_symbols);
    bool loaded = symbol_table_load_kallsyms(&kernel_symbols, KERNEL_SYMBOLS, wanted, &error);
    kernel_state = !loaded ? KERNEL_HIDDEN : wanted == NULL ? KERNEL_READ : KERNEL_SOME;
    if (!loaded)
        symbol_table_release(&kernel_symbols);
}

/* Some hundred thousand names: read when the first one is asked for, and at most twice. */
static bool open_kernel(uint64_t address)
{
    bool expected =
        kernel_state == KERNEL_SOME && bsearch(&address, kernel_wanted.addresses, kernel_wanted.count,
                                               sizeof(address), compare_words) != NULL;
    if (kernel_state == KERNEL_UNREAD || (kernel_state == KERNEL_SOME && !expected))
        read_kernel(NULL);
    return kernel_state != KERNEL_HIDDEN;
}

void native_names_read_kernel(void)
{
    if (kernel_state == KERNEL_UNREAD)
        read_kernel(NULL);
}

void native_names_expect(const frame_word *frames, size_t count)
{
    size_t kept = 0;
    uint64_t *addresses =
        kernel_state == KERNEL_UNREAD && count > 0 ? malloc(count * sizeof(*addresses)) : NULL;
    if (addresses == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        if (frame_kind_of(frames[i]) == FRAME_KERNEL)
            addresses[kept++] = frame_address_of(frames[i]) | KERNEL_BITS;
    if (kept == 0) {
        free(addresses);
        return;
    }
    qsort(addresses, kept, sizeof(*addresses), compare_words);
    kernel_wanted = (struct wanted_addresses){addresses, kept};
    read_kernel(&kernel_wanted);
}

bool native_names_has_kernel(void)
{
    char line[256] = "";
    FILE *file = fopen(KERNEL_SYMBOLS, "re");
    if (file == NULL)
        return false;
    bool read = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    return read && strspn(line, "0") < 16;
}

static void look_up_kernel(uint64_t address, struct native_name *name)
{
    struct symbol_match match;
    name->library = TEXT("[kernel]");
    bool found = open_kernel(address | KERNEL_BITS) &&
                 symbol_table_find(&kernel_symbols, address | KERNEL_BITS, &match);
    name->function = found ? text_of(match.name) : TEXT("[kernel]");
}

static void look_up(frame_word frame, struct native_name *name)
{
    uint64_t address = frame_address_of(frame);
    const struct runtime_stub *stub;
    *name = (struct native_name){TEXT("[unknown]"), TEXT("")};
    if (frame_kind_of(frame) == FRAME_STUB) {
        stub = runtime_stub_find((uintptr_t)address);
        name->function = stub == NULL ? TEXT("[stub]") : text_of(stub->name);
    } else if (frame_kind_of(frame) == FRAME_NATIVE) {
        look_up_native(address, name);
    } else if (frame_kind_of(frame) == FRAME_KERNEL) {
        look_up_kernel(address, name);
    }
}

static bool remember(frame_word frame, const struct native_name *name)
{
    uint32_t function = string_table_add(&texts, name->function);
    uint32_t library = string_table_add(&texts, name->library);
    return function != NO_STRING && library != NO_STRING && id_map_set(&functions, frame, function) &&
           id_map_set(&libraries, frame, library);
}

void native_names_find(frame_word frame, struct native_name *name)
{
    uint32_t function = open_tables() ? id_map_get(&functions, frame) : NO_ID;
    if (function == NO_ID) {
        look_up(frame, name);
        if (!opened || !remember(frame, name))
            return;
        function = id_map_get(&functions, frame);
    }
    name->function = string_table_text(&texts, function);
    name->library = string_table_text(&texts, id_map_get(&libraries, frame));
}
