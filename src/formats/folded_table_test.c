#include "formats/folded_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit_test.h"

static void add(struct folded_table *table, const char *text, double count)
{
    double counts[2] = {count, 0};
    CHECK(folded_table_add(table, text_of(text), counts));
}

static struct folded_table new_table(void)
{
    struct folded_table table;
    CHECK(folded_table_init(&table));
    return table;
}

/* "text count" of all stacks, in their order */
static const char *contents(const struct folded_table *table)
{
    static char text[4096];
    size_t used = 0;
    for (size_t i = 0; i < table->size; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s %g\n", (int)table->stacks[i]->size,
                                 table->stacks[i]->text, table->stacks[i]->counts[0]);
    return text;
}

TEST(sums_up_equal_texts)
{
    struct folded_table table = new_table();
    add(&table, "b", 1);
    add(&table, "a", 2);
    add(&table, "b", 3);
    CHECK(folded_table_flush(&table));
    CHECK_TEXT(contents(&table), "b 4\na 2\n");
    folded_table_release(&table);
}

TEST(keeps_many_texts_apart)
{
    struct folded_table table = new_table();
    static char texts[3000][120];
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 3000; i++) {
            /* Longer than a lane, and different in one place only. */
            snprintf(texts[i], sizeof(texts[i]), "%064d%zu;%020d", 0, i, 0);
            add(&table, texts[i], 1);
        }
    }
    CHECK(folded_table_flush(&table));
    CHECK_INT(table.size, 3000);
    for (size_t i = 0; i < table.size; i++)
        CHECK_INT(table.stacks[i]->counts[0], 2);
    folded_table_release(&table);
}

TEST(a_known_table_is_counted_beside_and_joined)
{
    struct folded_table all = new_table(), part = new_table();
    add(&all, "a", 1);
    add(&all, "b", 1);
    CHECK(folded_table_flush(&all));
    for (size_t round = 0; round < 2; round++) {
        CHECK(folded_table_set_known(&part, &all));
        add(&part, "b", 10);
        add(&part, "c", 100);
        CHECK(folded_table_flush(&part));
        CHECK(folded_table_join(&all, &part));
        CHECK_INT(part.size, 0);
    }
    CHECK_TEXT(contents(&all), "a 1\nb 21\nc 200\n");
    folded_table_release(&all);
    folded_table_release(&part);
}

TEST(keeps_the_order_of_lines)
{
    struct folded_table table = new_table();
    table.keeps_order = true;
    add(&table, "a", 1);
    add(&table, "b", 2);
    add(&table, "a", 3);
    CHECK(folded_table_flush(&table));
    CHECK_INT(table.entry_count, 3);
    CHECK(table.entries[2].stack == table.entries[0].stack);
    CHECK_INT(table.entries[2].counts[0], 3);
    folded_table_release(&table);
}

TEST(sorts_frames_before_bytes)
{
    struct folded_table table = new_table();
    const char *texts[] = {"F.apply;y", "F.apply$mcV$sp",   "F.apply",          "F",   "F.apply;y;z",   "",
                           "G",         "F.apply$mcV$sp;a", "F.apply;y123456;", ";;;", "F.apply;y12345"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        add(&table, texts[i], 1);
    CHECK(folded_table_flush(&table));
    CHECK(folded_table_sort(&table));
    CHECK_TEXT(contents(&table), " 1\n;;; 1\nF 1\nF.apply 1\nF.apply;y 1\nF.apply;y;z 1\nF.apply;y12345 1\n"
                                 "F.apply;y123456; 1\nF.apply$mcV$sp 1\nF.apply$mcV$sp;a 1\nG 1\n");
    folded_table_release(&table);
}

/* ';' first, then bytes, and shorter texts before longer ones. */
static int compare_slowly(const char *left, const char *right)
{
    for (; *left != '\0' && *left == *right; left++)
        right++;
    int left_byte = *left == ';' ? 1 : (unsigned char)*left,
        right_byte = *right == ';' ? 1 : (unsigned char)*right;
    return left_byte - right_byte;
}

TEST(sorts_as_the_plain_comparison_does)
{
    struct folded_table table = new_table();
    static char texts[5000][64];
    uint32_t seed = 7;
    for (size_t i = 0; i < 5000; i++) {
        size_t size = 0;
        for (seed = seed * 1664525 + 1013904223; size < 4 + (seed >> 20) % 50; size++) {
            texts[i][size] = "ab;\x7f\xc3"[(seed >> 16) % (size < 20 ? 2 : 5)];
            seed = seed * 1664525 + 1013904223;
        }
        add(&table, texts[i], 1);
    }
    CHECK(folded_table_flush(&table));
    CHECK(folded_table_sort(&table));
    CHECK(table.size > 3000);
    for (size_t i = 1; i < table.size; i++) {
        char left[64] = "", right[64] = "";
        memcpy(left, table.stacks[i - 1]->text, table.stacks[i - 1]->size);
        memcpy(right, table.stacks[i]->text, table.stacks[i]->size);
        CHECK(compare_slowly(left, right) < 0);
    }
    folded_table_release(&table);
}

TEST(notices_bytes_that_sorting_needs)
{
    struct folded_table table = new_table();
    add(&table, "plain\x02", 1);
    CHECK(folded_table_flush(&table));
    CHECK(!table.has_low_bytes);
    add(&table, "not\x01plain", 1);
    CHECK(folded_table_flush(&table));
    CHECK(table.has_low_bytes);
    folded_table_release(&table);
}
