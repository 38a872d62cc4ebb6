/*
 * Programs with known profiles: native_work MODE MILLISECONDS, in CPU time.
 *   shares     three functions with 50 %, 30 % and 20 % of the time
 *   threads    four threads with names, one after the other
 *   leaderless a thread that works half a second after the first one has ended, which SIGUSR1 tells it to
 *   children   processes that start others by fork and by exec, each for a part of the time
 *   kernel     system calls
 *   generated  code that is in no file, named by /tmp/perf-PID.map
 *   jitdump    the same, named by jit-PID.dump in the present folder
 *   calls      as generated, but most of the time is that of the calls
 *   waits      threads that sleep, wait for a lock and for a pipe, and compute, all for that time by the wall clock;
 *              each prints its number, how long it waited and how long it lived, in nanoseconds
 *   nap        one wait of that length, by the wall clock
 *   faults     MILLISECONDS is the number of pages that are touched for the first time
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNIT 20000
#define THREADS 4
#define CHILDREN 8

static volatile uint64_t sink;
static const char *own_path;

static int64_t cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

__attribute__((noinline)) static void spin(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        sink += i;
}

/* What follows each call keeps the compiler from replacing it by a jump. */
__attribute__((noinline)) static void burn_fifty(void)
{
    spin(5 * UNIT);
    sink++;
}

__attribute__((noinline)) static void burn_thirty(void)
{
    spin(3 * UNIT);
    sink++;
}

__attribute__((noinline)) static void burn_twenty(void)
{
    spin(2 * UNIT);
    sink++;
}

__attribute__((noinline)) static void work_until(int64_t end_ms)
{
    while (cpu_ms() < end_ms) {
        burn_fifty();
        burn_thirty();
        burn_twenty();
    }
}

static void *run_thread(void *argument)
{
    work_until(cpu_ms() + *(const int64_t *)argument);
    return NULL;
}

static void run_threads(int64_t milliseconds)
{
    int64_t part = milliseconds / THREADS;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        char name[16];
        snprintf(name, sizeof(name), "burner-%d", i);
        if (pthread_create(&thread, NULL, run_thread, &part) != 0)
            exit(1);
        pthread_setname_np(thread, name);
        pthread_join(thread, NULL);
    }
}

static pthread_barrier_t leader_ends;

static void *outlive_leader(void *argument)
{
    pthread_barrier_wait(&leader_ends);
    usleep(500000);
    work_until(*(const int64_t *)argument);
    exit(0);
}

static void end_leader(int64_t milliseconds)
{
    static int64_t end_ms;
    pthread_t thread;
    int number;
    sigset_t signals;
    end_ms = milliseconds;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_barrier_init(&leader_ends, NULL, 2);
    if (pthread_create(&thread, NULL, outlive_leader, &end_ms) != 0 || sigwait(&signals, &number) != 0)
        exit(1);
    pthread_barrier_wait(&leader_ends);
    pthread_exit(NULL);
}

__attribute__((noinline)) static void work_as_child(int64_t milliseconds)
{
    work_until(milliseconds);
    sink++;
}

static void run_children(int64_t milliseconds)
{
    char part[24];
    snprintf(part, sizeof(part), "%lld", (long long)(milliseconds / CHILDREN));
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid == 0 && i % 2 == 0) {
            work_as_child(milliseconds / CHILDREN);
            _exit(0);
        }
        if (pid == 0)
            execl(own_path, "native_work", "shares", part, (char *)NULL);
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            exit(1);
    }
}

/* Zeroing pages is the kernel's work. */
__attribute__((noinline)) static void call_kernel(int64_t end_ms)
{
    static char block[1 << 20];
    int zero = open("/dev/zero", O_RDONLY);
    while (cpu_ms() < end_ms)
        if (read(zero, block, sizeof(block)) < 0)
            exit(1);
    close(zero);
}

/* A loop that counts its argument down, with a frame pointer. */
#if defined(__aarch64__)
static const unsigned char code[] = {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x04, 0x00, 0xf1,
                                     0xe1, 0xff, 0xff, 0x54, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
#endif

struct dump_head {
    uint32_t magic, version, size, machine, padding, pid;
    uint64_t time, flags;
};

struct dump_load {
    uint32_t kind, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t virtual_address, address, code_size, index;
    char name[32];
};

/* As JIT compilers do for perf inject, with a mapping by which the file is found. */
static void write_dump(const char *path, const void *memory)
{
    struct dump_head head = {0x4A695444, 1, sizeof(head), 62, 0, (uint32_t)getpid(), 1, 0};
    struct dump_load load = {.kind = 0,
                             .size = sizeof(load) + sizeof(code),
                             .time = 2,
                             .pid = head.pid,
                             .tid = head.pid,
                             .virtual_address = (uint64_t)(uintptr_t)memory,
                             .address = (uint64_t)(uintptr_t)memory,
                             .code_size = sizeof(code),
                             .name = "dumped::loop of the test"};
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(file, &head, sizeof(head)) != sizeof(head) ||
        write(file, &load, sizeof(load)) != sizeof(load) || write(file, code, sizeof(code)) != sizeof(code) ||
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
        exit(1);
    close(file);
}

static void write_map(const char *path, const void *memory)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        exit(1);
    fprintf(stream, "%lx %zx generated::loop of the test\n", (unsigned long)memory, sizeof(code));
    fclose(stream);
}

__attribute__((noinline)) static void run_generated(int64_t end_ms, int is_dump, uint64_t count)
{
    char path[64];
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    memcpy(memory, code, sizeof(code));
    __builtin___clear_cache(memory, (char *)memory + sizeof(code));
    snprintf(path, sizeof(path), is_dump ? "jit-%d.dump" : "/tmp/perf-%d.map", (int)getpid());
    if (is_dump)
        write_dump(path, memory);
    else
        write_map(path, memory);
    void (*loop)(uint64_t count);
    memcpy(&loop, &memory, sizeof(loop));
    while (cpu_ms() < end_ms)
        for (uint64_t done = 0; done < 1000000; done += count)
            loop(count);
    usleep(300000); /* the map is read while the program runs */
    unlink(path);
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t waits_end_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

__attribute__((noinline)) static void wait_asleep(void)
{
    usleep(20000);
    sink++;
}

__attribute__((noinline)) static void wait_for_lock(void)
{
    pthread_mutex_lock(&lock);
    sink++;
}

__attribute__((noinline)) static void wait_for_pipe(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        exit(1);
    sink++;
}

static void report(const char *name, int64_t waited_ns, int64_t began_ns)
{
    printf("%s %d %lld %lld\n", name, (int)gettid(), (long long)waited_ns, (long long)(now_ns() - began_ns));
}

static void *sleep_often(void *argument)
{
    int64_t began_ns = now_ns(), waited_ns = 0;
    (void)argument;
    while (now_ns() < waits_end_ns) {
        int64_t before_ns = now_ns();
        wait_asleep();
        waited_ns += now_ns() - before_ns;
    }
    report("wait_asleep", waited_ns, began_ns);
    return NULL;
}

static void *lock_often(void *argument)
{
    int64_t began_ns = now_ns(), waited_ns = 0;
    (void)argument;
    while (now_ns() < waits_end_ns) {
        int64_t before_ns = now_ns();
        wait_for_lock();
        waited_ns += now_ns() - before_ns;
        pthread_mutex_unlock(&lock);
        usleep(2000);
    }
    report("wait_for_lock", waited_ns, began_ns);
    return NULL;
}

static void *read_often(void *argument)
{
    int64_t began_ns = now_ns(), waited_ns = 0;
    (void)argument;
    while (now_ns() < waits_end_ns) {
        int64_t before_ns = now_ns();
        wait_for_pipe();
        waited_ns += now_ns() - before_ns;
    }
    report("wait_for_pipe", waited_ns, began_ns);
    return NULL;
}

static void *compute(void *argument)
{
    int64_t began_ns = now_ns();
    (void)argument;
    while (now_ns() < waits_end_ns)
        burn_fifty();
    report("burn_fifty", 0, began_ns);
    return NULL;
}

/* Holds the lock most of the time, and lets the reader go on now and then. Its thread's name is "giver". */
static void run_waits(int64_t milliseconds)
{
    static void *(*const run[])(void *) = {sleep_often, lock_often, read_often, compute};
    pthread_t threads[4];
    waits_end_ns = now_ns() + milliseconds * 1000000;
    if (pipe(ends) != 0)
        exit(1);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, run[i], NULL) != 0)
            exit(1);
    pthread_setname_np(pthread_self(), "giver");
    do {
        pthread_mutex_lock(&lock);
        usleep(15000);
        pthread_mutex_unlock(&lock);
        if (write(ends[1], "", 1) != 1)
            exit(1);
        usleep(5000);
    } while (now_ns() < waits_end_ns + 100000000);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

__attribute__((noinline)) static void take_nap(int64_t milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
    sink++;
}

__attribute__((noinline)) static void touch_pages(int64_t count)
{
    char *memory =
        mmap(NULL, (size_t)count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, (size_t)count * 4096, MADV_NOHUGEPAGE) != 0)
        exit(1);
    for (int64_t i = 0; i < count; i++)
        memory[i * 4096] = 1;
}

int main(int argc, char **argv)
{
    own_path = argv[0];
    const char *mode = argc == 3 ? argv[1] : "";
    int64_t milliseconds = argc == 3 ? atoll(argv[2]) : 0;
    if (strcmp(mode, "shares") == 0)
        work_until(milliseconds);
    else if (strcmp(mode, "threads") == 0)
        run_threads(milliseconds);
    else if (strcmp(mode, "leaderless") == 0)
        end_leader(milliseconds);
    else if (strcmp(mode, "children") == 0)
        run_children(milliseconds);
    else if (strcmp(mode, "kernel") == 0)
        call_kernel(milliseconds);
    else if (strcmp(mode, "generated") == 0 || strcmp(mode, "jitdump") == 0)
        run_generated(milliseconds, mode[0] == 'j', 1000000);
    else if (strcmp(mode, "calls") == 0)
        run_generated(milliseconds, 0, 1);
    else if (strcmp(mode, "waits") == 0)
        run_waits(milliseconds);
    else if (strcmp(mode, "nap") == 0)
        take_nap(milliseconds);
    else if (strcmp(mode, "faults") == 0)
        touch_pages(milliseconds);
    else
        return 2;
    return 0;
}
