#include "base/ordered_work.h"

#include <pthread.h>

#include "base/threads.h"

struct state {
    const struct ordered_work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a piece is ready, a slot is free, or all is over */
    size_t begun;           /* pieces that next() gave */
    size_t taken;
    bool over; /* no piece will be begun any more */
    bool good;
    bool ready[ORDERED_WORK_SLOTS];
};

/* Begins and prepares the next piece. Called with the lock held, which is let go meanwhile. False: there is none, or
 * no free slot. */
static bool prepare_next(struct state *state)
{
    const struct ordered_work *work = state->work;
    if (state->over || state->begun == state->taken + work->slots)
        return false;
    size_t slot = state->begun % work->slots;
    if (!work->next(work->context, slot)) {
        state->over = true;
        pthread_cond_broadcast(&state->changed);
        return false;
    }
    state->begun++;
    pthread_mutex_unlock(&state->lock);
    work->prepare(work->context, slot);
    pthread_mutex_lock(&state->lock);
    state->ready[slot] = true;
    return true;
}

static void take_all(struct state *state)
{
    const struct ordered_work *work = state->work;
    while (!state->over || state->taken < state->begun) {
        size_t slot = state->taken % work->slots;
        if (state->taken == state->begun || !state->ready[slot]) {
            if (!prepare_next(state) && state->taken < state->begun && !state->ready[slot])
                pthread_cond_wait(&state->changed, &state->lock);
            continue;
        }
        pthread_mutex_unlock(&state->lock);
        bool good = work->take(work->context, slot);
        pthread_mutex_lock(&state->lock);
        state->ready[slot] = false;
        state->taken++;
        if (!good) {
            state->good = false;
            break;
        }
        pthread_cond_broadcast(&state->changed);
    }
    state->over = true;
    pthread_cond_broadcast(&state->changed);
}

static void prepare_all(struct state *state)
{
    while (!state->over) {
        if (prepare_next(state))
            pthread_cond_broadcast(&state->changed);
        else if (!state->over)
            pthread_cond_wait(&state->changed, &state->lock);
    }
}

static void run(void *context, size_t index)
{
    struct state *state = context;
    pthread_mutex_lock(&state->lock);
    if (index == 0)
        take_all(state);
    else
        prepare_all(state);
    pthread_mutex_unlock(&state->lock);
}

bool ordered_work_run(const struct ordered_work *work)
{
    struct state state = {.work = work, .good = true};
    pthread_mutex_init(&state.lock, NULL);
    pthread_cond_init(&state.changed, NULL);
    threads_run(work->threads, run, &state);
    pthread_cond_destroy(&state.changed);
    pthread_mutex_destroy(&state.lock);
    return state.good;
}
