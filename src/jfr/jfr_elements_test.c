#include "jfr/jfr_elements.h"

#include <string.h>

#include "unit_test.h"

TEST(strings_come_first_and_once)
{
    struct jfr_elements elements;
    struct text_builder bytes;
    text_builder_init(&bytes, 1 << 20);
    CHECK(jfr_elements_init(&elements, 1 << 20));
    jfr_elements_begin(&elements, "class", 2);
    jfr_elements_attribute(&elements, "name", TEXT("class"));
    jfr_elements_number(&elements, "id", 12);
    jfr_elements_children(&elements, 3);
    jfr_elements_put(&elements, &bytes);
    size_t own = elements.tree.size; /* class 2, name class, id 12, 3 */
    CHECK_INT(own, 7);
    CHECK(!elements.tree.failed);
    CHECK(memmem(bytes.data, bytes.size, "\3\5class\3\4name\3\2id\3\00212", 21) != NULL);
    CHECK(memmem(bytes.data, bytes.size - own, "class", 5) != NULL);
    CHECK_INT(bytes.data[bytes.size - 1], 3);
    CHECK_INT(bytes.data[bytes.size - own], bytes.data[bytes.size - own + 3]);
    jfr_elements_release(&elements);
    text_builder_release(&bytes);
}

TEST(what_finds_no_room_is_a_failure)
{
    struct jfr_elements elements;
    CHECK(jfr_elements_init(&elements, 1 << 12));
    for (uint64_t i = 0; i < 10000; i++)
        jfr_elements_number(&elements, "id", i);
    CHECK(elements.tree.failed);
    jfr_elements_release(&elements);
}
