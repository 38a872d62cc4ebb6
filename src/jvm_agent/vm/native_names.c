#include "jvm_agent/vm/native_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "jvm_agent/vm/native_modules.h"
#include "jvm_agent/vm/runtime_stubs.h"
#include "symbols/demangle.h"

#define KERNEL_SYMBOLS "/proc/kallsyms"
#define KERNEL_BITS (~FRAME_ADDRESS_MASK) /* bits of a kernel address that a frame omits */

/* A cached name. That of a native frame is valid for one state of the libraries: another library may be mapped at its
 * address later. */
struct known_name {
    uint32_t function, library; /* in `texts` */
    uint64_t libraries_version;
};

static struct string_table texts;
static struct known_name *names;
static size_t name_count, name_capacity;
static struct id_map places; /* by frame, in `names` */
static size_t limit = NATIVE_NAMES_LIMIT_BYTES;
static bool opened;
static struct symbol_table kernel_symbols;
static enum { KERNEL_UNREAD, KERNEL_SOME, KERNEL_READ, KERNEL_HIDDEN } kernel_state;
static struct wanted_addresses kernel_wanted; /* in state KERNEL_SOME */

static bool open_tables(void)
{
    if (!opened && string_table_init(&texts, limit)) {
        id_map_init(&places);
        opened = true;
    }
    return opened;
}

void native_names_release(void)
{
    if (!opened)
        return;
    string_table_release(&texts);
    id_map_release(&places);
    free(names);
    names = NULL;
    name_count = name_capacity = 0;
    opened = false;
}

void native_names_limit(size_t limit_bytes)
{
    limit = limit_bytes;
}

size_t native_names_bytes(void)
{
    return opened ? string_table_bytes(&texts) + id_map_bytes(&places) + name_capacity * sizeof(*names) : 0;
}

static void copy_name(const struct module *module, uint64_t address, struct native_name *name)
{
    static char text[1024], library[256];
    struct symbol_match match;
    snprintf(library, sizeof(library), "%s", module->name);
    name->library = text_of(library);
    if (module_find_symbol(module, address, &match))
        demangle(match.name, DEMANGLE_NAME_ONLY, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "[%s]", module->name);
    name->function = text_part(text_of(text), 0, strcspn(text, "@")); /* without "@@GLIBC_2.17" */
}

/* False: no library is mapped there. */
static bool look_up_native(uint64_t address, struct native_name *name)
{
    native_modules_lock();
    const struct module *module = module_map_find(&native_modules, address);
    if (module != NULL)
        copy_name(module, address, name);
    native_modules_unlock();
    return module != NULL;
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

/* Several hundred thousand names: read on first use, and at most twice. */
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
        if (frame_kind_of(frames[i]) == AGENT_FRAME_KERNEL)
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

/* False: no library is mapped at the address of a native frame. */
static bool look_up(frame_word frame, struct native_name *name)
{
    uint64_t address = frame_address_of(frame);
    const struct runtime_stub *stub;
    *name = (struct native_name){TEXT("[unknown]"), TEXT("")};
    switch (frame_kind_of(frame)) {
    case AGENT_FRAME_STUB:
        stub = runtime_stub_find((uintptr_t)address);
        name->function = stub == NULL ? TEXT("[stub]") : text_of(stub->name);
        return true;
    case AGENT_FRAME_NATIVE:
        return look_up_native(address, name);
    case AGENT_FRAME_KERNEL:
        look_up_kernel(address, name);
        return true;
    default:
        return true;
    }
}

static struct known_name *find_known(frame_word frame)
{
    uint32_t place = opened ? id_map_get(&places, frame) : NO_ID;
    return place == NO_ID ? NULL : &names[place];
}

/* NULL: out of memory, or the limit is too low for one name. */
static struct known_name *add_known(frame_word frame)
{
    if (native_names_bytes() >= limit)
        native_names_release(); /* what is still needed is looked up again */
    if (!open_tables() || !array_reserve(&names, &name_capacity, name_count + 1, NO_ID) ||
        !id_map_set(&places, frame, (uint32_t)name_count))
        return NULL;
    names[name_count] = (struct known_name){0};
    return &names[name_count++];
}

static bool remember(struct known_name *known, const struct native_name *name)
{
    known->function = string_table_add(&texts, name->function);
    known->library = string_table_add(&texts, name->library);
    return known->function != NO_STRING && known->library != NO_STRING;
}

void native_names_find(frame_word frame, struct native_name *name)
{
    uint64_t version = native_modules_version();
    struct known_name *known = find_known(frame);
    bool is_native = frame_kind_of(frame) == AGENT_FRAME_NATIVE;
    if (known == NULL || (is_native && known->libraries_version != version)) {
        bool found = look_up(frame, name);
        known = known == NULL ? add_known(frame) : known;
        if (known == NULL)
            return;
        bool is_new = known->libraries_version == 0;
        known->libraries_version = version;
        if ((found || is_new) && !remember(known, name)) {
            native_names_release();
            return;
        }
    }
    name->function = string_table_text(&texts, known->function);
    name->library = string_table_text(&texts, known->library);
}
