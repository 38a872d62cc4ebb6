/* Lines of /proc/kallsyms: "ffffffff81000000 T _stext" and, for modules, a tab and "[name]". */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "symbols/symbol_table.h"

enum { NAMES_LIMIT_BYTES = 256 << 20, BUFFER_BYTES = 64 << 10 };

struct kernel_loading {
    struct symbol_table *table;
    size_t names_size, names_capacity;
    unsigned line;
    bool any_address;
    const struct wanted_addresses *wanted; /* NULL: all */
    size_t next;                           /* the first of them at or above `address` */
    uint64_t first, address;               /* of the first function, and of the one that was read last */
    size_t kept, names_kept;               /* before that: whether it is wanted shows where the next begins */
    bool falls;                            /* some address was below the one before: of modules */
};

static uint64_t read_address(const char **at)
{
    uint64_t address = 0;
    for (;; ++*at) {
        unsigned digit = (unsigned char)**at;
        unsigned letter = digit | 0x20;
        if (digit >= '0' && digit <= '9')
            address = address << 4 | (digit - '0');
        else if (letter >= 'a' && letter <= 'f')
            address = address << 4 | (letter - 'a' + 10);
        else
            return address;
    }
}

static bool is_function(char type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static bool add(struct kernel_loading *loading, uint64_t address, struct text_view name, struct error *error)
{
    size_t needed = loading->names_size + name.size + 1;
    struct symbol symbol = {.address = address, .name = (uint32_t)loading->names_size};
    if (!array_reserve(&loading->table->owned_names, &loading->names_capacity, needed, NAMES_LIMIT_BYTES) ||
        !symbol_table_add(loading->table, symbol))
        return error_set_memory(error);
    memcpy(loading->table->owned_names + loading->names_size, name.data, name.size);
    loading->table->owned_names[needed - 1] = '\0';
    loading->names_size = needed;
    return true;
}

static bool is_wanted(const struct kernel_loading *loading, uint64_t end)
{
    return loading->next < loading->wanted->count && loading->wanted->addresses[loading->next] < end;
}

/* If addresses decrease, the end of a function is unknown. It then extends to the end of the address space; a nearer
 * function is also kept, and found. */
static void leave_function(struct kernel_loading *loading, uint64_t next_address)
{
    if (!is_wanted(loading, next_address > loading->address ? next_address : UINT64_MAX)) {
        loading->table->count = loading->kept;
        loading->names_size = loading->names_kept;
    }
    loading->kept = loading->table->count;
    loading->names_kept = loading->names_size;
}

static void enter_function(struct kernel_loading *loading, uint64_t address)
{
    const struct wanted_addresses *wanted = loading->wanted;
    leave_function(loading, address);
    if (loading->first == 0)
        loading->first = address;
    if (address < loading->address) {
        loading->falls = true;
        loading->next = 0;
    }
    while (loading->next < wanted->count && wanted->addresses[loading->next] < address)
        loading->next++;
    loading->address = address;
}

/* The kernel's own functions come in order and before all others. */
static bool has_all(const struct kernel_loading *loading)
{
    const struct wanted_addresses *wanted = loading->wanted;
    return wanted != NULL && !loading->falls && loading->first != 0 && loading->next == wanted->count &&
           (wanted->count == 0 || wanted->addresses[0] >= loading->first);
}

/* There are a hundred thousand and more of them. The line ends with a line break, so that no read goes behind it. */
static bool add_line(struct kernel_loading *loading, const char *line, const char *end, struct error *error)
{
    const char *at = line;
    loading->line++;
    if (line == end)
        return true;
    uint64_t address = read_address(&at);
    if (at == line || at - line > 16 || at + 3 >= end || at[0] != ' ' || at[2] != ' ' || at[3] == '\t')
        return error_set(error, ERROR_BAD_INPUT, "line %u: not in the form of kallsyms", loading->line);
    loading->any_address |= address != 0;
    if (!is_function(at[1]) || address == 0)
        return true;
    const char *name = at + 3, *tab = memchr(name, '\t', (size_t)(end - name));
    if (loading->wanted != NULL && address != loading->address)
        enter_function(loading, address);
    return add(loading, address, (struct text_view){name, (size_t)((tab != NULL ? tab : end) - name)}, error);
}

/* Takes the whole lines and moves what is left to the buffer's start. */
static bool add_lines(struct kernel_loading *loading, char *buffer, size_t *size, struct error *error)
{
    const char *at = buffer, *end = buffer + *size, *line_end;
    while ((line_end = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        if (!add_line(loading, at, line_end, error))
            return false;
        at = line_end + 1;
    }
    *size = (size_t)(end - at);
    memmove(buffer, at, *size);
    return *size < BUFFER_BYTES || error_set(error, ERROR_BAD_INPUT, "line %u: too long", loading->line + 1);
}

static bool add_file(struct kernel_loading *loading, int descriptor, char *buffer, struct error *error)
{
    size_t size = 0;
    for (;;) {
        ssize_t got = read(descriptor, buffer + size, BUFFER_BYTES - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_system(error, "cannot read");
        if (got == 0 && size == 0)
            return true;
        if (got == 0)
            buffer[size++] =
                '\n'; /* the last line has no end; there is room, since it is shorter than the buffer */
        size += (size_t)got;
        if (!add_lines(loading, buffer, &size, error))
            return false;
        if (has_all(loading))
            return true;
    }
}

static bool finish(struct kernel_loading *loading, const char *path, struct error *error)
{
    struct symbol_table *table = loading->table;
    bool any_function = table->count > 0;
    if (loading->wanted != NULL)
        leave_function(loading, UINT64_MAX);
    if (!loading->any_address || !any_function)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s shows no addresses: kernel.kptr_restrict hides them from this user", path);
    table->names = (struct text_view){table->owned_names, loading->names_size};
    table->source = SYMBOLS_KALLSYMS;
    return symbol_table_sort(table) || error_set_memory(error);
}

bool symbol_table_load_kallsyms(struct symbol_table *table, const char *path,
                                const struct wanted_addresses *wanted, struct error *error)
{
    struct kernel_loading loading = {.table = table, .wanted = wanted};
    char *buffer = malloc(BUFFER_BYTES);
    if (buffer == NULL)
        return error_set_memory(error);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool good = descriptor >= 0 ? add_file(&loading, descriptor, buffer, error)
                                : error_set_system(error, "cannot open");
    if (descriptor >= 0)
        close(descriptor);
    free(buffer);
    return good ? finish(&loading, path, error) : error_prefix(error, "%s", path);
}
