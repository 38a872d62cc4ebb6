#include "symbols/unwind_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/key_sort.h"
#include "symbols/frame_rules.h"
#include "symbols/frame_section.h"

enum { RULE_LIMIT = UINT16_MAX, RULE_SLOTS = 1 << 12, ROWS_PER_BUCKET = 4 };

struct row {
    uint32_t start;
    uint16_t rule;
    uint16_t closes; /* 1: ends a function, and yields to one that starts here */
};

struct loading {
    struct unwind_table *table;
    struct row *rows;
    size_t count, capacity;
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
static bool number_of_rule(struct loading *loading, struct unwind_rule rule, uint16_t *number)
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

static bool add_row(struct loading *loading, uint64_t address, struct unwind_rule rule, bool closes)
{
    struct row row = {.closes = closes};
    uint64_t offset = address - loading->table->base;
    if (offset > UINT32_MAX)
        return true;
    if (!array_reserve(&loading->rows, &loading->capacity, loading->count + 1, UNWIND_ROW_LIMIT) ||
        !number_of_rule(loading, rule, &row.rule)) {
        loading->out_of_memory = true;
        return false;
    }
    row.start = (uint32_t)offset;
    loading->rows[loading->count++] = row;
    return true;
}

static bool on_rule(void *context, uint64_t address, struct unwind_rule rule, bool complicated)
{
    struct loading *loading = context;
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

static void read_function(struct loading *loading, struct frame_section *section, size_t offset,
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

static void read_section(struct loading *loading, struct frame_section *section, uint16_t machine)
{
    struct function_list list = {.functions = NULL};
    loading->out_of_memory |= !list_functions(section, &list);
    for (size_t i = 0; i < list.count && !loading->out_of_memory; i++)
        read_function(loading, section, list.functions[i].offset, machine);
    free(list.functions);
}

static int compare_rows(const void *left_pointer, const void *right_pointer)
{
    const struct row *left = left_pointer, *right = right_pointer;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (int)right->closes - (int)left->closes; /* those that close first: the last of equals is kept */
}

static bool is_sorted(const struct loading *loading)
{
    for (size_t i = 1; i < loading->count; i++)
        if (compare_rows(&loading->rows[i - 1], &loading->rows[i]) > 0)
            return false;
    return true;
}

/* One pass of a sort that keeps the order of equals: by the byte of `start` at `shift`. */
static void sort_by_byte(const struct row *from, struct row *to, size_t count, unsigned shift)
{
    size_t places[256] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        places[from[i].start >> shift & 255]++;
    for (size_t i = 0; i < 256; i++) {
        size_t here = places[i];
        places[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i].start >> shift & 255]++] = from[i];
}

/* The same by `closes`: those that close come first. */
static void sort_by_end(const struct row *from, struct row *to, size_t count)
{
    size_t kept = 0;
    for (unsigned closes = 2; closes-- > 0;)
        for (size_t i = 0; i < count; i++)
            if (from[i].closes == closes)
                to[kept++] = from[i];
}

/* A large library has hundreds of thousands of rows, in a few runs: qsort() takes five times as long. */
static void sort_rows(struct loading *loading)
{
    size_t count = loading->count;
    struct row *spare = malloc(count * sizeof(*spare));
    if (spare == NULL) {
        qsort(loading->rows, count, sizeof(loading->rows[0]), compare_rows);
        return;
    }
    sort_by_end(loading->rows, spare, count);
    memcpy(loading->rows, spare, count * sizeof(*spare));
    for (unsigned shift = 0; shift < 32; shift += 16) {
        sort_by_byte(loading->rows, spare, count, shift);
        sort_by_byte(spare, loading->rows, count, shift + 8);
    }
    free(spare);
}

/* Leaves one row for each start, and none that repeats the rule before it. */
static void compact(struct loading *loading)
{
    size_t kept = 0;
    if (!is_sorted(loading))
        sort_rows(loading);
    for (size_t i = 0; i < loading->count; i++) {
        if (i + 1 < loading->count && loading->rows[i + 1].start == loading->rows[i].start)
            continue;
        if (kept == 0 || loading->rows[kept - 1].rule != loading->rows[i].rule)
            loading->rows[kept++] = loading->rows[i];
    }
    loading->count = kept;
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

static bool finish(struct loading *loading)
{
    struct unwind_table *table = loading->table;
    compact(loading);
    if (loading->count == 0)
        return true;
    table->count = (uint32_t)loading->count;
    table->span = loading->rows[loading->count - 1].start;
    while (((uint64_t)table->span >> table->bucket_shift) * ROWS_PER_BUCKET > table->count)
        table->bucket_shift++;
    uint32_t bucket_count = (table->span >> table->bucket_shift) + 2;
    table->starts = malloc(loading->count * sizeof(table->starts[0]));
    table->rule_of = malloc(loading->count * sizeof(table->rule_of[0]));
    table->buckets = malloc(bucket_count * sizeof(table->buckets[0]));
    if (table->starts == NULL || table->rule_of == NULL || table->buckets == NULL)
        return false;
    for (size_t i = 0; i < loading->count; i++) {
        table->starts[i] = loading->rows[i].start;
        table->rule_of[i] = loading->rows[i].rule;
    }
    fill_buckets(table, bucket_count);
    return true;
}

/* Both may be there: start files bring an .eh_frame even where the compiler was told to write .debug_frame only. */
static void read_sections(struct loading *loading, const struct elf_file *file)
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
    struct loading *loading = calloc(1, sizeof(*loading));
    if (loading == NULL)
        return error_set_memory(error);
    loading->table = table;
    table->base = elf_file_base(file);
    read_sections(loading, file);
    if (debug_file != NULL)
        read_sections(loading, debug_file);
    bool good = !loading->out_of_memory && finish(loading);
    free(loading->rows);
    free(loading);
    return good || error_set_memory(error);
}
