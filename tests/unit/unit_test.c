#include "unit_test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct unit_test *first_test;
static struct unit_test **end = &first_test;

void unit_test_register(struct unit_test *test)
{
    *end = test;
    end = &test->next;
}

void unit_test_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("# %s:%d: ", file, line);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    _exit(1);
}

void unit_test_check_text(const char *file, int line, const char *got, const char *expected)
{
    if (got == NULL || strcmp(got, expected) != 0)
        unit_test_fail(file, line, "got \"%s\"\n#   not \"%s\"", got == NULL ? "(null)" : got, expected);
}

const char *unit_test_data(const char *name)
{
    static char paths[16][4096]; /* the test ends before it needs more at once */
    static unsigned next;
    const char *folder = getenv("SPARKFLAME_TEST_DATA");
    char *path = paths[next++ % 16];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder == NULL ? "tests/data" : folder, name);
    return path;
}

static bool wanted(const struct unit_test *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], test->name) == 0)
            return true;
    return argc < 2;
}

static bool run(const struct unit_test *test)
{
    printf("# running %s\n", test->name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        test->run();
        fflush(stdout);
        exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        printf("# ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;
    for (struct unit_test *test = first_test; test != NULL; test = test->next) {
        if (!wanted(test, argc, argv))
            continue;
        bool good = run(test);
        printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, test->name);
        failed += !good;
    }
    printf("1..%d\n", count);
    return failed > 0 || count == 0;
}
