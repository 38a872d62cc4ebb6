#include "processes/process_arguments.h"

#include "unit_test.h"

#define ARGUMENTS(literal) ((struct text_view){literal, sizeof(literal)})

static void check(struct text_view got, const char *expected)
{
    if (!text_equal(got, text_of(expected)))
        unit_test_fail(__FILE__, __LINE__, "got \"%.*s\", not \"%s\"", TEXT_FORMAT(got), expected);
}

TEST(finds_a_jvms_main_class)
{
    check(java_main_class(ARGUMENTS("java\0-Xmx1g\0-cp\0a.jar:b\0org.x.Main\0-jar\0no")), "org.x.Main");
    check(java_main_class(ARGUMENTS("java\0-jar\0/opt/a.jar\0x")), "/opt/a.jar");
    check(java_main_class(ARGUMENTS("java\0--add-opens\0java.base/java.lang=ALL-UNNAMED\0-m\0mod/x.Y")),
          "mod/x.Y");
    check(java_main_class(ARGUMENTS("java\0--class-path=a\0X")), "X");
    check(java_main_class(ARGUMENTS("java\0-version")), "");
    check(java_main_class((struct text_view){"", 0}), "");
}

TEST(finds_a_pythons_program)
{
    bool is_module;
    check(python_program(ARGUMENTS("python3\0-u\0-m\0pyspark.daemon\0pyspark.worker"), &is_module),
          "pyspark.daemon");
    CHECK(is_module);
    check(python_program(ARGUMENTS("python3\0-X\0dev\0/a/job.py\0-m\0x"), &is_module), "/a/job.py");
    CHECK(!is_module);
    check(python_program(ARGUMENTS("python3"), &is_module), "");
    check(python_program(ARGUMENTS("python3\0-c\0print()"), &is_module), "-c");
}

TEST(finds_values)
{
    struct text_view arguments = ARGUMENTS("java\0-Dspark.app.id=app-1\0Main\0--app-id\0app-2\0--last");
    check(argument_after(arguments, "--app-id"), "app-2");
    check(argument_after(arguments, "--last"), "");
    check(argument_after(arguments, "--none"), "");
    check(argument_value(arguments, "-D", "spark.app.id"), "app-1");
    check(argument_value(arguments, "-D", "spark.app"), "");
    CHECK(argument_present(arguments, "Main"));
    CHECK(!argument_present(arguments, "Mai"));
}

TEST(knows_the_application_of_a_container)
{
    char room[64];
    check(application_of_container(TEXT("container_1410901177871_0001_01_000005"), room),
          "application_1410901177871_0001");
    check(application_of_container(TEXT("container_e17_1410901177871_0002_01_000005"), room),
          "application_1410901177871_0002");
    check(application_of_container(TEXT("container_x"), room), "");
    check(application_of_container(TEXT("pod"), room), "");
}
