#include "commands/record/host_list.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

/* The names with blanks between them, or the error. */
static const char *parse(struct text_view text)
{
    static char result[2000];
    struct host_list list;
    struct error error = {0};
    size_t used = 0;
    result[0] = '\0';
    host_list_init(&list);
    if (!host_list_parse(&list, text, &error))
        snprintf(result, sizeof(result), "%s", error.message);
    for (size_t i = 0; error.code == ERROR_NONE && i < list.count; i++)
        used += (size_t)snprintf(result + used, sizeof(result) - used, "%s%s", used == 0 ? "" : " ",
                                 list.names[i]);
    host_list_release(&list);
    return result;
}

TEST(names_from_the_command_line)
{
    CHECK_TEXT(parse(TEXT("h1")), "h1");
    CHECK_TEXT(parse(TEXT("h1, h2.example.org ,spark@10.0.0.3,fe80::1")),
               "h1 h2.example.org spark@10.0.0.3 fe80::1");
    CHECK_TEXT(parse(TEXT("h1,h2,")), "h1 h2");
}

TEST(names_from_a_file)
{
    CHECK_TEXT(parse(TEXT("# workers\nh1\n\n  h2 # the large one\r\nh3,h4\n")), "h1 h2 h3 h4");
}

TEST(no_host)
{
    CHECK_TEXT(parse(TEXT("")), "no host given");
    CHECK_TEXT(parse(TEXT(" \n# h1\n")), "no host given");
}

TEST(given_twice)
{
    CHECK_TEXT(parse(TEXT("h1,h2,h1")), "host h1 is given twice");
    CHECK_TEXT(parse(TEXT("Node-1\nnode-1")), "host node-1 is given twice");
}

TEST(options_of_ssh_are_not_names)
{
    CHECK_TEXT(parse(TEXT("-oProxyCommand=id")), "\"-oProxyCommand=id\" is not a host name");
    CHECK_TEXT(parse(TEXT("h1,-p22")), "\"-p22\" is not a host name");
    CHECK_TEXT(parse(TEXT("h1\n -v\n")), "\"-v\" is not a host name");
}

TEST(damaged_names)
{
    CHECK_TEXT(parse(TEXT("h1,,h2")), "\"\" is not a host name");
    CHECK_TEXT(parse(TEXT("a b")), "\"a b\" is not a host name");
    CHECK_TEXT(parse(TEXT("a;b")), "\"a;b\" is not a host name");
    CHECK_TEXT(parse(TEXT("$(id)")), "\"$(id)\" is not a host name");
    CHECK_TEXT(parse(TEXT("a\0b")), "\"a?b\" is not a host name");
    CHECK_TEXT(parse(TEXT("\033[2J")), "\"?[2J\" is not a host name");
    CHECK_TEXT(parse(TEXT("h\xc3\xa4")), "\"h??\" is not a host name");
    CHECK_TEXT(parse(TEXT("root@")), "\"root@\" is not a host name");
    CHECK_TEXT(parse(TEXT("root@-v")), "\"root@-v\" is not a host name");
    CHECK_TEXT(parse(TEXT("-l@h1")), "\"-l@h1\" is not a host name");
    CHECK_TEXT(parse(TEXT("a@b@c")), "\"a@b@c\" is not a host name");
    CHECK_TEXT(parse(TEXT("ssh://h1")), "\"ssh://h1\" is not a host name");
}

TEST(limits)
{
    char text[HOST_LIST_LIMIT * 8 + 16], name[HOST_NAME_BYTES + 1];
    size_t size = 0;
    for (int i = 0; i <= HOST_LIST_LIMIT; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "h%d\n", i);
    CHECK_TEXT(parse((struct text_view){text, size}), "more than 256 hosts");
    memset(name, 'h', sizeof(name));
    CHECK(host_name_is_valid((struct text_view){name, HOST_NAME_BYTES}));
    CHECK(!host_name_is_valid((struct text_view){name, HOST_NAME_BYTES + 1}));
}

TEST(a_file_that_is_not_there)
{
    struct host_list list;
    struct error error = {0};
    host_list_init(&list);
    CHECK(!host_list_read(&list, "@/no/such/file", &error));
    CHECK_TEXT(error.message, "/no/such/file: No such file or directory");
    host_list_release(&list);
}
