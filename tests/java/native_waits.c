/* Waits of that many milliseconds that only their time limit ends, each on a thread unknown to Java or on the
 * calling thread. Prints for each the error number (0: none, or that of the time limit) and the duration. */
#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec span(int ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000L};
}

static struct timespec deadline(clockid_t clock, int ms)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += ms % 1000 * 1000000L;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static int number(long result)
{
    return result < 0 ? errno : 0;
}

static int other_than(int expected, long result)
{
    return result < 0 && errno == expected ? 0 : result < 0 ? errno : -1;
}

static int wait_poll(int ms)
{
    return number(poll(NULL, 0, ms));
}
static int wait_ppoll(int ms)
{
    struct timespec t = span(ms);
    return number(ppoll(NULL, 0, &t, NULL));
}
static int wait_select(int ms)
{
    struct timeval t = {ms / 1000, ms % 1000 * 1000};
    return number(select(0, NULL, NULL, NULL, &t));
}
static int wait_pselect(int ms)
{
    struct timespec t = span(ms);
    return number(pselect(0, NULL, NULL, NULL, &t, NULL));
}
static int wait_usleep(int ms)
{
    return number(usleep((useconds_t)ms * 1000));
}
static int wait_nanosleep(int ms)
{
    struct timespec t = span(ms);
    return number(nanosleep(&t, NULL));
}
static int wait_nanosleep_rest(int ms)
{
    struct timespec t = span(ms), rest;
    return number(nanosleep(&t, &rest));
}
static int wait_nanosleep_same(int ms)
{
    struct timespec t = span(ms);
    return number(nanosleep(&t, &t));
}
static int wait_clock(int ms)
{
    struct timespec t = span(ms);
    return clock_nanosleep(CLOCK_REALTIME, 0, &t, NULL);
}
static int wait_clock_until(int ms)
{
    struct timespec t = deadline(CLOCK_MONOTONIC, ms);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int wait_epoll(int ms)
{
    struct epoll_event event;
    int descriptor = epoll_create1(EPOLL_CLOEXEC), failed = number(epoll_wait(descriptor, &event, 1, ms));
    close(descriptor);
    return failed;
}

static int wait_epoll_masked(int ms)
{
    struct epoll_event event;
    sigset_t none;
    sigemptyset(&none);
    int descriptor = epoll_create1(EPOLL_CLOEXEC),
        failed = number(epoll_pwait(descriptor, &event, 1, ms, &none));
    close(descriptor);
    return failed;
}

static int wait_semaphore(int ms)
{
    sem_t semaphore;
    struct timespec t = deadline(CLOCK_REALTIME, ms);
    sem_init(&semaphore, 0, 0);
    return other_than(ETIMEDOUT, sem_timedwait(&semaphore, &t));
}

static int wait_futex(int ms)
{
    int word = 0;
    struct timespec t = span(ms);
    return other_than(ETIMEDOUT, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0));
}

static int wait_futex_until(int ms)
{
    int word = 0;
    struct timespec t = deadline(CLOCK_MONOTONIC, ms);
    return other_than(ETIMEDOUT, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &t, NULL, ~0));
}

static int wait_receive(int ms)
{
    int pair[2];
    char byte;
    struct timeval t = {ms / 1000, ms % 1000 * 1000};
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    int failed = other_than(EAGAIN, recv(pair[0], &byte, 1, 0));
    close(pair[0]);
    close(pair[1]);
    return failed;
}

static int wait_signal(int ms)
{
    sigset_t set;
    struct timespec t = span(ms);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMAX);
    return other_than(EAGAIN, sigtimedwait(&set, NULL, &t));
}

static int wait_ipc_semaphore(int ms)
{
    struct timespec t = span(ms);
    struct sembuf down = {0, -1, 0};
    int id = semget(IPC_PRIVATE, 1, 0600), failed = other_than(EAGAIN, semtimedop(id, &down, 1, &t));
    semctl(id, 0, IPC_RMID);
    return failed;
}

static void *send_later(void *context)
{
    struct {
        long type;
        char text[1];
    } message = {1, {0}};
    const int *id_and_ms = context;
    struct timespec t = deadline(CLOCK_MONOTONIC, id_and_ms[1]);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    msgsnd(id_and_ms[0], &message, 1, 0);
    return NULL;
}

static int wait_message(int ms)
{
    struct {
        long type;
        char text[1];
    } message;
    int id_and_ms[] = {msgget(IPC_PRIVATE, 0600), ms};
    pthread_t sender;
    pthread_create(&sender, NULL, send_later, id_and_ms);
    int failed = number(msgrcv(id_and_ms[0], &message, 1, 0, 0));
    pthread_join(sender, NULL);
    msgctl(id_and_ms[0], IPC_RMID, NULL);
    return failed;
}

static int wait_aio(int ms)
{
    aio_context_t queue = 0;
    struct io_event event;
    struct timespec t = span(ms);
    if (syscall(SYS_io_setup, 1, &queue) != 0)
        return 0;
    int failed = number(syscall(SYS_io_getevents, queue, 1, 1, &event, &t));
    syscall(SYS_io_destroy, queue);
    return failed;
}

static const struct wait {
    const char *name;
    int (*run)(int ms);
} waits[] = {
    {"poll", wait_poll},
    {"ppoll", wait_ppoll},
    {"select", wait_select},
    {"pselect", wait_pselect},
    {"usleep", wait_usleep},
    {"nanosleep", wait_nanosleep},
    {"nanosleep-rest", wait_nanosleep_rest},
    {"nanosleep-same", wait_nanosleep_same},
    {"clock_nanosleep", wait_clock},
    {"clock_nanosleep-until", wait_clock_until},
    {"epoll_wait", wait_epoll},
    {"epoll_pwait", wait_epoll_masked},
    {"sem_timedwait", wait_semaphore},
    {"futex", wait_futex},
    {"futex-until", wait_futex_until},
    {"recv", wait_receive},
    {"sigtimedwait", wait_signal},
    {"semtimedop", wait_ipc_semaphore},
    {"msgrcv", wait_message},
    {"io_getevents", wait_aio},
};
enum { WAITS = sizeof(waits) / sizeof(waits[0]) };

static int wait_ms;

/* Twice: the state of the first wait must not shorten the second. */
static void run_wait(const char *where, const struct wait *wait)
{
    for (int i = 0; i < 2; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        int failed = wait->run(wait_ms);
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("%s %s %d %.3f\n", where, wait->name, failed,
               (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    }
    fflush(stdout);
}

static void *run_native(void *context)
{
    run_wait("native", context);
    return NULL;
}

JNIEXPORT jint JNICALL Java_NativeWaits_count(JNIEnv *environment, jclass self)
{
    return WAITS;
}

JNIEXPORT void JNICALL Java_NativeWaits_run(JNIEnv *environment, jclass self, jint index)
{
    run_wait("java", &waits[index]);
}

static pthread_t threads[WAITS];

JNIEXPORT void JNICALL Java_NativeWaits_begin(JNIEnv *environment, jclass self, jint ms)
{
    wait_ms = ms;
    for (int i = 0; i < WAITS; i++)
        pthread_create(&threads[i], NULL, run_native, (void *)&waits[i]);
}

static void ignore(int signal_number) {}

/* Each native wait gets a signal of the program itself. */
JNIEXPORT void JNICALL Java_NativeWaits_interrupt(JNIEnv *environment, jclass self)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = ignore;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < WAITS; i++)
        pthread_kill(threads[i], SIGUSR1);
}

JNIEXPORT void JNICALL Java_NativeWaits_end(JNIEnv *environment, jclass self)
{
    for (int i = 0; i < WAITS; i++)
        pthread_join(threads[i], NULL);
}
