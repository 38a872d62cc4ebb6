#include "formats/jfr/jfr_details.h"

#include "unit_test.h"

TEST(the_first_label_of_a_text_brings_others)
{
    struct jfr_details details;
    CHECK(jfr_details_init(&details));
    CHECK(jfr_details_add(&details, TEXT("stage=3"), TEXT("group=a")));
    CHECK(jfr_details_add(&details, TEXT("stage=3"), TEXT("job=1;group=a")));
    CHECK(jfr_details_add(&details, TEXT("stage=33"), TEXT("job=2")));
    CHECK(text_equal(jfr_details_find(&details, TEXT("stage=3;task=7")), TEXT("job=1;group=a")));
    CHECK(text_equal(jfr_details_find(&details, TEXT("stage=33")), TEXT("job=2")));
    CHECK(text_equal(jfr_details_find(&details, TEXT("task=7;stage=3")), TEXT("")));
    CHECK(text_equal(jfr_details_find(&details, TEXT("job=1;group=a")), TEXT("")));
    CHECK(text_equal(jfr_details_find(&details, TEXT("")), TEXT("")));
    jfr_details_release(&details);
}
