#include "processes/yarn_rest.h"

#include "unit_test.h"

TEST(nodes_that_run)
{
    struct error error = {0};
    struct yarn_rest rest;
    yarn_rest_init(&rest);
    CHECK_OK(error,
             yarn_rest_add_nodes(
                 &rest,
                 TEXT("{\"nodes\":{\"node\":[{\"rack\":\"/default-rack\",\"state\":\"RUNNING\","
                      "\"id\":\"h1:1235\",\"nodeHostName\":\"h1\",\"resourceUtilization\":{\"a\":[1]}},"
                      "{\"nodeHostName\":\"h2\",\"state\":\"LOST\"},{\"id\":\"h3:1\"},"
                      "{\"nodeHostName\":\"h4\",\"state\":\"RUNNING\"}]}}"),
                 &error));
    CHECK_INT(rest.host_count, 2);
    CHECK_TEXT(rest.hosts[0], "h1");
    CHECK_TEXT(rest.hosts[1], "h4");
    yarn_rest_release(&rest);
}

TEST(no_nodes)
{
    static const char *const texts[] = {"{\"nodes\":null}", "{\"nodes\":{}}", "{\"nodes\":{\"node\":[]}}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error error = {0};
        struct yarn_rest rest;
        yarn_rest_init(&rest);
        CHECK_OK(error, yarn_rest_add_nodes(&rest, text_of(texts[i]), &error));
        CHECK_INT(rest.host_count, 0);
        yarn_rest_release(&rest);
    }
}

TEST(refuses_other_json)
{
    static const char *const texts[] = {"",
                                        "[]",
                                        "{}",
                                        "<html>",
                                        "{\"RemoteException\":{\"message\":\"no\"}}",
                                        "{\"nodes\":{\"node\":[1]}}",
                                        "{\"nodes\":{\"node\":[{\"nodeHostName\":\"h1\"",
                                        "{\"nodes\":{\"node\":[{\"nodeHostName\":\"h1\"}",
                                        "{\"nodes\":{\"node\":[{\"nodeHostName\":}]}}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error error = {0};
        struct yarn_rest rest;
        yarn_rest_init(&rest);
        CHECK(!yarn_rest_add_nodes(&rest, text_of(texts[i]), &error));
        CHECK(error.message[0] != '\0');
        yarn_rest_release(&rest);
    }
}
