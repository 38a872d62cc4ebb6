/*
 * hostile_python.c - a program that looks like CPython 3.13 to a sampler, with invalid data.
 *
 *     hostile_python [WORD=VALUE…] [case…]
 *
 * WORD=VALUE sets a word of the description at the start of _PyRuntime; the cases are the functions below.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)24 << 20)
#define THREAD_ID 0x1234567

enum {
    INTERPRETER = 0,
    THREAD = 0x40000,
    GIL = 0x48000,
    FRAMES = 0x50000,
    CODE = 0x60000,
    TYPE = 0x70000,
    TYPE_NAME = 0x78000,
    NAME = 0x80000,
    FILE_NAME = 0x90000,
    LINES = 0xa0000,
    MODULES = 0x1c0000, /* dicts: object, and its keys at 0x800 */
    MODULE = 0x1c2000,
    MODULE_DICT = 0x1c4000,
    ACTIVE = 0x1c6000,
    IDENT = 0x1c8000,
    THREAD_OBJECT = 0x1ca000,
    THREAD_TYPE = 0x1cc000,
    THREAD_DICT = 0x1ce000,
    STRINGS = 0x1d0000,
    MORE = 0x200000, /* space for the cases */
};

uint64_t _PyRuntime[512];
static unsigned char arena[ARENA_BYTES] __attribute__((aligned(4096)));
static unsigned char *strings = arena + STRINGS;

static uint64_t place(size_t at)
{
    return (uintptr_t)(arena + at);
}

static void put(size_t at, uint64_t value)
{
    memcpy(arena + at, &value, 8);
}

static void put_string(unsigned char *at, const char *text)
{
    uint64_t length = strlen(text);
    memcpy(at + 16, &length, 8);
    at[32] = 100; /* compact, ASCII, one byte per character */
    memcpy(at + 40, text, length + 1);
}

static uint64_t new_string(const char *text)
{
    unsigned char *at = strings;
    put_string(at, text);
    strings += 256;
    return (uintptr_t)at;
}

/* A dict with one entry. `hash`: 0 if all keys are strings. */
static void make_dict(size_t at, uint64_t hash, uint64_t key, uint64_t value)
{
    size_t keys = at + 0x800, entry = keys + 32 + 8;
    put(at + 32, place(keys));
    arena[keys + 8] = arena[keys + 9] = 3;
    arena[keys + 10] = hash == 0;
    put(keys + 24, 1);
    if (hash != 0)
        put(entry, hash);
    put(entry + (hash != 0 ? 8 : 0), key);
    put(entry + (hash != 0 ? 16 : 8), value);
}

static void describe(void)
{
    static const uint64_t words[][2] = {
        {1, 0x030d05f0}, {5, 632},    {6, 236096}, {8, 7248}, {9, 7344}, {10, 7544}, {11, 7832}, {14, 8},
        {15, 63136},     {17, 63152}, {18, 63144}, {21, 8},   {22, 16},  {23, 72},   {24, 152},  {25, 160},
        {27, 36},        {29, 8},     {30, 0},     {31, 56},  {32, 72},  {33, 70},   {35, 112},  {36, 120},
        {37, 128},       {38, 136},   {39, 68},    {41, 96},  {43, 208}, {45, 8},    {47, 24},   {49, 168},
        {51, 24},        {52, 16},    {57, 32},    {58, 40},  {62, 16},  {63, 24},   {65, 16},   {66, 32},
        {67, 40},        {68, 32},    {69, 16},    {70, 40},  {72, 120}};
    memcpy(_PyRuntime, "xdebugpy", 8);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        _PyRuntime[words[i][0]] = words[i][1];
    _PyRuntime[632 / 8] = place(INTERPRETER);
}

static void make_thread(size_t at, size_t next, size_t frame)
{
    put(at + 8, next == 0 ? 0 : place(next));
    put(at + 16, place(INTERPRETER));
    put(at + 72, place(frame));
    put(at + 152, THREAD_ID);
    put(at + 160, (uint64_t)getpid());
}

static void make_frame(size_t at, size_t previous)
{
    put(at, place(CODE));
    put(at + 8, previous == 0 ? 0 : place(previous));
    put(at + 56, place(CODE + 208));
    arena[at + 70] = 0; /* owned by the thread */
}

static void make_objects(void)
{
    put(INTERPRETER + 7344, place(THREAD));
    put(INTERPRETER + 7832, place(MODULES));
    put(INTERPRETER + 8, place(GIL));
    make_thread(THREAD, 0, FRAMES);
    for (size_t i = 0; i < 3; i++)
        make_frame(FRAMES + 0x100 * i, i == 2 ? 0 : FRAMES + 0x100 * (i + 1));
    put(CODE + 8, place(TYPE));
    put(CODE + 68, 1);
    put(CODE + 92, 7);
    put(CODE + 112, place(FILE_NAME));
    put(CODE + 120, place(NAME));
    put(CODE + 128, place(NAME));
    put(CODE + 136, place(LINES));
    put(TYPE + 24, place(TYPE_NAME));
    memcpy(arena + TYPE_NAME, "code", sizeof("code"));
    put_string(arena + NAME, "forged");
    put_string(arena + FILE_NAME, "forged.py");
    put(LINES + 16, 4);
    memcpy(arena + LINES + 32, "\xe8\x02\x00\x00", 4);
    make_dict(MODULES, 0, new_string("threading"), place(MODULE));
    put(MODULE + 16, place(MODULE_DICT));
    make_dict(MODULE_DICT, 0, new_string("_active"), place(ACTIVE));
    make_dict(ACTIVE, THREAD_ID, place(IDENT), place(THREAD_OBJECT));
    put(IDENT + 16, 1 << 3);
    put(IDENT + 24, THREAD_ID);
    put(THREAD_OBJECT + 8, place(THREAD_TYPE));
    put(THREAD_OBJECT + 16, place(THREAD_DICT));
    put(THREAD_TYPE + 288, 16);
    make_dict(THREAD_DICT, 0, new_string("_name"), new_string("forged thread"));
}

static void cyclic_threads(void)
{
    make_thread(THREAD, THREAD, FRAMES);
}

static void cyclic_interpreters(void)
{
    put(INTERPRETER + 7248, place(INTERPRETER));
}

static void cyclic_frames(void)
{
    make_frame(FRAMES + 0x200, FRAMES);
}

static void long_strings(void)
{
    put(NAME + 16, UINT64_C(1) << 63);
    put(FILE_NAME + 16, (UINT64_C(1) << 40) - 1);
}

static void wide_strings(void)
{
    arena[NAME + 32] = (4 | 8) << 2;
    put(NAME + 16, UINT64_C(1) << 39);
}

static void long_line_table(void)
{
    put(LINES + 16, UINT64_C(1) << 63);
}

/* All bytes are continued by another one. */
static void endless_line_table(void)
{
    put(LINES + 16, 1 << 20);
    memset(arena + LINES + 32, 0xf7, 1 << 20);
    for (size_t i = 1; i < 1 << 20; i += 2)
        arena[LINES + 32 + i] = 0x7f;
}

static void huge_dicts(void)
{
    static const size_t dicts[] = {MODULES, MODULE_DICT, ACTIVE, THREAD_DICT};
    for (size_t i = 0; i < 4; i++)
        arena[dicts[i] + 0x800 + 8] = arena[dicts[i] + 0x800 + 9] = 63;
}

static void long_dicts(void)
{
    put(MODULES + 0x800 + 24, UINT64_C(1) << 63);
    put(ACTIVE + 0x800 + 24, UINT64_MAX);
}

static void far_objects(void)
{
    put(CODE + 112, UINT64_MAX - 15);
    put(CODE + 120, UINT64_C(1) << 63);
    put(THREAD_TYPE + 288, UINT64_MAX);
    put(TYPE + 24, UINT64_MAX);
}

static void foreign_thread(void)
{
    const char *number = getenv("FOREIGN_THREAD");
    put(THREAD + 160, number == NULL ? 1 : strtoull(number, NULL, 10));
}

/* Each thread has 4095 frames, and its name is searched among 65536 keys with its hash. */
static void much_work(void)
{
    enum { THREADS = 4000, KEYS = 65536, DEPTH = 4095 };
    size_t frames = MORE, threads = frames + (DEPTH + 1) * 128, keys = threads + (THREADS + 1) * 256;
    for (size_t i = 0; i < DEPTH; i++)
        make_frame(frames + 128 * i, i == 0 ? 0 : frames + 128 * (i - 1));
    for (size_t i = 0; i < THREADS; i++)
        make_thread(threads + 256 * i, i + 1 == THREADS ? 0 : threads + 256 * (i + 1),
                    frames + 128 * (DEPTH - 1));
    put(INTERPRETER + 7344, place(threads));
    put(ACTIVE + 32, place(keys));
    arena[keys + 8] = arena[keys + 9] = 3;
    put(keys + 24, KEYS);
    for (size_t i = 0; i < KEYS; i++) {
        put(keys + 40 + 24 * i, THREAD_ID);
        put(keys + 48 + 24 * i, place(MORE));
        put(keys + 56 + 24 * i, place(MORE));
    }
}

static const struct {
    const char *name;
    void (*apply)(void);
} CASES[] = {{"cyclic_threads", cyclic_threads},
             {"cyclic_interpreters", cyclic_interpreters},
             {"cyclic_frames", cyclic_frames},
             {"long_strings", long_strings},
             {"wide_strings", wide_strings},
             {"long_line_table", long_line_table},
             {"endless_line_table", endless_line_table},
             {"huge_dicts", huge_dicts},
             {"long_dicts", long_dicts},
             {"far_objects", far_objects},
             {"foreign_thread", foreign_thread},
             {"much_work", much_work}};

static int apply(const char *argument)
{
    const char *value = strchr(argument, '=');
    if (value != NULL) {
        _PyRuntime[strtoul(argument, NULL, 10) % 512] = strtoull(value + 1, NULL, 0);
        return 0;
    }
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        if (strcmp(CASES[i].name, argument) == 0) {
            CASES[i].apply();
            return 0;
        }
    }
    return fprintf(stderr, "no case %s\n", argument);
}

int main(int argc, char **argv)
{
    /* Memory after an object is not zero. */
    memset(arena + MORE, 'A', ARENA_BYTES - MORE);
    describe();
    make_objects();
    for (int i = 1; i < argc; i++) {
        if (apply(argv[i]) != 0)
            return 2;
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
