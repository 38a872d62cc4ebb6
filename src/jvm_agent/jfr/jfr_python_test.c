#include "jvm_agent/agent_clock.h"
#include "jvm_agent/jfr/jfr_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "unit_test.h"

#define STACKS 20000u

static struct python_functions functions;

static void make_functions(void)
{
    CHECK(python_functions_init(&functions));
    for (uint32_t i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof(name), "function_%u", i);
        CHECK_INT(python_functions_add(&functions, text_of(name), TEXT("file.py"), 1), i);
    }
}

/* Wall-clock samples, which do not depend on CPU time. */
static void add(struct jfr_python *python, struct jfr_file *file, uint32_t line)
{
    struct python_frame frame = {.function = line % 100, .line = line};
    struct python_stack stack = {
        .pid = getpid(), .functions = &functions, .frames = &frame, .frame_count = 1};
    stack.idle_wanted = true;
    stack.task.known = stack.task.served_here = true;
    jfr_python_add(python, file, &stack);
}

/* A stack that did not fit got the number of the first one, and so did its later samples. */
TEST(a_stack_without_room_is_not_taken_for_another)
{
    struct error error = {0};
    struct jfr_python python;
    struct jfr_file file;
    char path[] = "/tmp/jfr_python_test.XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    close(descriptor);
    make_functions();
    CHECK_OK(error, sampler_open((size_t)8 << 20, false, &error));
    jfr_shape_choose(false, false, agent_now_ns());
    CHECK_OK(error, jfr_file_open(&file, path, (size_t)32 << 20, &error));
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    jfr_python_init(&python, 10000000, (size_t)64 << 10);
    size_t before = 0;
    for (uint32_t line = 1; line <= STACKS; line++) {
        before = file.events.size;
        add(&python, &file, line);
    }
    CHECK(python.trace_count > 0 && python.trace_count < STACKS);
    CHECK(jfr_python_bytes(&python) < (size_t)128 << 10);
    before = file.events.size;
    add(&python, &file, STACKS);
    add(&python, &file, STACKS);
    CHECK_INT(file.events.size, before);
    jfr_python_renew(&python, false);
    add(&python, &file, STACKS);
    CHECK(file.events.size > before);
    jfr_python_release(&python);
    CHECK_OK(error, jfr_file_close(&file, &error));
    sampler_close();
    python_functions_release(&functions);
    unlink(path);
}
