#include "jvm_agent/native_names.h"

#include <stdio.h>
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
static enum { KERNEL_UNREAD, KERNEL_READ, KERNEL_HIDDEN } kernel_state;

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

/* Some hundred thousand names: read when the first one is asked for. */
static bool open_kernel(void)
{
    struct error error = {0};
    if (kernel_state == KERNEL_UNREAD) {
        symbol_table_init(&kernel_symbols);
        bool loaded = symbol_table_load_kallsyms(&kernel_symbols, KERNEL_SYMBOLS, &error);
        kernel_state = loaded ? KERNEL_READ : KERNEL_HIDDEN;
        if (!loaded)
            symbol_table_release(&kernel_symbols);
    }
    return kernel_state == KERNEL_READ;
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
    bool found = open_kernel() && symbol_table_find(&kernel_symbols, address | KERNEL_BITS, &match);
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
