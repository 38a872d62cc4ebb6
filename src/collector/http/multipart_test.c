#include "collector/http/multipart.h"

#include "unit_test.h"

static const char type[] = "multipart/form-data; boundary=\"a b\"";

TEST(parts_have_names_and_contents)
{
    struct multipart multipart;
    struct multipart_part part;
    struct error error = {0};
    struct text_view body =
        TEXT("--a b\r\nContent-Disposition: form-data; name=\"jfr\"; filename=\"x\"\r\n\r\nFLR\r\n\r\n--\r\n"
             "--a b\r\ncontent-disposition: form-data; filename=\"name=y\"; name=labels\r\nX: "
             "y\r\n\r\n\r\n--a b--\r\n");
    CHECK(multipart_is_type(type) && !multipart_is_type("text/plain") && !multipart_is_type(NULL));
    CHECK_OK(error, multipart_init(&multipart, type, body, &error));
    CHECK(multipart_next(&multipart, &part, &error));
    CHECK(text_equal(part.name, TEXT("jfr")));
    CHECK(text_equal(part.content, TEXT("FLR\r\n\r\n--")));
    CHECK(multipart_next(&multipart, &part, &error));
    CHECK(text_equal(part.name, TEXT("labels")));
    CHECK_INT(part.content.size, 0);
    CHECK(!multipart_next(&multipart, &part, &error));
    CHECK(!multipart_next(&multipart, &part, &error));
    CHECK_TEXT(error.message, "");
}

TEST(what_comes_before_the_first_boundary_is_ignored)
{
    struct multipart multipart;
    struct multipart_part part;
    struct error error = {0};
    CHECK_OK(error, multipart_init(&multipart, "multipart/form-data;boundary=b;charset=x",
                                   TEXT("before\r\n--b\r\nA: b\r\n\r\nx\r\n--b--"), &error));
    CHECK(multipart_next(&multipart, &part, &error));
    CHECK_INT(part.name.size, 0);
    CHECK(text_equal(part.content, TEXT("x")));
    CHECK(!multipart_next(&multipart, &part, &error) && error.message[0] == '\0');
}

TEST(damaged_bodies_are_errors)
{
    static const char *const bodies[] = {
        "",
        "--",
        "--c\r\n",
        "--b",
        "--bx\r\n\r\n\r\n--b--",
        "--b\r\n",
        "--b\r\nA: b\r\n\r\n",
        "--b\r\nA: b\r\n\r\nx\r\n--",
    };
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        struct multipart multipart;
        struct multipart_part part;
        struct error error = {0};
        CHECK(!multipart_init(&multipart, "multipart/form-data; boundary=b", text_of(bodies[i]), &error) ||
              !multipart_next(&multipart, &part, &error));
        CHECK(error.message[0] != '\0');
    }
    static const char *const types[] = {"multipart/form-data",
                                        "multipart/form-data; boundary=", "multipart/form-data; x"};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct multipart multipart;
        struct error error = {0};
        CHECK(!multipart_init(&multipart, types[i], TEXT("--\r\n"), &error) && error.message[0] != '\0');
    }
}
