#include "symbols/unwind_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/key_sort.h"
#include "symbols/frame_rules.h"
#include "symbols/frame_section.h"

enum { RULE_LIMIT = INT16_MAX, RULE_SLOTS = 1 << 12, ROWS_PER_BUCKET = 4 };

/* In rule_of while loading: the row ends a function, and yields to one that starts there. */
#define ROW_CLOSES 0x8000u

/* Rows are laid down where they will stay: first touches of memory are half of what loading costs. */
struct unwind_loading {
    struct unwind_table *table;
    size_t count, start_capacity, rule_of_capacity;
    size_t rule_capacity;
    uint16_t slots[RULE_SLOTS]; /* the newest rule with this hash, + 1 */
    bool out_of_memory;
};

void unwind_table_init(struct unwind_table *table)
{
    *table = (struct unwind_table){.base = 0};
}

void unwind_table_release(struct unwind_table *table)
{
    free(table->starts);
    free(table->rule_of);
    free(table->buckets);
    free(table->rules);
    unwind_table_init(table);
}

static uint32_t hash_rule(const struct unwind_rule *rule)
{
    uint64_t hash = (uint64_t)(uint32_t)rule->cfa_offset << 32 |
                    (uint64_t)(uint16_t)rule->frame_pointer_offset << 16 |
                    (uint16_t)rule->return_address_offset;
    hash = (hash ^ ((uint64_t)rule->kind << 59)) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(hash >> 52);
}

/* Equal rules get one number as long as their hashes do not push each other out; then some are stored twice. */
static bool number_of_rule(struct unwind_loading *loading, struct unwind_rule rule, uint16_t *number)
{
    struct unwind_table *table = loading->table;
    uint16_t *slot = &loading->slots[hash_rule(&rule)];
    if (*slot != 0 && unwind_rule_equals(&table->rules[*slot - 1], &rule)) {
        *number = (uint16_t)(*slot - 1);
        return true;
    }
    for (uint32_t i = 0; *slot != 0 && i < table->rule_count; i++) {
        if (unwind_rule_equals(&table->rules[i], &rule)) {
            *number = (uint16_t)i;
            *slot = (uint16_t)(i + 1);
            return true;
        }
    }
    if (!array_reserve(&table->rules, &loading->rule_capacity, table->rule_count + 1, RULE_LIMIT))
        return false;
    *number = (uint16_t)table->rule_count;
    table->rules[table->rule_count++] = rule;
    *slot = (uint16_t)table->rule_count;
    return true;
}

static bool add_row(struct unwind_loading *loading, uint64_t address, struct unwind_rule rule, bool closes)
{
    struct unwind_table *table = loading->table;
    uint16_t number;
    uint64_t offset = address - table->base;
    if (offset > UINT32_MAX)
        return true;
    size_t needed = loading->count + 1;
    if (!array_reserve(&table->starts, &loading->start_capacity, needed, UNWIND_ROW_LIMIT) ||
        !array_reserve(&table->rule_of, &loading->rule_of_capacity, needed, UNWIND_ROW_LIMIT) ||
        !number_of_rule(loading, rule, &number)) {
        loading->out_of_memory = true;
        return false;
    }
    table->starts[loading->count] = (uint32_t)offset;
    table->rule_of[loading->count++] = (uint16_t)(number | (closes ? ROW_CLOSES : 0));
    return true;
}

static bool on_rule(void *context, uint64_t address, struct unwind_rule rule, bool complicated)
{
    struct unwind_loading *loading = context;
    loading->table->complicated += complicated;
    return add_row(loading, address, rule, false);
}

struct function {
    uint64_t start;
    uint64_t offset; /* of its entry in the section */
};
_Static_assert(sizeof(struct function) == KEY_SORT_ITEM_BYTES, "sorted by its start");

struct function_list {
    struct function *functions;
    size_t count, capacity;
};

/* Sorting functions and not their rows, of which there are ten times as many. */
static bool list_functions(struct frame_section *section, struct function_list *list)
{
    struct frame_entry entry;
    bool is_function;
    size_t offset = 0, here = 0;
    for (; frame_section_next(section, &offset, &entry, &is_function); here = offset) {
        if (!is_function)
            continue;
        if (!array_reserve(&list->functions, &list->capacity, list->count + 1, UNWIND_ROW_LIMIT))
            return false;
        list->functions[list->count++] = (struct function){entry.start, here};
    }
    return key_sort(list->functions, list->count);
}

static void read_function(struct unwind_loading *loading, struct frame_section *section, size_t offset,
                          uint16_t machine)
{
    struct frame_entry entry;
    bool is_function;
    if (!frame_section_next(section, &offset, &entry, &is_function) || !is_function || entry.size == 0 ||
        entry.start < loading->table->base || entry.size > UINT32_MAX)
        return;
    if (frame_rules_run(&entry, machine, on_rule, loading))
        add_row(loading, entry.start + entry.size, (struct unwind_rule){.kind = UNWIND_NONE}, true);
}

static void read_section(struct unwind_loading *loading, struct frame_section *section, uint16_t machine)
{
    struct function_list list = {.functions = NULL};
    loading->out_of_memory |= !list_functions(section, &list);
    for (size_t i = 0; i < list.count && !loading->out_of_memory; i++)
        read_function(loading, section, list.functions[i].offset, machine);
    free(list.functions);
}

struct unwind_row {
    uint64_t key;
    uint64_t rule;
};
_Static_assert(sizeof(struct unwind_row) == KEY_SORT_ITEM_BYTES, "sorted by its key");

/* Of those with one start, the ones that close come first: the last is kept. */
static uint64_t key_of_row(const struct unwind_table *table, size_t row)
{
    return (uint64_t)table->starts[row] << 1 | !(table->rule_of[row] & ROW_CLOSES);
}

static bool is_sorted(const struct unwind_loading *loading)
{
    for (size_t i = 1; i < loading->count; i++)
        if (key_of_row(loading->table, i - 1) > key_of_row(loading->table, i))
            return false;
    return true;
}

static bool sort_rows(struct unwind_loading *loading)
{
    struct unwind_table *table = loading->table;
    struct unwind_row *rows = malloc(loading->count * sizeof(*rows));
    if (rows == NULL)
        return false;
    for (size_t i = 0; i < loading->count; i++)
        rows[i] = (struct unwind_row){key_of_row(table, i), table->rule_of[i]};
    bool sorted = key_sort(rows, loading->count);
    for (size_t i = 0; i < loading->count; i++) {
        table->starts[i] = (uint32_t)(rows[i].key >> 1);
        table->rule_of[i] = (uint16_t)rows[i].rule;
    }
    free(rows);
    return sorted;
}

/* Leaves one row for each start, and none that repeats the rule before it. */
static bool compact(struct unwind_loading *loading)
{
    struct unwind_table *table = loading->table;
    uint32_t *starts = table->starts;
    uint16_t *rule_of = table->rule_of;
    size_t kept = 0;
    if (!is_sorted(loading) && !sort_rows(loading))
        return false;
    for (size_t i = 0; i < loading->count; i++) {
        uint16_t rule = rule_of[i] & (uint16_t)~ROW_CLOSES;
        if (i + 1 < loading->count && starts[i + 1] == starts[i])
            continue;
        if (kept == 0 || rule_of[kept - 1] != rule) {
            starts[kept] = starts[i];
            rule_of[kept++] = rule;
        }
    }
    table->count = (uint32_t)kept;
    return true;
}

/* Gives back what is too much; it may stay, too. */
static void fit(struct unwind_table *table)
{
    uint32_t *starts = realloc(table->starts, table->count * sizeof(*starts));
    uint16_t *rule_of = realloc(table->rule_of, table->count * sizeof(*rule_of));
    if (starts != NULL)
        table->starts = starts;
    if (rule_of != NULL)
        table->rule_of = rule_of;
}

static void fill_buckets(struct unwind_table *table, uint32_t bucket_count)
{
    uint32_t row = 0;
    for (uint32_t bucket = 0; bucket < bucket_count; bucket++) {
        uint64_t offset = (uint64_t)bucket << table->bucket_shift;
        while (row + 1 < table->count && table->starts[row + 1] <= offset)
            row++;
        table->buckets[bucket] = row;
    }
}

static bool finish(struct unwind_loading *loading)
{
    struct unwind_table *table = loading->table;
    if (!compact(loading))
        return false;
    if (table->count == 0)
        return true;
    fit(table);
    table->span = table->starts[table->count - 1];
    while (((uint64_t)table->span >> table->bucket_shift) * ROWS_PER_BUCKET > table->count)
        table->bucket_shift++;
    uint32_t bucket_count = (table->span >> table->bucket_shift) + 2;
    table->buckets = malloc(bucket_count * sizeof(table->buckets[0]));
    if (table->buckets == NULL)
        return false;
    fill_buckets(table, bucket_count);
    return true;
}

/* Both may be there: start files bring an .eh_frame even if the compiler writes only .debug_frame. */
static void read_sections(struct unwind_loading *loading, const struct elf_file *file)
{
    static const char *const names[] = {".debug_frame", ".eh_frame"};
    struct elf_section section;
    for (size_t i = 0; i < 2; i++) {
        if (!elf_file_find_section(file, names[i], &section) || (section.flags & SHF_COMPRESSED) != 0)
            continue;
        struct frame_section frames = {
            .data = section.data, .address = section.address, .is_debug_frame = i == 0};
        read_section(loading, &frames, file->machine);
    }
}

bool unwind_table_load(struct unwind_table *table, const struct elf_file *file, struct error *error)
{
    return unwind_table_load_both(table, file, NULL, error);
}

bool unwind_table_load_both(struct unwind_table *table, const struct elf_file *file,
                            const struct elf_file *debug_file, struct error *error)
{
    struct unwind_loading *loading = calloc(1, sizeof(*loading));
    if (loading == NULL)
        return error_set_memory(error);
    loading->table = table;
    table->base = elf_file_base(file);
    read_sections(loading, file);
    if (debug_file != NULL)
        read_sections(loading, debug_file);
    bool good = !loading->out_of_memory && finish(loading);
    free(loading);
    return good || error_set_memory(error);
}
