#include "jvm_agent/jfr/jfr_pools.h"

#include <string.h>

#include "base/text_view.h"
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "unit_test.h"

#define LIMIT_BYTES ((size_t)1 << 20)
#define UTF8 3

struct read_symbol {
    int number;
    struct text_view text;
};

/* Of numbers and sizes below 128. */
static size_t read_symbols(const struct jfr_pools *pools, struct read_symbol *symbols, size_t limit)
{
    struct text_view bytes = text_builder_view(&pools->symbols.bytes);
    size_t count = 0;
    for (size_t at = 0; at < bytes.size; count++) {
        CHECK(count < limit && bytes.data[at + 1] == UTF8);
        symbols[count].number = (unsigned char)bytes.data[at];
        symbols[count].text = text_part(bytes, at + 3, (size_t)bytes.data[at + 2]);
        at += 3 + symbols[count].text.size;
    }
    CHECK(count == pools->symbols.count);
    return count;
}

static void write_pending(struct jfr_pools *pools)
{
    struct text_builder bytes;
    text_builder_init(&bytes, LIMIT_BYTES);
    jfr_pools_write(pools, &bytes, 100, agent_now_ns());
    CHECK(!bytes.failed && pools->symbols.count == 0);
    text_builder_release(&bytes);
}

static void open_pools(struct jfr_pools *pools)
{
    struct error error = {0};
    jfr_shape_choose(false, false, agent_now_ns());
    CHECK_OK(error, jfr_pools_init(pools, LIMIT_BYTES, &error));
    jfr_pools_begin_chunk(pools, NULL);
}

/* Native functions have a class without a name. async-profiler's converter refuses symbols that are not UTF-8, and
 * the JDK's reader returns null for an empty string before all others. */
TEST(an_empty_symbol_is_utf8_and_never_the_first)
{
    struct jfr_pools pools;
    struct read_symbol symbols[8];
    open_pools(&pools);
    (void)jfr_pool_class(&pools, TEXT(""));
    CHECK(read_symbols(&pools, symbols, 8) == 2);
    CHECK(symbols[0].text.size > 0 && symbols[1].text.size == 0 && symbols[0].number != symbols[1].number);
    jfr_pools_begin_chunk(&pools, NULL);
    (void)jfr_pool_class(&pools, TEXT("first"));
    write_pending(&pools);
    (void)jfr_pool_class(&pools, TEXT(""));
    (void)jfr_pool_class(&pools, TEXT("second"));
    CHECK(read_symbols(&pools, symbols, 8) == 3);
    CHECK(symbols[0].text.size > 0 && symbols[1].text.size == 0);
    jfr_pools_begin_chunk(&pools, NULL);
    (void)jfr_pool_class(&pools, TEXT("first"));
    (void)jfr_pool_class(&pools, TEXT(""));
    CHECK(read_symbols(&pools, symbols, 8) == 2);
    jfr_pools_release(&pools);
}

/* The JDK's reader would take one for the other. */
TEST(numbers_of_symbols_are_not_used_again_after_a_renewal)
{
    struct jfr_pools pools;
    struct read_symbol before[8], after[8];
    open_pools(&pools);
    (void)jfr_pool_class(&pools, TEXT(""));
    (void)jfr_pool_class(&pools, TEXT("before"));
    CHECK(read_symbols(&pools, before, 8) == 3 && text_equal(before[0].text, TEXT("()V")));
    CHECK(jfr_pools_renew(&pools));
    jfr_pools_begin_chunk(&pools, NULL);
    (void)jfr_pool_class(&pools, TEXT(""));
    (void)jfr_pool_class(&pools, TEXT("after"));
    CHECK(read_symbols(&pools, after, 8) == 3);
    CHECK(after[0].number == before[0].number && text_equal(after[0].text, TEXT("()V")));
    for (size_t i = 1; i < 3; i++)
        CHECK(after[i].number > before[2].number);
    jfr_pools_release(&pools);
}
