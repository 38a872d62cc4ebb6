/* Threads unknown to Java, each using that much CPU time, one after the other. */
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noinline)) int64_t burn_in_library(int64_t limit_ns)
{
    volatile uint64_t sum = 0;
    while (now_ns() < limit_ns)
        for (int i = 0; i < 20000; i++)
            sum += (uint64_t)i * i;
    return now_ns();
}

static void *run(void *context)
{
    prctl(PR_SET_NAME, "born-later");
    int64_t *ns = context;
    *ns = burn_in_library(*ns);
    return NULL;
}

JNIEXPORT jlong JNICALL Java_Births_work(JNIEnv *environment, jclass self, jint threads, jint milliseconds)
{
    int64_t total = 0;
    for (int i = 0; i < threads; i++) {
        int64_t ns = (int64_t)milliseconds * 1000000;
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, &ns) != 0)
            return -1;
        pthread_join(thread, NULL);
        total += ns;
    }
    return total;
}
