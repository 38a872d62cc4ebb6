#include "python_sampler/python_code_counter.h"

#include <stdlib.h>
#include <unistd.h>

#include "unit_test.h"

#define WORDS 16384
#define COUNT_AT 1000 /* word of the count in the interpreter */
#define FIRST_VERSION 5000
#define CODES 6

/* An interpreter with `placed` of the codes in its table. */
static bool find(uint32_t count, size_t placed, uint32_t *offset)
{
    static struct python_code codes[CODES];
    struct python_code_cache cache = {.codes = codes, .size = CODES};
    struct process_memory memory;
    uint64_t *interpreter = calloc(WORDS, sizeof(*interpreter));
    for (uint32_t i = 0; i < CODES; i++) {
        codes[i] = (struct python_code){.address = 0x7f0000000000 + 512 * i, .version = FIRST_VERSION + i};
        if (i < placed)
            interpreter[COUNT_AT + 1 + 2 * ((FIRST_VERSION + i) % 4096) + 1] = codes[i].address;
    }
    interpreter[3] = codes[0].address;
    interpreter[COUNT_AT] = count;
    process_memory_init(&memory, getpid());
    bool found = python_code_counter_find(&memory, &cache, (uintptr_t)interpreter,
                                          WORDS * sizeof(*interpreter), offset);
    process_memory_release(&memory);
    free(interpreter);
    return found;
}

TEST(the_count_is_found_by_the_table_behind_it)
{
    uint32_t offset = 0;
    CHECK(find(FIRST_VERSION + CODES, CODES, &offset));
    CHECK_INT(offset, COUNT_AT * 8);
    CHECK(find(FIRST_VERSION + 100, 3, &offset));
    CHECK_INT(offset, COUNT_AT * 8);
}

TEST(a_count_below_a_known_number_or_a_table_of_others_is_none)
{
    uint32_t offset = 0;
    CHECK(!find(FIRST_VERSION + CODES - 1, CODES, &offset));
    CHECK(!find(FIRST_VERSION + CODES, 2, &offset));
    CHECK(!find(FIRST_VERSION + CODES, 0, &offset));
}
