#include "native_sampler/native_stacks.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <unistd.h>

#include "unit_test.h"

/* Of a function of the kernel; 0 if they are hidden. */
static uint64_t kernel_address(void)
{
    unsigned long long address = 0;
    char type = '\0', line[512];
    FILE *stream = fopen("/proc/kallsyms", "r");
    while (stream != NULL && type != 'T' && fgets(line, sizeof(line), stream) != NULL)
        if (sscanf(line, "%llx %c", &address, &type) != 2)
            type = '\0';
    if (stream != NULL)
        fclose(stream);
    return address;
}

/* Addresses of the program's code are there when somebody else records the same software event. */
TEST(only_the_kernels_part_of_a_call_chain_counts)
{
    static struct native_stacks stacks;
    struct profile profile;
    CHECK(profile_init(&profile, false, NULL));
    native_stacks_init(&stacks, &profile);
    uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, kernel_address() + 1, (uint64_t)PERF_CONTEXT_USER,
                        0x401000};
    struct perf_sample_stack stack = {.callchain = (const unsigned char *)chain,
                                      .callchain_count = COUNT_OF(chain)};
    struct process_image *image = process_table_image(&stacks.table, getpid(), 1);
    CHECK(image != NULL && native_stacks_add(&stacks, image, getpid(), &stack, 1) != NO_STACK);
    CHECK_INT(stacks.frame_count, 1);
    native_stacks_release(&stacks);
    profile_release(&profile);
}

TEST(process_and_thread_are_outermost)
{
    static struct native_stacks stacks;
    struct profile profile;
    CHECK(profile_init(&profile, false, NULL));
    native_stacks_init(&stacks, &profile);
    stacks.group_by_process = stacks.group_by_thread = true;
    uint32_t node = native_stacks_add_only(&stacks, getpid(), getpid(), TEXT("[no stack]"));
    CHECK_INT(stack_tree_depth(&profile.stacks, node), 3);
    uint32_t running = native_stacks_context(&stacks, getpid(), getpid(), TEXT("running"), 0);
    CHECK(running != NO_CONTEXT &&
          running == native_stacks_context(&stacks, getpid(), getpid(), TEXT("running"), 0));
    uint32_t waiting = native_stacks_context(&stacks, getpid(), getpid(), TEXT("waiting"), 0);
    uint32_t waker = profile_string(&profile, TEXT("giver"));
    uint32_t woken = native_stacks_context(&stacks, getpid(), getpid(), TEXT("waiting"), waker);
    CHECK(running != waiting && waiting != woken && running != woken);
    uint32_t key = profile_label_key(&profile, TEXT("waker"));
    CHECK_INT(context_table_value(&profile.contexts, woken, key), waker);
    CHECK_INT(context_table_value(&profile.contexts, waiting, key), 0);
    CHECK(context_table_value(&profile.contexts, woken, LABEL_STATE) ==
          context_table_value(&profile.contexts, waiting, LABEL_STATE));
    native_stacks_release(&stacks);
    profile_release(&profile);
}
