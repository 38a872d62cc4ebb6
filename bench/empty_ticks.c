/* Sleep until each of COUNT absolute times, INTERVAL nanoseconds apart, and do nothing: empty_ticks INTERVAL COUNT.
 * What that costs is what the timer's wake-up costs a sampler, whatever it does when it is awake. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long interval_ns = strtol(argv[1], NULL, 10);
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    for (long left = strtol(argv[2], NULL, 10); left > 0; left--) {
        time.tv_nsec += interval_ns;
        time.tv_sec += time.tv_nsec / 1000000000;
        time.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    }
    return 0;
}
