#include "python_sampler/process_numbers.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

struct seen {
    pid_t numbers[8];
    size_t count;
};

static void note(void *context, pid_t child)
{
    struct seen *seen = context;
    if (seen->count < 8)
        seen->numbers[seen->count++] = child;
}

TEST(numbers_are_taken_from_text)
{
    struct seen seen = {.count = 0};
    const char *text = "12 3456 7";
    process_visit_numbers(text, strlen(text), note, &seen);
    CHECK_INT(seen.count, 3);
    CHECK_INT(seen.numbers[1], 3456);
    CHECK_INT(seen.numbers[2], 7);
}

TEST(a_child_is_found)
{
    struct seen seen = {.count = 0};
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    process_visit_children(getpid(), note, &seen);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_INT(seen.count, 1);
    CHECK_INT(seen.numbers[0], child);
}

TEST(the_main_thread_knows_itself_by_the_inner_number)
{
    CHECK_INT(process_inner_number(getpid()), getpid());
    CHECK_INT(process_find_thread(getpid(), getpid()), getpid());
    CHECK_INT(process_find_thread(getpid(), 0x7ffffff0), 0);
}
