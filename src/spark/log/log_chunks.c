#include "spark/log/log_chunks.h"

#include <stdlib.h>

#include "base/array.h"
#include "spark/log/log_template.h"

#define MOST_PAIRS ((size_t)64 << 20)
#define LINE_LIMIT_BYTES_KEPT 2000

bool log_chunks_init(struct log_chunks *chunks, struct error *error)
{
    *chunks = (struct log_chunks){.lines = 0};
    id_map_init(&chunks->pairs);
    return string_table_init(&chunks->texts, LOG_CHUNKS_LIMIT_BYTES) || error_set_memory(error);
}

void log_chunks_release(struct log_chunks *chunks)
{
    string_table_release(&chunks->texts);
    id_map_release(&chunks->pairs);
    free(chunks->counts);
    free(chunks->pair_counts);
    free(chunks->pair_keys);
    free(chunks->order);
    free(chunks->chunks);
    *chunks = (struct log_chunks){.lines = 0};
}

void log_chunks_text(const struct log_head *head, bool is_exact, struct text_builder *text)
{
    struct text_view message = text_part(head->message, 0, LINE_LIMIT_BYTES_KEPT);
    text_builder_clear(text);
    text_builder_add_c_string(text, log_level_name(head->level));
    text_builder_add_byte(text, ' ');
    text_builder_add(text, text_part(head->logger, 0, LINE_LIMIT_BYTES_KEPT / 2));
    text_builder_add_c_string(text, head->logger.size == 0 ? "" : ": ");
    if (is_exact)
        text_builder_add(text, message);
    else
        log_template_add(text, message);
}

static bool count_line(struct log_chunks *chunks, uint32_t text)
{
    size_t before = chunks->count_capacity;
    if (!array_reserve(&chunks->counts, &chunks->count_capacity, (size_t)text + 1, UINT32_MAX))
        return false;
    for (size_t i = before; i < chunks->count_capacity; i++)
        chunks->counts[i] = 0;
    chunks->counts[text]++;
    return true;
}

static bool count_pair(struct log_chunks *chunks, uint32_t first, uint32_t second)
{
    uint64_t key = (uint64_t)first << 32 | second;
    uint32_t *place = id_map_place(&chunks->pairs, key);
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        size_t needed = chunks->pair_count + 1;
        if (!array_reserve(&chunks->pair_counts, &chunks->pair_capacity, needed, MOST_PAIRS) ||
            !array_reserve(&chunks->pair_keys, &chunks->pair_key_capacity, needed, MOST_PAIRS)) {
            *place = 0;
            return false;
        }
        chunks->pair_counts[chunks->pair_count] = 0;
        chunks->pair_keys[chunks->pair_count] = key;
        *place = (uint32_t)chunks->pair_count++;
    }
    chunks->pair_counts[*place]++;
    return true;
}

bool log_chunks_take(struct log_chunks *chunks, struct text_view text, uint64_t hash, uint32_t *before,
                     struct error *error)
{
    chunks->lines++;
    uint32_t number = string_table_add_hashed(&chunks->texts, text, hash);
    if (number == NO_STRING) {
        chunks->lost_lines++;
        *before = 0;
        return true;
    }
    if (!count_line(chunks, number) || (*before != 0 && !count_pair(chunks, *before, number)))
        return error_set_memory(error);
    *before = number;
    return true;
}

/* ---- finding them ---- */

struct links {
    uint32_t *next; /* by text; 0: none */
    uint32_t *previous;
    uint64_t *strength; /* of the link to the next */
};

/* More often than not, from both ends: so a line has at most one such neighbour on each side. */
static bool belong_together(const struct log_chunks *chunks, size_t pair, uint32_t first, uint32_t second)
{
    uint64_t twice = chunks->pair_counts[pair] * 2;
    return first != second && twice > chunks->counts[first] && twice > chunks->counts[second];
}

static void link_lines(const struct log_chunks *chunks, struct links *links)
{
    for (size_t i = 0; i < chunks->pair_count; i++) {
        uint32_t first = (uint32_t)(chunks->pair_keys[i] >> 32), second = (uint32_t)chunks->pair_keys[i];
        if (!belong_together(chunks, i, first, second))
            continue;
        links->next[first] = second;
        links->previous[second] = first;
        links->strength[first] = chunks->pair_counts[i];
    }
}

/* Lines of a loop form a ring; it is opened at its weakest link, where it was entered. */
static void open_ring(struct links *links, uint32_t start)
{
    uint32_t weakest = start, line = start;
    do {
        if (links->strength[line] < links->strength[weakest])
            weakest = line;
        line = links->next[line];
    } while (line != start);
    links->previous[links->next[weakest]] = 0;
    links->next[weakest] = 0;
}

static void take_chain(struct log_chunks *chunks, const struct links *links, uint32_t head, size_t *at,
                       bool *taken)
{
    struct log_chunk *chunk = &chunks->chunks[chunks->chunk_count++];
    *chunk = (struct log_chunk){.first_line = (uint32_t)*at, .count = UINT64_MAX};
    for (uint32_t line = head; line != 0; line = links->next[line]) {
        taken[line] = true;
        chunks->order[(*at)++] = line;
        chunk->line_count++;
        if (chunks->counts[line] < chunk->count)
            chunk->count = chunks->counts[line];
    }
}

static void take_chains(struct log_chunks *chunks, struct links *links, bool *taken)
{
    size_t at = 0;
    for (uint32_t line = 1; line < chunks->texts.size; line++)
        if (links->previous[line] == 0)
            take_chain(chunks, links, line, &at, taken);
    for (uint32_t line = 1; line < chunks->texts.size; line++) {
        if (taken[line])
            continue;
        open_ring(links, line);
        uint32_t head = line;
        while (links->previous[head] != 0)
            head = links->previous[head];
        take_chain(chunks, links, head, &at, taken);
    }
}

static int compare_chunks(const void *left, const void *right)
{
    const struct log_chunk *a = left, *b = right;
    uint64_t a_lines = a->count * a->line_count, b_lines = b->count * b->line_count;
    if ((a->count > 1) != (b->count > 1))
        return a->count > 1 ? -1 : 1;
    if (a_lines != b_lines)
        return a_lines > b_lines ? -1 : 1;
    return (a->first_line > b->first_line) - (a->first_line < b->first_line);
}

bool log_chunks_finish(struct log_chunks *chunks, struct error *error)
{
    size_t size = chunks->texts.size;
    struct links links = {calloc(size, sizeof(uint32_t)), calloc(size, sizeof(uint32_t)),
                          calloc(size, sizeof(uint64_t))};
    bool *taken = calloc(size, sizeof(bool));
    chunks->order = calloc(size, sizeof(*chunks->order));
    chunks->chunks = calloc(size, sizeof(*chunks->chunks));
    bool good = links.next != NULL && links.previous != NULL && links.strength != NULL && taken != NULL &&
                chunks->order != NULL && chunks->chunks != NULL;
    if (good) {
        link_lines(chunks, &links);
        take_chains(chunks, &links, taken);
        qsort(chunks->chunks, chunks->chunk_count, sizeof(*chunks->chunks), compare_chunks);
    }
    free(links.next);
    free(links.previous);
    free(links.strength);
    free(taken);
    return good || error_set_memory(error);
}
