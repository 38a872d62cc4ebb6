#include "jvm_agent/handler/recording_tables.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "jvm_agent/control/memory_shares.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/output/spilled_tables.h"
#include "unit_test.h"

static uint32_t add_stack(struct recording_tables *tables, uint64_t leaf)
{
    frame_word frames[] = {frame_number(AGENT_FRAME_ERROR, (uint32_t)leaf),
                           frame_address(AGENT_FRAME_NATIVE, leaf * 16)};
    return trace_reference(tables, trace_table_add(&tables->traces, frames, 2));
}

TEST(a_reference_says_which_tables_it_is_of)
{
    struct error error = {0};
    CHECK_OK(error, sampler_open((size_t)8 << 20, false, &error));
    for (int i = 0; i < 600; i++) { /* more than there are generation numbers */
        struct recording_tables *tables = sampler.tables;
        uint32_t reference = add_stack(tables, 7);
        CHECK(reference != 0 && sampler_tables_of(reference) == tables);
        struct recording_tables *old = sampler_renew();
        CHECK(old == tables && sampler.tables != tables);
        CHECK(sampler_tables_of(reference) == old);
        CHECK(!recording_tables_have(sampler.tables, reference));
        CHECK(sampler_renew() == NULL); /* the old ones are still in use */
        recording_tables_close(old);
        CHECK(sampler_tables_of(reference) == NULL);
    }
    sampler_close();
}

TEST(tables_are_released_only_when_nobody_is_in_them)
{
    struct error error = {0};
    CHECK_OK(error, sampler_open((size_t)8 << 20, false, &error));
    struct recording_tables *entered = sampler_enter();
    struct recording_tables *old = sampler_renew();
    CHECK(old == entered);
    CHECK_INT(old->active, 1);
    struct recording_tables *later = sampler_enter();
    CHECK(later == sampler.tables && later != old);
    CHECK_INT(old->active, 1);
    sampler_leave(later);
    sampler_leave(entered);
    CHECK_INT(old->active, 0);
    sampler_close();
}

static _Atomic bool stop_wanted;
static _Atomic uint64_t put_samples;

/* Like a handler: adds a stack, and a sample that refers to it. */
static void *put_many(void *context)
{
    for (uint64_t i = 0; !atomic_load(&stop_wanted); i++) {
        struct recording_tables *tables = sampler_enter();
        struct agent_sample sample = {.kind = SAMPLE_EXECUTION, .weight = 1, .value = 1};
        sample.trace = add_stack(tables, i % 1000);
        if (sample.trace != 0 && sample_counts_add(&tables->counts, &sample))
            atomic_fetch_add(&put_samples, 1);
        sampler_leave(tables);
    }
    return NULL;
}

static bool count_samples(struct recording_tables *tables, const struct spilled_threads *threads,
                          void *context, struct error *error)
{
    uint64_t *sum = context;
    for (uint32_t i = 1; i <= sample_counts_number(&tables->counts); i++) {
        const struct sample_count *count = sample_counts_at(&tables->counts, i);
        const struct trace *trace = recording_tables_trace(tables, count->trace);
        CHECK_INT(trace->depth, 2);
        CHECK_INT(frame_address_of(trace->frames[1]), frame_low(trace->frames[0]) * UINT64_C(16));
        *sum += count->samples;
    }
    return true;
}

TEST(no_sample_is_lost_while_tables_are_renewed)
{
    struct error error = {0};
    struct spilled_tables spilled;
    pthread_t threads[3];
    spilled_tables_init(&spilled, (uint64_t)1 << 30);
    CHECK_OK(error, sampler_open((size_t)16 << 20, false, &error));
    for (size_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, put_many, NULL) == 0);
    for (int i = 0; i < 50; i++) {
        struct recording_tables *old = sampler_renew();
        CHECK(old != NULL);
        while (atomic_load(&old->active) != 0)
            sched_yield();
        spilled_tables_add(&spilled, old, NULL);
        recording_tables_close(old);
    }
    atomic_store(&stop_wanted, true);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    CHECK_OK(error, spilled_tables_each(&spilled, count_samples, &sum, &error));
    CHECK(count_samples(sampler.tables, NULL, &sum, &error));
    CHECK_INT(spilled.count, 50);
    CHECK(put_samples > 1000);
    CHECK_INT(sum, put_samples);
    spilled_tables_release(&spilled);
    sampler_close();
}

TEST(what_finds_no_room_on_disk_is_counted)
{
    struct error error = {0};
    struct spilled_tables spilled;
    spilled_tables_init(&spilled, 1000);
    CHECK_OK(error, sampler_open((size_t)8 << 20, false, &error));
    for (uint32_t i = 0; i < 100000; i++) {
        struct agent_sample sample = {.kind = SAMPLE_EXECUTION, .weight = 2, .value = 3};
        sample.trace = add_stack(sampler.tables, i % 5000);
        CHECK(sample_counts_add(&sampler.tables->counts, &sample));
    }
    spilled_tables_add(&spilled, sampler.tables, "/nowhere/file");
    CHECK_INT(spilled.count, 0);
    CHECK_INT(spilled.lost[SAMPLE_EXECUTION].samples, 200000);
    CHECK_INT(spilled.lost[SAMPLE_EXECUTION].value, 300000);
    spilled_tables_release(&spilled);
    sampler_close();
}

TEST(a_stack_is_taken_over_with_its_methods)
{
    struct error error = {0};
    CHECK_OK(error, sampler_open((size_t)8 << 20, false, &error));
    struct recording_tables *old = sampler.tables;
    struct method method = {.address = 4096, .class_symbol = 1, .name_symbol = 2, .ready = true};
    method.class_name = "pkg/Class";
    method.class_size = 9;
    method.name = "run";
    method.name_size = 3;
    uint32_t number = method_table_copy(&old->methods, &method);
    frame_word frames[] = {frame_java(AGENT_FRAME_COMPILED, number, 5),
                           frame_address(AGENT_FRAME_NATIVE, 64)};
    uint32_t reference = trace_reference(old, trace_table_add(&old->traces, frames, 2));
    CHECK(sampler_renew() == old);
    struct recording_tables *fresh = sampler.tables;
    (void)add_stack(fresh, 1);
    uint32_t copy = recording_tables_copy_trace(fresh, old, reference);
    CHECK_INT(recording_tables_copy_trace(fresh, old, reference), copy);
    recording_tables_close(old);
    const struct trace *trace = recording_tables_trace(fresh, copy);
    CHECK_INT(trace->depth, 2);
    CHECK_INT(frame_bytecode_index(trace->frames[0]), 5);
    const struct method *kept = method_table_at(&fresh->methods, frame_low(trace->frames[0]));
    CHECK(kept->name_size == 3 && memcmp(kept->name, "run", 3) == 0);
    CHECK(kept->class_size == 9 && memcmp(kept->class_name, "pkg/Class", 9) == 0);
    CHECK_INT(trace->frames[1], frames[1]);
    sampler_close();
}

TEST(shares_keep_to_the_limit)
{
    static const size_t limits[] = {(size_t)16 << 20, (size_t)32 << 20, (size_t)128 << 20, (size_t)4 << 30};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct memory_shares shares = memory_shares_of(limits[i]);
        CHECK_INT(shares.limit, limits[i]);
        CHECK(2 * shares.tables + shares.fixed + shares.session + shares.view * shares.views + shares.output +
                  shares.thread_names + shares.tags + shares.native_names + shares.python_names <=
              limits[i]);
        CHECK(shares.tables > recording_tables_fixed_bytes() + ((size_t)1 << 20) && shares.views > 0);
    }
    CHECK_INT(memory_shares_of(1).limit, MEMORY_MIN_BYTES);
    CHECK_INT(memory_shares_of(0).limit, MEMORY_DEFAULT_BYTES);
}
