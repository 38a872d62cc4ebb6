#include "native_sampler/native_stacks.h"

#include <linux/perf_event.h>
#include <stdio.h>

#include "base/hash.h"

#define MOST_NAME_BYTES 96

void native_stacks_init(struct native_stacks *stacks, struct profile *profile)
{
    stacks->profile = profile;
    process_table_init(&stacks->table, profile);
    native_names_init(&stacks->names, profile);
    id_map_init(&stacks->contexts);
    stacks->frame_count = 0;
    stacks->cut = stacks->broken = 0;
}

void native_stacks_release(struct native_stacks *stacks)
{
    process_table_release(&stacks->table);
    native_names_release(&stacks->names);
    id_map_release(&stacks->contexts);
}

static bool add_frame(struct native_stacks *stacks, uint32_t frame)
{
    if (frame == NO_FRAME)
        return false;
    /* Code without names is one frame: it is not known where functions begin. */
    if (stacks->frame_count > 0 && stacks->frames[stacks->frame_count - 1] == frame &&
        native_names_is_unknown(&stacks->names, frame))
        return true;
    stacks->frames[stacks->frame_count++] = frame;
    return true;
}

static bool add_kernel_frames(struct native_stacks *stacks, const struct perf_sample_stack *stack)
{
    for (size_t i = 0; i < stack->callchain_count && stacks->frame_count < NATIVE_STACKS_KERNEL_FRAMES; i++) {
        uint64_t address = perf_callchain_at(stack, i);
        /* Users' are there if somebody else records the same software event: the kernel gives both the same chain. */
        if (address == (uint64_t)PERF_CONTEXT_USER)
            break;
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            continue; /* says of what the next addresses are */
        if (!add_frame(stacks, native_names_kernel(&stacks->names, address)))
            return false;
    }
    return true;
}

static bool add_user_frames(struct native_stacks *stacks, struct process_image *image,
                            const struct perf_sample_stack *stack, int64_t now_ns)
{
    struct native_walk *walk = &stacks->walk;
    native_walk(walk, image, &stacks->table.files, stack, now_ns);
    stacks->cut += walk->end == WALK_CUT;
    stacks->broken += walk->end == WALK_BROKEN;
    for (size_t i = 0; i < walk->count; i++) {
        uint32_t frame =
            native_names_user(&stacks->names, image, &stacks->table.files, walk->addresses[i], now_ns);
        if (!add_frame(stacks, frame))
            return false;
    }
    return true;
}

static uint32_t add_group(struct native_stacks *stacks, uint32_t node, const char *text)
{
    uint32_t frame = profile_frame(stacks->profile, text_of(text), TEXT(""), 0, FRAME_GROUP);
    return frame == NO_FRAME || node == NO_STACK ? NO_STACK
                                                 : stack_tree_child(&stacks->profile->stacks, node, frame);
}

/* The parent of the stack's frames: its process and thread, if these are shown. */
static uint32_t find_root(struct native_stacks *stacks, pid_t pid, pid_t tid)
{
    char text[MOST_NAME_BYTES + 64];
    uint32_t node = STACK_ROOT;
    if (stacks->group_by_process) {
        uint32_t name = process_table_thread_name(&stacks->table, pid, pid);
        if (name == NO_STRING)
            return NO_STACK;
        snprintf(text, sizeof(text), "process %d: %.*s", (int)pid,
                 TEXT_FORMAT(text_part(profile_text(stacks->profile, name), 0, MOST_NAME_BYTES)));
        node = add_group(stacks, node, text);
    }
    if (stacks->group_by_thread) {
        uint32_t name = process_table_thread_name(&stacks->table, pid, tid);
        if (name == NO_STRING)
            return NO_STACK;
        snprintf(text, sizeof(text), "thread (%d): %.*s", (int)tid,
                 TEXT_FORMAT(text_part(profile_text(stacks->profile, name), 0, MOST_NAME_BYTES)));
        node = add_group(stacks, node, text);
    }
    return node;
}

uint32_t native_stacks_add(struct native_stacks *stacks, struct process_image *image, pid_t tid,
                           const struct perf_sample_stack *stack, int64_t now_ns)
{
    stacks->frame_count = 0;
    if (!add_kernel_frames(stacks, stack) ||
        (stack->has_user && !add_user_frames(stacks, image, stack, now_ns)))
        return NO_STACK;
    if (stacks->frame_count == 0 && !add_frame(stacks, native_names_kernel(&stacks->names, 0)))
        return NO_STACK;
    uint32_t root = find_root(stacks, image->pid, tid);
    return root == NO_STACK
               ? NO_STACK
               : stack_tree_path(&stacks->profile->stacks, root, stacks->frames, stacks->frame_count);
}

uint32_t native_stacks_add_only(struct native_stacks *stacks, pid_t pid, pid_t tid, struct text_view frame)
{
    uint32_t root = find_root(stacks, pid, tid);
    uint32_t number = profile_frame(stacks->profile, frame, TEXT(""), 0, FRAME_UNKNOWN);
    return root == NO_STACK || number == NO_FRAME ? NO_STACK
                                                  : stack_tree_child(&stacks->profile->stacks, root, number);
}

static uint32_t number_text(struct native_stacks *stacks, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    return profile_string(stacks->profile, text_of(text));
}

uint32_t native_stacks_context(struct native_stacks *stacks, pid_t pid, pid_t tid, struct text_view state,
                               uint32_t waker)
{
    uint32_t thread = process_table_thread_name(&stacks->table, pid, tid);
    uint32_t state_name = profile_string(stacks->profile, state);
    if (thread == NO_STRING || state_name == NO_STRING)
        return NO_CONTEXT;
    uint64_t key =
        hash_mix(hash_pair((uint32_t)pid, (uint32_t)tid), HASH_SEED ^ hash_pair(thread, state_name));
    key = hash_mix(key, HASH_SEED ^ waker);
    uint32_t *place = id_map_place(&stacks->contexts, key);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_CONTEXT : *place;
    uint32_t waker_key = waker == 0 ? LABEL_STATE : profile_label_key(stacks->profile, TEXT("waker"));
    if (waker_key == LABEL_KEY_LIMIT)
        return NO_CONTEXT;
    struct label labels[] = {
        {waker_key, waker}, /* the later one of equal keys counts */
        {LABEL_THREAD, thread},
        {LABEL_THREAD_ID, number_text(stacks, tid)},
        {LABEL_PROCESS, number_text(stacks, pid)},
        {LABEL_STATE, state_name},
    };
    uint32_t number = NO_CONTEXT;
    if (labels[2].value != NO_STRING && labels[3].value != NO_STRING)
        number = context_table_add(&stacks->profile->contexts, labels, COUNT_OF(labels));
    *place = number == NO_CONTEXT ? 0 : number;
    return number;
}
