#include "jvm_agent/labels/tags.h"

#include <stdio.h>

#include "jvm_agent/thread_table.h"
#include "unit_test.h"

TEST(a_thread_has_the_tag_it_set)
{
    tags_set(TEXT("stage=1;task=10"));
    uint32_t number = thread_table_find(thread_own_id())->tag;
    CHECK(text_equal(tags_text(number), TEXT("stage=1;task=10")));
    tags_set(TEXT(""));
    CHECK_INT(thread_table_find(thread_own_id())->tag, 0);
    CHECK(text_equal(tags_text(number), TEXT("stage=1;task=10"))); /* samples with it may be on their way */
    CHECK(text_equal(tags_text(tags_add(TEXT("a span"))), TEXT("a span")));
    CHECK(text_equal(tags_text(0), TEXT("")));
    thread_table_remove(thread_own_id());
}

TEST(numbers_of_tags_that_ended_are_used_again)
{
    uint32_t largest = 0;
    for (int i = 0; i < 1000000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "stage=%d;task=%d", i / 100, i);
        tags_set(text_of(text));
        uint32_t number = thread_table_find(thread_own_id())->tag;
        CHECK(number != 0);
        largest = number > largest ? number : largest;
        if (i % 1000 == 0)
            CHECK(text_equal(tags_text(number), text_of(text)));
    }
    CHECK(largest <= TAGS_KEPT + 2);
    thread_table_remove(thread_own_id());
}
