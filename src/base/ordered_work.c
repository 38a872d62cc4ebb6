#include "base/ordered_work.h"

#include <pthread.h>

#include "base/threads.h"

struct work_state {
    const struct ordered_work *work;
    pthread_mutex_t lock;
    pthread_cond_t ready_one;  /* the piece that is to be taken is ready, or all is over */
    pthread_cond_t free_slots; /* there are some, or all is over */
    bool taker_waits;
    size_t waiting; /* threads that wait for free slots */
    size_t begun;   /* pieces that next() gave */
    size_t taken;
    bool over; /* no piece will be begun any more */
    bool good;
    bool ready[ORDERED_WORK_SLOTS];
};

static void end(struct work_state *state)
{
    state->over = true;
    pthread_cond_signal(&state->ready_one);
    pthread_cond_broadcast(&state->free_slots);
}

/* Begins and prepares the next piece. Called with the lock held, which is released meanwhile. False: no piece, or no
 * free slot. */
static bool prepare_next(struct work_state *state)
{
    const struct ordered_work *work = state->work;
    if (state->over || state->begun == state->taken + work->slots)
        return false;
    size_t slot = state->begun % work->slots;
    if (!work->next(work->context, slot)) {
        end(state);
        return false;
    }
    state->begun++;
    pthread_mutex_unlock(&state->lock);
    work->prepare(work->context, slot);
    pthread_mutex_lock(&state->lock);
    state->ready[slot] = true;
    if (state->taker_waits && slot == state->taken % work->slots)
        pthread_cond_signal(&state->ready_one);
    return true;
}

/* Waking a thread is expensive, so it is done only for more than one piece. */
static void tell_free_slots(struct work_state *state)
{
    if (state->waiting > 0 && (state->begun - state->taken) * 2 <= state->work->slots)
        pthread_cond_broadcast(&state->free_slots);
}

static void wait_for_piece(struct work_state *state)
{
    state->taker_waits = true;
    pthread_cond_wait(&state->ready_one, &state->lock);
    state->taker_waits = false;
}

static void take_all(struct work_state *state)
{
    const struct ordered_work *work = state->work;
    while (!state->over || state->taken < state->begun) {
        size_t slot = state->taken % work->slots;
        if (state->taken == state->begun || !state->ready[slot]) {
            if (!prepare_next(state) && state->taken < state->begun && !state->ready[slot])
                wait_for_piece(state);
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
        tell_free_slots(state);
    }
    end(state);
}

static void prepare_all(struct work_state *state)
{
    while (!state->over) {
        if (prepare_next(state) || state->over)
            continue;
        state->waiting++;
        pthread_cond_wait(&state->free_slots, &state->lock);
        state->waiting--;
    }
}

static void run(void *context, size_t index)
{
    struct work_state *state = context;
    pthread_mutex_lock(&state->lock);
    if (index == 0)
        take_all(state);
    else
        prepare_all(state);
    pthread_mutex_unlock(&state->lock);
}

bool ordered_work_run(const struct ordered_work *work)
{
    struct work_state state = {.work = work, .good = true};
    pthread_mutex_init(&state.lock, NULL);
    pthread_cond_init(&state.ready_one, NULL);
    pthread_cond_init(&state.free_slots, NULL);
    threads_run(work->threads, run, &state);
    pthread_cond_destroy(&state.free_slots);
    pthread_cond_destroy(&state.ready_one);
    pthread_mutex_destroy(&state.lock);
    return state.good;
}
