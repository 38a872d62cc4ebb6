#include "spark/advice/cpu_share.h"

/* Times are whole milliseconds: shorter ones say too little. */
#define LEAST_MS 5
/* Loading classes and waiting for each other leave about so much on a host with nothing else to do. */
#define QUIET_SHARE 0.5
#define STEPS 1000 /* in which shares are counted */

double cpu_share_of(const struct application *application, const uint32_t *tasks, size_t count)
{
    size_t by_step[STEPS + 1] = {0}, all = 0, seen = 0, step = 0;
    for (size_t i = 0; i < count; i++) {
        const struct task *task = &application->tasks[tasks == NULL ? i : tasks[i]];
        if (task->metrics.deserialize_ms < LEAST_MS || task->metrics.deserialize_cpu_ns <= 0)
            continue;
        double share = (double)task->metrics.deserialize_cpu_ns / 1e6 / (double)task->metrics.deserialize_ms;
        by_step[share < 1 ? (size_t)(STEPS * share) : STEPS]++;
        all++;
    }
    if (all == 0)
        return 1;
    while (2 * (seen += by_step[step]) < all)
        step++;
    double share = (0.5 + (double)step) / STEPS / QUIET_SHARE;
    return share < 1 ? share : 1;
}
