/* Lines of /proc/kallsyms: "ffffffff81000000 T _stext" and, for modules, a tab and "[name]". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/symbol_table.h"

enum { NAMES_LIMIT_BYTES = 256 << 20, READ_BYTES = 64 << 10 };

struct loading {
    struct symbol_table *table;
    size_t names_size, names_capacity;
    bool any_address;
};

static bool add_line(struct loading *loading, struct text_view line, struct error *error)
{
    uint64_t address;
    struct text_view address_text = text_cut(&line, ' '), type = text_cut(&line, ' '),
                     name = text_cut(&line, '\t');
    if (type.size != 1 || name.size == 0 || !text_to_hex64(address_text, &address))
        return error_set(error, ERROR_BAD_INPUT, "not in the form of kallsyms");
    loading->any_address |= address != 0;
    if (strchr("tTwW", type.data[0]) == NULL || address == 0)
        return true;
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

static bool add_lines(struct loading *loading, FILE *stream, struct error *error)
{
    char *line = NULL;
    size_t capacity = 0;
    bool good = true;
    unsigned number = 0;
    for (ssize_t size; good && (size = getline(&line, &capacity, stream)) > 0;) {
        number++;
        struct text_view text = text_trim((struct text_view){line, (size_t)size});
        good = text.size == 0 || add_line(loading, text, error);
    }
    free(line);
    return good || error_prefix(error, "line %u", number);
}

bool symbol_table_load_kallsyms(struct symbol_table *table, const char *path, struct error *error)
{
    struct loading loading = {.table = table};
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return error_set_system(error, "%s", path);
    setvbuf(stream, NULL, _IOFBF,
            READ_BYTES); /* at worst it reads in small pieces, as files in /proc ask for */
    bool good = add_lines(&loading, stream, error);
    fclose(stream);
    if (!good)
        return error_prefix(error, "%s", path);
    if (!loading.any_address || table->count == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s shows no addresses: kernel.kptr_restrict hides them from this user", path);
    table->names = (struct text_view){table->owned_names, loading.names_size};
    table->source = SYMBOLS_KALLSYMS;
    symbol_table_sort(table);
    return true;
}
