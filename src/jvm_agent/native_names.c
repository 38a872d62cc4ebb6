#include "jvm_agent/native_names.h"

#include <stdio.h>
#include <string.h>

#include "base/id_map.h"
#include "base/string_table.h"
#include "jvm_agent/native_modules.h"
#include "jvm_agent/runtime_stubs.h"
#include "symbols/demangle.h"

#define LIMIT_BYTES ((size_t)64 << 20)

static struct string_table texts;
static struct id_map functions, libraries;
static bool opened;

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
