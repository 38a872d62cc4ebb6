#include "python_sampler/python_code_counter.h"

/* FUNC_VERSION_CACHE_SIZE: pairs of a function and its code, 8 bytes after the start of the count. */
#define TABLE_PAIRS 4096
#define PAIR_BYTES 16
#define CODE_IN_PAIR 8
#define TABLE_FROM_COUNT 8
#define PIECE_BYTES ((size_t)16 << 10)
/* Number of codes searched for, and of codes that must be at their index. */
#define MOST_SOUGHT 4
#define MOST_COMPARED 64
#define LEAST_FOUND 3
/* Candidates checked before the search fails. */
#define MOST_PLACES 64

static uint64_t place_of_code(uint64_t count, const struct python_code *code)
{
    return count + TABLE_FROM_COUNT + (uint64_t)(code->version % TABLE_PAIRS) * PAIR_BYTES + CODE_IN_PAIR;
}

/* True if the count is at `address`. */
static bool is_count(struct process_memory *memory, const struct python_code_cache *cache, uint64_t address)
{
    uint32_t count;
    uint64_t code;
    size_t found = 0;
    if (process_memory_read(memory, address, &count, sizeof(count)) != MEMORY_OK)
        return false;
    for (size_t i = 0; i < cache->size && i < MOST_COMPARED; i++) {
        if (cache->codes[i].version >= count)
            return false;
        found += cache->codes[i].version != 0 &&
                 process_memory_read_u64(memory, place_of_code(address, &cache->codes[i]), &code) &&
                 code == cache->codes[i].address;
    }
    return found >= LEAST_FOUND;
}

static size_t choose_sought(const struct python_code_cache *cache, const struct python_code **sought)
{
    size_t count = 0;
    for (size_t i = 0; i < cache->size && count < MOST_SOUGHT; i++) {
        if (cache->codes[i].version != 0)
            sought[count++] = &cache->codes[i];
    }
    return count;
}

/* The address of the count, if one of the searched codes is in this piece; 0: none is. */
static uint64_t look_through(struct process_memory *memory, const struct python_code_cache *cache,
                             uint64_t begin, const unsigned char *piece, size_t size, unsigned *places)
{
    const struct python_code *sought[MOST_SOUGHT];
    size_t sought_count = choose_sought(cache, sought);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word = load_u64(piece + at);
        for (size_t i = 0; i < sought_count; i++) {
            uint64_t address = begin + at - place_of_code(0, sought[i]);
            if (word != sought[i]->address)
                continue;
            if ((*places)++ == MOST_PLACES)
                return 0;
            if (is_count(memory, cache, address))
                return address;
        }
    }
    return 0;
}

bool python_code_counter_find(struct process_memory *memory, const struct python_code_cache *cache,
                              uint64_t interpreter, size_t interpreter_bytes, uint32_t *offset)
{
    unsigned char piece[PIECE_BYTES];
    unsigned places = 0;
    for (size_t at = 0; at < interpreter_bytes && places <= MOST_PLACES; at += sizeof(piece)) {
        size_t size = interpreter_bytes - at < sizeof(piece) ? interpreter_bytes - at : sizeof(piece);
        if (process_memory_read(memory, interpreter + at, piece, size) != MEMORY_OK)
            return false;
        uint64_t address = look_through(memory, cache, interpreter + at, piece, size, &places);
        if (address > interpreter && address - interpreter < interpreter_bytes) {
            *offset = (uint32_t)(address - interpreter);
            return true;
        }
    }
    return false;
}
