#include "native_sampler/perf_record.h"

#include <string.h>
#include <sys/mman.h>

#include "unit_test.h"

/* A record that grows. */
struct made {
    unsigned char bytes[1024];
    size_t size;
};

static void put(struct made *made, const void *data, size_t size)
{
    memcpy(made->bytes + made->size, data, size);
    made->size += size;
}

static void put_u64(struct made *made, uint64_t value)
{
    put(made, &value, sizeof(value));
}

static void put_u32(struct made *made, uint32_t value)
{
    put(made, &value, sizeof(value));
}

static struct made begin(uint32_t type, uint16_t misc)
{
    struct made made = {.size = 0};
    struct perf_event_header header = {.type = type, .misc = misc};
    put(&made, &header, sizeof(header));
    return made;
}

static struct made make_sample(uint64_t copied)
{
    struct made made = begin(PERF_RECORD_SAMPLE, 0);
    put_u64(&made, 0x1000);
    put_u32(&made, 7);
    put_u32(&made, 8);
    put_u64(&made, 123456789);
    put_u64(&made, 4321);
    put_u64(&made, 2);
    put_u64(&made, (uint64_t)PERF_CONTEXT_KERNEL);
    put_u64(&made, 0xffffffff81000010);
    put_u64(&made, PERF_SAMPLE_REGS_ABI_64);
    for (unsigned number = 0; number < 64; number++)
        if ((PERF_RECORD_REGISTERS >> number & 1) != 0)
            put_u64(&made, 0x100 + number);
    put_u64(&made, 16);
    put_u64(&made, 0xa);
    put_u64(&made, 0xb);
    put_u64(&made, copied);
    return made;
}

TEST(reads_a_sample)
{
    struct perf_record record;
    struct made made = make_sample(8);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK_INT(record.kind, PERF_KIND_SAMPLE);
    CHECK_INT(record.pid, 7);
    CHECK_INT(record.tid, 8);
    CHECK_INT(record.time_ns, 123456789);
    CHECK_INT(record.period, 4321);
    CHECK_INT(record.stack.callchain_count, 2);
    CHECK(perf_callchain_at(&record.stack, 1) == 0xffffffff81000010);
    CHECK(record.stack.has_user);
    CHECK_INT(record.stack.pc, 0x100 + PERF_REGISTER_PC);
    CHECK_INT(record.stack.sp, 0x100 + PERF_REGISTER_SP);
    CHECK_INT(record.stack.fp, 0x100 + PERF_REGISTER_FP);
    CHECK_INT(record.stack.size, 8);
    CHECK(!record.stack.is_cut);
    made = make_sample(16);
    CHECK(perf_record_decode(&record, made.bytes, made.size) && record.stack.is_cut);
    made = make_sample(1000); /* more than there is room for */
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK_INT(record.stack.size, 16);
}

TEST(every_shorter_sample_is_damaged)
{
    struct perf_record record;
    struct made made = make_sample(16);
    for (size_t size = 0; size < made.size; size++)
        CHECK(!perf_record_decode(&record, made.bytes, size));
}

TEST(sizes_inside_a_sample_are_checked)
{
    struct perf_record record;
    struct made made = begin(PERF_RECORD_SAMPLE, 0);
    for (int i = 0; i < 4; i++)
        put_u64(&made, 1);
    put_u64(&made, UINT64_MAX / 8 + 2); /* times 8 it is 8 again */
    put_u64(&made, 0);
    CHECK(!perf_record_decode(&record, made.bytes, made.size));
}

TEST(kernel_threads_have_no_user_part)
{
    struct perf_record record;
    struct made made = begin(PERF_RECORD_SAMPLE, 0);
    for (int i = 0; i < 7; i++) /* no callchain, no registers, no stack */
        put_u64(&made, 0);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK(!record.stack.has_user && record.stack.size == 0);
}

static void put_tail(struct made *made)
{
    put_u32(made, 7);
    put_u32(made, 8);
    put_u64(made, 55);
}

TEST(reads_mappings_names_and_tasks)
{
    struct perf_record record;
    struct made made = begin(PERF_RECORD_MMAP2, 0);
    put_u64(&made, 7 | 8ULL << 32);
    put_u64(&made, 0x10000);
    put_u64(&made, 0x2000);
    put_u64(&made, 0x3000);
    put_u64(&made, 8 | 1ULL << 32);
    put_u64(&made, 4711);
    put_u64(&made, 0);
    put_u64(&made, PROT_EXEC);
    put(&made, "/lib/a.so\0\0\0\0\0\0", 16);
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK_INT(record.kind, PERF_KIND_MAPPING);
    CHECK_INT(record.time_ns, 55);
    CHECK_INT(record.mapping.end, 0x12000);
    CHECK(record.mapping.executable && text_equal(record.mapping.path, TEXT("/lib/a.so")));
    made = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put_u64(&made, 7 | 8ULL << 32);
    put(&made, "worker\0\0", 8);
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK(record.is_exec && record.tid == 8 && text_equal(record.name, TEXT("worker")));
    made = begin(PERF_RECORD_FORK, 0);
    put_u64(&made, 7 | 3ULL << 32);
    put_u64(&made, 8 | 4ULL << 32);
    put_u64(&made, 55);
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK_INT(record.kind, PERF_KIND_START);
    CHECK(record.pid == 7 && record.parent_pid == 3 && record.tid == 8 && record.parent_tid == 4);
}

TEST(counts_what_was_lost)
{
    struct perf_record record;
    struct made made = begin(PERF_RECORD_LOST, 0);
    put_u64(&made, 1);
    put_u64(&made, 99);
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK_INT(record.lost, 99);
}

TEST(reads_switches)
{
    struct perf_record record;
    struct made made = begin(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK_INT(record.kind, PERF_KIND_SWITCH_OUT);
    CHECK(record.pid == 7 && record.tid == 8 && record.time_ns == 55 && !record.was_preempted);
    CHECK(!perf_record_decode(&record, made.bytes, made.size - 1));
    made =
        begin(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    put_u64(&made, 1 | 2ULL << 32); /* who runs next */
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size));
    CHECK(record.kind == PERF_KIND_SWITCH_OUT && record.pid == 7 && record.was_preempted);
    made = begin(PERF_RECORD_SWITCH, 0);
    put_tail(&made);
    CHECK(perf_record_decode(&record, made.bytes, made.size) && record.kind == PERF_KIND_SWITCH_IN);
}

static struct made make_waking(uint32_t length, uint8_t flags)
{
    struct made made = begin(PERF_RECORD_SAMPLE, 0);
    put_u64(&made, 0x1000);
    put_u32(&made, 7);
    put_u32(&made, 8);
    put_u64(&made, 5000);
    put_u32(&made, length);
    const unsigned char head[] = {1, 0, flags, 0, 0, 0, 0, 0};
    put(&made, head, sizeof(head));
    put_u32(&made, 99);
    return made;
}

TEST(who_wakes_a_thread)
{
    const struct perf_waking_format format = {.flags = 2, .pid = 8};
    const struct perf_waking_format beyond = {.flags = 2, .pid = 9}, outside = {.flags = 12, .pid = 8};
    struct perf_record record;
    struct made made = make_waking(12, 0x11);
    CHECK(perf_record_decode_waking(&record, made.bytes, made.size, &format));
    CHECK_INT(record.kind, PERF_KIND_WAKING);
    CHECK(record.pid == 7 && record.tid == 8 && record.time_ns == 5000 && record.woken_tid == 99);
    CHECK(record.is_interrupt);
    CHECK(!perf_record_decode_waking(&record, made.bytes, made.size, &beyond));
    CHECK(!perf_record_decode_waking(&record, made.bytes, made.size, &outside));
    for (size_t size = 0; size < made.size; size++)
        CHECK(!perf_record_decode_waking(&record, made.bytes, size, &format));
    made = make_waking(13, 0);
    CHECK(!perf_record_decode_waking(&record, made.bytes, made.size, &format));
    made = make_waking(2, 0);
    CHECK(!perf_record_decode_waking(&record, made.bytes, made.size, &format));
}
