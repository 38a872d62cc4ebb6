#include "native_sampler/thread_times.h"

#include <stdio.h>
#include <string.h>

#include "failing_memory.h"
#include "unit_test.h"

#define BEGIN_NS 1000

/* What was delivered: "TID STATE STACK START+DURATION", stacks that are not known as "?". */
struct delivered {
    char text[1024];
    size_t size;
    int64_t total_ns;
};

static bool note(void *context, const struct thread_interval *interval)
{
    static const char *const states[] = {"running", "waiting", "preempted", "runnable"};
    struct delivered *delivered = context;
    char stack[16] = "?";
    if (interval->stack != NO_THREAD_STACK)
        snprintf(stack, sizeof(stack), "%u", interval->stack);
    delivered->size +=
        (size_t)snprintf(delivered->text + delivered->size, sizeof(delivered->text) - delivered->size,
                         "%d %s %s %lld+%lld\n", (int)interval->tid, states[interval->state], stack,
                         (long long)interval->start_ns, (long long)interval->duration_ns);
    if (interval->waker != NO_WAKER)
        delivered->size +=
            (size_t)snprintf(delivered->text + delivered->size - 1,
                             sizeof(delivered->text) - delivered->size + 1, " by %u\n", interval->waker) -
            1;
    delivered->total_ns += interval->duration_ns;
    return true;
}

static void init(struct thread_times *times, struct delivered *delivered)
{
    *delivered = (struct delivered){.size = 0};
    thread_times_init(times, note, delivered);
    times->begin_ns = BEGIN_NS;
}

static bool wait_once(struct thread_times *times, uint32_t stack, int64_t from_ns, int64_t to_ns)
{
    return thread_times_wait_stack(times, 1, 7, from_ns - 1, stack) &&
           thread_times_switch_out(times, 1, 7, from_ns, false) && thread_times_switch_in(times, 1, 7, to_ns);
}

TEST(a_life_is_running_and_waiting)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    CHECK(thread_times_start(&times, 1, 7) && thread_times_switch_in(&times, 1, 7, 2000));
    CHECK(thread_times_sample(&times, 1, 7, 2100, 50));
    CHECK(wait_once(&times, 60, 2150, 2400));
    CHECK(thread_times_sample(&times, 1, 7, 2450, 51));
    CHECK(thread_times_exit(&times, 7, 2460) && thread_times_finish(&times, 9000));
    CHECK_TEXT(delivered.text, "7 running 50 2000+100\n7 waiting 60 2150+250\n"
                               "7 running 51 2350+100\n7 running 51 2450+10\n");
    CHECK_INT(delivered.total_ns, 460);
    thread_times_release(&times);
}

TEST(threads_of_before_the_recording_ran_or_waited)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    for (int tid = 1; tid <= 4; tid++)
        CHECK(thread_times_add(&times, 1, tid));
    CHECK(thread_times_switch_in(&times, 1, 1, 1500));        /* it waited */
    CHECK(thread_times_switch_out(&times, 1, 2, 1500, true)); /* it ran */
    CHECK(thread_time_lacks_stack(&times.threads[2], 5000, 50));
    thread_time_set_stack(&times.threads[2], 33, 5000); /* it waits */
    CHECK(!thread_time_lacks_stack(&times.threads[2], 6000, 50));
    CHECK(thread_times_finish(&times, 6000)); /* the fourth runs all the time */
    CHECK_TEXT(delivered.text, "1 waiting ? 1000+500\n1 running ? 1500+4500\n2 preempted ? 1500+4500\n"
                               "2 running ? 5500+500\n3 waiting 33 1000+5000\n4 running ? 1000+5000\n");
    thread_times_release(&times);
}

TEST(switches_between_processors_may_come_the_other_way_round)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    CHECK(thread_times_start(&times, 1, 7) && thread_times_switch_in(&times, 1, 7, 2000));
    CHECK(thread_times_switch_in(&times, 1, 7, 2300));
    CHECK(thread_times_wait_stack(&times, 1, 7, 2099, 5) &&
          thread_times_switch_out(&times, 1, 7, 2100, false));
    CHECK(thread_times_exit(&times, 7, 2400));
    CHECK_TEXT(delivered.text, "7 waiting 5 2100+200\n7 running ? 2200+200\n");
    thread_times_release(&times);
}

TEST(lost_records_lose_no_time)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    CHECK(thread_times_start(&times, 1, 7) && thread_times_switch_in(&times, 1, 7, 2000));
    CHECK(wait_once(&times, 5, 2100, 2200));
    CHECK(thread_times_switch_out(&times, 1, 7, 2300, false)); /* without stack */
    CHECK(thread_times_switch_out(&times, 1, 7, 2500, false)); /* without a switch to it */
    CHECK(thread_times_switch_in(&times, 1, 7, 2600));
    CHECK(thread_times_exit(&times, 7, 2700));
    CHECK(thread_times_switch_out(&times, 1, 7, 2701, false)); /* its last one, after its end */
    CHECK(thread_times_finish(&times, 9000));
    CHECK_TEXT(delivered.text, "7 waiting 5 2100+100\n7 waiting ? 2300+200\n7 waiting ? 2500+100\n"
                               "7 running ? 2400+300\n");
    CHECK_INT(delivered.total_ns, 700);
    thread_times_release(&times);
}

TEST(a_stack_from_outside_is_that_of_its_wait)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    CHECK(thread_times_start(&times, 1, 7) && thread_times_switch_in(&times, 1, 7, 2000));
    for (int i = 0; i < 2; i++) {
        CHECK(thread_times_switch_out(&times, 1, 7, 2100 + 1000 * i, false));
        thread_time_set_stack(&times.threads[0], 9, 2900 + 1000 * i);
        CHECK(thread_times_switch_in(&times, 1, 7, 2950 + 900 * i)); /* the second one was over */
    }
    CHECK_TEXT(delivered.text, "7 waiting 9 2100+850\n7 waiting ? 3100+750\n");
    thread_times_release(&times);
}

TEST(a_program_that_is_executed_runs)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    CHECK(thread_times_exec(&times, 7, 7, 2000) && thread_times_exit(&times, 7, 2100));
    CHECK(thread_times_exec(&times, 7, 7, 2200) && thread_times_exec(&times, 7, 7, 2300));
    CHECK(thread_times_exit(&times, 7, 2400));
    CHECK_INT(delivered.total_ns, 300);
    thread_times_release(&times);
}

/* Whatever comes, in whatever order: no interval is negative, none lies outside of the recording. */
static bool check_interval(void *context, const struct thread_interval *interval)
{
    (void)context;
    return interval->duration_ns > 0;
}

TEST(any_order_of_records_is_survived)
{
    struct thread_times times;
    uint64_t random = 88172645463325252;
    thread_times_init(&times, check_interval, NULL);
    for (int i = 0; i < 100000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        pid_t tid = (pid_t)(random >> 8 & 7) + 1;
        int64_t time_ns = (int64_t)i + (int64_t)(random >> 16 & 15);
        switch (random >> 40 & 7) {
        case 0:
            CHECK(thread_times_start(&times, 1, tid));
            break;
        case 1:
            CHECK(thread_times_exit(&times, tid, time_ns));
            break;
        case 2:
            CHECK(thread_times_exec(&times, 1, tid, time_ns));
            break;
        case 3:
            CHECK(thread_times_wait_stack(&times, 1, tid, time_ns, 1));
            break;
        case 4:
            CHECK(thread_times_sample(&times, 1, tid, time_ns, 2));
            break;
        case 5:
        case 6:
            CHECK(thread_times_switch_out(&times, 1, tid, time_ns, (random & 1) != 0));
            break;
        default:
            CHECK(thread_times_switch_in(&times, 1, tid, time_ns));
        }
    }
    CHECK(thread_times_finish(&times, 200000));
    thread_times_release(&times);
}

TEST(memory_may_run_out)
{
    FAIL_EACH_ALLOCATION
    {
        struct thread_times times;
        struct delivered delivered;
        init(&times, &delivered);
        bool good = true;
        for (int tid = 1; good && tid < 100; tid++)
            good = thread_times_add(&times, 1, tid);
        CHECK(good || failing_memory_failed());
        thread_times_release(&times);
    }
}

TEST(a_wait_ends_when_the_thread_is_woken)
{
    struct thread_times times;
    struct delivered delivered;
    init(&times, &delivered);
    CHECK(thread_times_start(&times, 1, 7) && thread_times_switch_in(&times, 1, 7, 2000));
    CHECK(!thread_times_is_waiting(&times, 7) && !thread_times_is_waiting(&times, 8));
    thread_times_woken(&times, 7, 2010, 5); /* it runs */
    CHECK(thread_times_wait_stack(&times, 1, 7, 2099, 60) &&
          thread_times_switch_out(&times, 1, 7, 2100, false));
    CHECK(thread_times_is_waiting(&times, 7));
    thread_times_woken(&times, 7, 2300, 5);
    thread_times_woken(&times, 7, 2310, 6); /* by then it is awake */
    CHECK(thread_times_switch_in(&times, 1, 7, 2400));
    CHECK(wait_once(&times, 61, 2500, 2600));
    CHECK(thread_times_switch_out(&times, 1, 7, 2700, true));
    thread_times_woken(&times, 7, 2750, 5); /* it is runnable anyway */
    CHECK(thread_times_switch_in(&times, 1, 7, 2800) && thread_times_exit(&times, 7, 2800));
    CHECK_TEXT(delivered.text, "7 waiting 60 2100+200 by 5\n7 runnable 60 2300+100\n7 waiting 61 2500+100\n"
                               "7 preempted ? 2700+100\n7 running ? 2500+300\n");
    CHECK_INT(delivered.total_ns, 800);
    thread_times_release(&times);
}
