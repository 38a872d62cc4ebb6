#include "jvm_agent/vm/native_symbols.h"

#include <dlfcn.h>
#include <string.h>

#include "base/text_builder.h"
#include "jvm_agent/vm/native_modules.h"

/* "A::b" is mangled to "_ZN1A1bE" and its arguments; const comes before the names. */
static bool mangle(const char *name, struct text_builder *mangled)
{
    struct text_view rest = text_of(name);
    text_builder_add_c_string(mangled, "_ZN");
    while (rest.size > 0) {
        size_t end = text_find(rest, TEXT("::"));
        struct text_view part = end == TEXT_NOT_FOUND ? rest : text_part(rest, 0, end);
        if (part.size == 0)
            return false;
        text_builder_add_u64(mangled, part.size);
        text_builder_add(mangled, part);
        rest = end == TEXT_NOT_FOUND ? TEXT("") : text_from(rest, end + 2);
    }
    text_builder_add_byte(mangled, 'E');
    return !mangled->failed;
}

static uint64_t find_in(const struct module *module, struct text_view wanted, bool begins)
{
    for (size_t i = 0; i < module->symbols.count; i++) {
        const struct symbol *symbol = &module->symbols.symbols[i];
        if ((symbol->name & SYMBOL_PLT) != 0)
            continue;
        struct text_view name = text_of(symbol_table_name(&module->symbols, symbol));
        if (begins ? text_starts_with(name, wanted) : text_equal(name, wanted))
            return symbol->address + module->bias;
    }
    return 0;
}

static uint64_t find(struct text_view wanted, bool begins)
{
    uint64_t address = 0;
    native_modules_lock();
    const struct module_index *index = native_modules.index;
    for (size_t i = 0; address == 0 && index != NULL && i < index->count; i++) {
        const struct module *module = index->ranges[i].module;
        address = module->has_symbols ? find_in(module, wanted, begins) : 0;
    }
    native_modules_unlock();
    return address;
}

uint64_t native_symbols_find(const char *name)
{
    struct text_view plain = text_of(name);
    bool begins = text_ends_with(plain, TEXT("*"));
    native_modules_refresh();
    if (begins)
        plain.size--;
    if (plain.size == 0)
        return 0;
    if (text_find(plain, TEXT("::")) == TEXT_NOT_FOUND) {
        void *exported = begins ? NULL : dlsym(RTLD_DEFAULT, name);
        return exported != NULL ? (uintptr_t)exported : find(plain, begins);
    }
    struct text_builder mangled;
    text_builder_init(&mangled, 4096);
    uint64_t address = 0;
    if (mangle(name, &mangled))
        address = find(text_builder_view(&mangled), true);
    text_builder_release(&mangled);
    return address;
}
