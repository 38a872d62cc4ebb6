#include "symbols/unwind_table.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbols/module_map.h"
#include "unit_test.h"

enum { FRAME_LIMIT = 64 };

static struct module_map map;
static uint64_t seen[FRAME_LIMIT];
static size_t seen_count;

static bool read_own(void *context, uint64_t address, uint64_t *value)
{
    memcpy(value, (const void *)(uintptr_t)address, 8);
    return true;
}

static void load_map(void)
{
    struct error error = {0};
    module_map_init(&map, 0);
    CHECK_OK(error, module_map_refresh(&map, &error));
    CHECK_OK(error, module_map_load_unwind(&map, &error));
    CHECK_OK(error, module_map_load_symbols(&map, &error));
}

static const char *name_at(uint64_t address)
{
    struct symbol_match match;
    const struct module *module = module_map_find(&map, address);
    return module != NULL && module_find_symbol(module, address, &match) ? match.name : "?";
}

static size_t find_frame(const char *name)
{
    for (size_t i = 0; i < seen_count; i++)
        if (strcmp(name_at(seen[i] - (i > 0)), name) == 0)
            return i;
    return SIZE_MAX;
}

static void on_signal(int number, siginfo_t *information, void *context)
{
    const ucontext_t *user = context;
    struct unwind_memory memory = {.read = read_own};
    struct unwind_registers registers = {.interrupted = true};
#if defined(__aarch64__)
    registers.pc = user->uc_mcontext.pc;
    registers.sp = user->uc_mcontext.sp;
    registers.fp = user->uc_mcontext.regs[29];
    registers.link = user->uc_mcontext.regs[30];
#else
    registers.pc = (uint64_t)user->uc_mcontext.gregs[REG_RIP];
    registers.sp = (uint64_t)user->uc_mcontext.gregs[REG_RSP];
    registers.fp = (uint64_t)user->uc_mcontext.gregs[REG_RBP];
#endif
    seen_count = unwind_walk(&map, registers, &memory, seen, FRAME_LIMIT);
}

static void catch_signal(int number)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(number, &action, NULL) == 0);
}

/* Functions that must stay apart, with frames of different kinds. */
#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

APART int chain_leaf(int value);
APART int chain_plain(int value);
APART int chain_realigned(int value);
APART int chain_variable(int value);
APART int chain_root(int value);

APART int chain_leaf(int value)
{
    raise(SIGUSR1);
    return value + 1;
}

APART int chain_plain(int value)
{
    volatile int pad[3] = {value, 2, 3};
    int result = chain_leaf(value) + pad[1];
    __asm__ volatile("" : "+r"(result));
    return result;
}

APART int chain_realigned(int value)
{
    _Alignas(64) volatile char wide[200];
    wide[0] = (char)value;
    int result = chain_plain(value) + wide[0];
    __asm__ volatile("" : "+r"(result));
    return result;
}

APART int chain_variable(int value)
{
    volatile char *room = __builtin_alloca((size_t)value * 16);
    room[0] = 1;
    int result = chain_realigned(value) + room[0];
    __asm__ volatile("" : "+r"(result));
    return result;
}

static int compare_numbers(const void *left, const void *right)
{
    int result = chain_variable(3);
    __asm__ volatile("" : "+r"(result));
    return result > 100;
}

/* Through libc, which has no frame pointers. */
APART int chain_root(int value)
{
    int numbers[2] = {value, 1};
    qsort(numbers, 2, sizeof(int), compare_numbers);
    __asm__ volatile("" : : "r"(numbers) : "memory");
    return numbers[0];
}

TEST(walks_a_known_chain_from_a_signal_handler)
{
    static const char *const expected[] = {"chain_leaf", "chain_plain", "chain_realigned", "chain_variable",
                                           "compare_numbers"};
    load_map();
    catch_signal(SIGUSR1);
    CHECK(chain_root(2) > 0);
    size_t at = find_frame("chain_leaf");
    CHECK(at != SIZE_MAX);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        CHECK_TEXT(name_at(seen[at + i] - 1), expected[i]);
    CHECK(find_frame("chain_root") != SIZE_MAX);
    CHECK(find_frame("main") > find_frame("chain_root") && find_frame("main") != SIZE_MAX);
    CHECK(seen_count < FRAME_LIMIT);
}

static void on_inner_signal(int number)
{
    int result = raise(SIGUSR2);
    __asm__ volatile("" : "+r"(result)); /* no tail call */
}

/* A handler interrupted by another signal: the walk crosses the kernel's frame. */
TEST(walks_through_a_signal_frame)
{
    load_map();
    catch_signal(SIGUSR2);
    CHECK(signal(SIGUSR1, on_inner_signal) != SIG_ERR);
    CHECK(chain_root(2) > 0);
    CHECK(find_frame("on_inner_signal") != SIZE_MAX);
    CHECK(find_frame("chain_leaf") > find_frame("on_inner_signal"));
    CHECK(find_frame("chain_leaf") != SIZE_MAX && find_frame("chain_root") != SIZE_MAX &&
          find_frame("main") != SIZE_MAX);
}

#if defined(__x86_64__)
struct stack_copy {
    uint64_t start;
    size_t size;
    char bytes[256 << 10];
};

static bool read_copy(void *context, uint64_t address, uint64_t *value)
{
    const struct stack_copy *copy = context;
    if (address < copy->start || address - copy->start + 8 > copy->size)
        return false;
    memcpy(value, copy->bytes + (address - copy->start), 8);
    return true;
}

static uint64_t stack_end(void)
{
    extern char **environ;
    return ((uint64_t)(uintptr_t)environ) & ~7ULL;
}

static size_t walk_child(pid_t child, uint64_t *pcs, struct stack_copy *copy)
{
    struct user_regs_struct registers;
    CHECK(ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0);
    copy->start = registers.rsp & ~7ULL;
    copy->size = stack_end() - copy->start;
    CHECK(copy->size <= sizeof(copy->bytes));
    struct iovec local = {copy->bytes, copy->size}, remote = {(void *)(uintptr_t)copy->start, copy->size};
    CHECK(process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)copy->size);
    struct unwind_registers start = {
        .pc = registers.rip, .sp = registers.rsp, .fp = registers.rbp, .interrupted = true};
    struct unwind_memory memory = {.read = read_copy, .context = copy};
    return unwind_walk(&map, start, &memory, pcs, FRAME_LIMIT);
}

APART void stepped_region(void);

APART void stepped_region(void)
{
    char text[64];
    int result = chain_root(2);
    snprintf(text, sizeof(text), "%d %s", result, "text");
    free(strdup(text));
    __asm__ volatile("" : : "r"(text) : "memory");
}

APART void child_program(void);

APART void child_program(void)
{
    signal(SIGUSR1, SIG_IGN);
    stepped_region(); /* lets the loader resolve what is called: it keeps its frame in a register of its own choice */
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(3);
    raise(SIGSTOP);
    stepped_region();
    _exit(0);
}

/* Whether the frames end in the same callers as the expected ones, of which there are count. */
static bool ends_with(const uint64_t *pcs, size_t pcs_count, const uint64_t *expected, size_t count)
{
    return pcs_count >= count && memcmp(pcs + pcs_count - count, expected, count * sizeof(pcs[0])) == 0;
}

/* The truth: one instruction after the other of a real program, through prologues, epilogues, PLT and libc; at each the
   walk must end in the same callers, and a step may enter or leave one function only. */
TEST(walks_at_every_single_instruction)
{
    static struct stack_copy copy;
    uint64_t pcs[FRAME_LIMIT], callers[FRAME_LIMIT];
    size_t caller_count = 0, steps = 0, count = 0, before = 0;
    int status;
    load_map();
    pid_t child = fork();
    if (child == 0)
        child_program();
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    for (; steps < 60000; steps++) {
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSTOPPED(status))
            break;
        if (WSTOPSIG(status) != SIGTRAP)
            continue; /* SIGUSR1, which is ignored */
        count = walk_child(child, pcs, &copy);
        if (caller_count == 0 && strcmp(name_at(pcs[0]), "stepped_region") == 0) {
            caller_count = count - 1;
            memcpy(callers, pcs + 1, caller_count * sizeof(pcs[0]));
            CHECK(caller_count >= 3);
            before = count;
        }
        if (caller_count == 0)
            continue;
        if (strcmp(name_at(pcs[0]), "child_program") == 0)
            break; /* returned */
        if (!ends_with(pcs, count, callers, caller_count))
            unit_test_fail(__FILE__, __LINE__, "step %zu at %s+%#lx: lost the callers", steps,
                           name_at(pcs[0]), pcs[0]);
        if (count > before + 1 || before > count + 1)
            unit_test_fail(__FILE__, __LINE__, "step %zu at %s: %zu frames after %zu", steps, name_at(pcs[0]),
                           count, before);
        before = count;
    }
    printf("# %zu instructions\n", steps);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK(caller_count > 0);
    CHECK(steps > 500);
    CHECK_TEXT(name_at(pcs[0]), "child_program");
}
#endif

TEST(gives_no_rule_outside_of_code)
{
    struct error error = {0};
    struct elf_file file;
    struct unwind_table table;
    struct elf_section section;
    unwind_table_init(&table);
    CHECK_OK(error, elf_file_open(&file, "/proc/self/exe", &error));
    CHECK_OK(error, unwind_table_load(&table, &file, &error));
    CHECK(elf_file_find_section(&file, ".rodata", &section));
    CHECK(table.count > 10);
    CHECK(unwind_table_find(&table, section.address) == NULL);
    CHECK(unwind_table_find(&table, UINT64_MAX) == NULL);
    CHECK(table.base == 0 || unwind_table_find(&table, 0) == NULL);
    unwind_table_release(&table);
    elf_file_release(&file);
}

/* Every byte of a real frame section damaged in turn: no crash, no endless loop (sanitizers see the rest). */
TEST(survives_damaged_frame_sections)
{
    struct error error = {0};
    struct elf_file file, bad;
    struct elf_section section;
    struct unwind_table table;
    CHECK_OK(error, elf_file_open(&file, "/proc/self/exe", &error));
    CHECK(elf_file_find_section(&file, ".eh_frame", &section));
    size_t at = (size_t)(section.data.data - file.data),
           size = section.data.size < 1500 ? section.data.size : 1500;
    char *copy = malloc(file.size);
    memcpy(copy, file.data, file.size);
    for (size_t i = 0; i < size; i++) {
        copy[at + i] = (char)(copy[at + i] ^ (i % 2 == 0 ? 0xff : 0x41));
        CHECK_OK(error, elf_file_from_memory(&bad, copy, file.size, &error));
        unwind_table_init(&table);
        CHECK_OK(error, unwind_table_load(&table, &bad, &error));
        unwind_table_release(&table);
        copy[at + i] = file.data[at + i];
    }
    free(copy);
    elf_file_release(&file);
}
