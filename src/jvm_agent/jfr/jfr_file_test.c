#include "jvm_agent/agent_clock.h"
#include "jvm_agent/jfr/jfr_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "unit_test.h"

#define LIMIT_BYTES ((size_t)32 << 20)
#define STACKS 300u
#define DEPTH 40u
#define SAMPLES 8000u
#define THREADS 20u
#define TICK_NS 10000000u
#define SAMPLES_OF_A_SECOND 2000u

/* Stacks that share their outer frames, as in real programs. */
static uint32_t stack_of(uint32_t number)
{
    frame_word frames[DEPTH];
    for (uint32_t i = 0; i < DEPTH; i++)
        frames[i] = frame_number(AGENT_FRAME_PROCESSOR, i * 50 + number % (1 + (DEPTH - i) / 2));
    return trace_reference(sampler.tables, trace_table_add(&sampler.tables->traces, frames, DEPTH));
}

static void add_samples(struct jfr_file *file, uint64_t begin_ns)
{
    struct error error = {0};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t thread = i % THREADS;
        /* Half of the threads are idle. */
        bool rests = thread < THREADS / 2;
        struct agent_sample sample = {.kind = SAMPLE_WALL, .weight = 1, .tid = (int32_t)(1000 + thread)};
        sample.time_ns = begin_ns + (uint64_t)(i / THREADS) * TICK_NS;
        sample.state = rests ? THREAD_STATE_SLEEPING : THREAD_STATE_RUNNABLE;
        sample.trace = stack_of(rests ? thread : i * 7 % STACKS);
        jfr_file_add_sample(file, &sample);
        if (i % SAMPLES_OF_A_SECOND == SAMPLES_OF_A_SECOND - 1)
            CHECK_OK(error, jfr_file_flush(file, &error));
    }
}

/* The size of a recording with the same samples. */
static size_t recorded_bytes(bool compact)
{
    struct error error = {0};
    struct jfr_file file;
    struct stat status;
    char path[] = "/tmp/jfr_file_test.XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    close(descriptor);
    CHECK_OK(error, sampler_open((size_t)64 << 20, false, &error));
    uint64_t begin_ns = agent_now_ns();
    jfr_shape_choose(compact, false, begin_ns);
    CHECK_OK(error, jfr_file_open(&file, path, LIMIT_BYTES, &error));
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    add_samples(&file, begin_ns);
    CHECK_OK(error, jfr_file_close(&file, &error));
    sampler_close();
    CHECK(stat(path, &status) == 0);
    unlink(path);
    return (size_t)status.st_size;
}

TEST(the_same_samples_take_far_fewer_bytes_when_compact)
{
    size_t wide = recorded_bytes(false), compact = recorded_bytes(true);
    CHECK(wide > 100000);
    if (compact * 2 > wide)
        unit_test_fail(__FILE__, __LINE__, "%zu bytes compact, %zu wide", compact, wide);
}

/* Threads of a month: each gets a label and ends. */
TEST(labels_of_ended_threads_are_forgotten)
{
    struct error error = {0};
    struct jfr_file file;
    char path[] = "/tmp/jfr_file_test.XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    close(descriptor);
    CHECK_OK(error, sampler_open((size_t)64 << 20, false, &error));
    uint64_t now_ns = agent_now_ns();
    jfr_shape_choose(true, false, now_ns);
    CHECK_OK(error, jfr_file_open(&file, path, LIMIT_BYTES, &error));
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    for (int32_t tid = 1; !jfr_file_has_many_names(&file); tid++) {
        struct agent_sample tag = {.kind = SAMPLE_TAG, .weight = 1, .tid = tid};
        tag.time_ns = tid % 1000 == 0 ? agent_now_ns() : now_ns - UINT64_C(5000000000);
        jfr_file_add_sample(&file, &tag);
        if (tid % 1000 == 0)
            CHECK_OK(error, jfr_file_flush(&file, &error));
        CHECK(tid < 1000000);
    }
    size_t threads = file.label_count;
    CHECK(threads > 10000);
    CHECK_OK(error, jfr_file_begin_chunk(&file, sampler.tables, &error));
    CHECK_INT(file.label_count, threads / 1000);
    CHECK(id_map_get(&file.label_places, 1) == NO_ID && id_map_get(&file.label_places, 2000) == 1);
    CHECK(!jfr_file_has_many_names(&file));
    CHECK_OK(error, jfr_file_close(&file, &error));
    sampler_close();
    unlink(path);
}
