#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

#include "jvm_agent/handler/perf_ring.h"

#define MARK_BYTES 4096 /* addresses above -4096 mark the type of the following stack */

static uint64_t word_at(const char *data, uint64_t position)
{
    uint64_t word;
    memcpy(&word, data + (position & (PERF_PAGE_BYTES - 1)),
           sizeof(word)); /* all sizes are multiples of eight bytes */
    return word;
}

static uint32_t read_chain(const char *data, uint64_t position, uint64_t end, frame_word *frames,
                           uint32_t limit)
{
    uint32_t depth = 0;
    uint64_t count = word_at(data, position);
    for (uint64_t i = 0; i < count && position + 8 * (i + 1) < end && depth < limit; i++) {
        uint64_t address = word_at(data, position + 8 * (i + 1));
        bool is_mark = address > -(uint64_t)MARK_BYTES;
        if (!is_mark && address >> 63 != 0)
            frames[depth++] = frame_address(AGENT_FRAME_KERNEL, (uintptr_t)address);
    }
    return depth;
}

void perf_ring_set_period(int descriptor, uint64_t interval)
{
    ioctl(descriptor, PERF_EVENT_IOC_PERIOD, &interval);
}

uint32_t perf_ring_take(void *ring, frame_word *frames, uint32_t limit, uint32_t *events)
{
    struct perf_event_mmap_page *page = ring;
    const char *data = (const char *)ring + PERF_PAGE_BYTES;
    uint64_t head = page->data_head, at = page->data_tail;
    uint32_t depth = 0, count = 0;
    atomic_thread_fence(memory_order_acquire);
    while (at + sizeof(struct perf_event_header) <= head && head - at <= PERF_PAGE_BYTES) {
        uint64_t word = word_at(data, at);
        struct perf_event_header header;
        memcpy(&header, &word, sizeof(header));
        if (header.size < sizeof(header) || at + header.size > head)
            break;
        if (header.type == PERF_RECORD_SAMPLE) {
            count++;
            depth = read_chain(data, at + sizeof(header), at + header.size, frames, limit);
        }
        at += header.size;
    }
    atomic_thread_fence(memory_order_release);
    page->data_tail = head;
    *events = count > 0 ? count : 1;
    return depth;
}
