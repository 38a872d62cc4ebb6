#include "python_sampler/python_stack_reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Reads of one sample that may disagree before it is skipped. */
#define MOST_ATTEMPTS 128
/* Attempts that also need the callers' instructions (their lines) to agree. */
#define STRICT_ATTEMPTS 4
/* A longer read was interrupted, and its copies may be of different times even if they agree. */
#define LONGEST_READ_NS 60000
/* A batch of many threads may take longer. */
#define LONGEST_READ_OF_RANGE_NS 2000
#define PATIENT_ATTEMPTS 8
/* A loop of the program may take as long as an attempt, which then meets it in the same place each time: later attempts
 * wait for up to this long, each for another time, and twice as long after so many attempts: the loop may be longer. */
#define FIRST_DITHERED_ATTEMPT 4
#define MOST_DITHER_NS 4096
#define DITHER_DOUBLES_AFTER 32
/* Number of searches for unknown frames in one sample. */
#define MOST_LEARNING_ROUNDS 32
/* Remembered spans expire after some samples, so that they follow the program. */
#define EXPIRE_SAMPLES 64
#define FORGET_SAMPLES 1024
/* Remembered root and callers expire, too, but at high rates less often. */
#define LEAST_TRUST_NS INT64_C(20000000)
/* Space after a frame for the frames that it may call, where frames are contiguous. */
#define ROOM_AHEAD_BYTES 512
#define PAGE_BYTES 4096
#define OWNED_BY_THREAD 0
#define OWNED_BY_GENERATOR 1
#define POINTER_TAG_BITS UINT64_C(7)
/* Frames are in chunks of whole pages: the address of the previous chunk, the size, the used end, the frames; the
 * first chunk of a thread skips one word. */
#define FIRST_FRAME_IN_CHUNK 32
#define SIZE_IN_CHUNK 8

struct reading {
    struct python_stack_buffer *buffer;
    struct python_stack_memory *remembered;
    struct process_memory *memory;
    const struct python_layout *layout;
    uint64_t thread;
    unsigned attempt;
    uint64_t missing;         /* frame that is in no span */
    uint64_t lone_frame;      /* that the previous attempt found to be the whole stack */
    uint64_t next_lone_frame; /* that this attempt found */
    struct python_root root;  /* that this attempt found */
    bool has_known_root;      /* it ended at the remembered one */
    enum memory_result memory_result;
};

enum attempt_result {
    ATTEMPT_OK,
    ATTEMPT_TORN,
    ATTEMPT_MISSING,
    ATTEMPT_UNREADABLE, /* memory_result: the reason */
    ATTEMPT_TOO_DEEP,
};

bool python_stack_buffer_init(struct python_stack_buffer *buffer)
{
    *buffer = (struct python_stack_buffer){.frames = malloc(PYTHON_MOST_FRAMES * sizeof(*buffer->frames))};
    if (memory_batch_init(&buffer->batch) && buffer->frames != NULL)
        return true;
    python_stack_buffer_release(buffer);
    return false;
}

void python_stack_buffer_release(struct python_stack_buffer *buffer)
{
    memory_batch_release(&buffer->batch);
    free(buffer->frames);
    buffer->frames = NULL;
}

void python_stack_memory_init(struct python_stack_memory *remembered)
{
    *remembered = (struct python_stack_memory){.cframe = 0};
    span_set_init(&remembered->spans);
    python_callers_init(&remembered->callers);
}

void python_stack_memory_release(struct python_stack_memory *remembered)
{
    span_set_release(&remembered->spans);
    python_callers_release(&remembered->callers);
}

static bool add_copy(struct memory_batch *batch, const struct span_set *spans, bool lacks_lesser, size_t *at)
{
    return lacks_lesser ? memory_batch_add_plain_spans(batch, spans, at)
                        : memory_batch_add_spans(batch, spans, at);
}

/* Copy, thread state, pointer to the innermost frame, copy again. */
static void make_plan(struct python_stack_plan *plan, struct memory_batch *batch,
                      const struct python_stack_memory *remembered, const struct python_layout *layout,
                      uint64_t thread, bool is_single, bool second_is_plain, bool first_is_plain)
{
    size_t count = batch->count, total_bytes = batch->total_bytes;
    bool indirect = layout->thread.frame_in_cframe != NO_OFFSET && remembered->cframe != 0;
    *plan = (struct python_stack_plan){.batch = batch,
                                       .is_single = is_single,
                                       .second_is_plain = second_is_plain,
                                       .first_is_plain = first_is_plain};
    if (add_copy(batch, &remembered->spans, first_is_plain, &plan->first_at) &&
        memory_batch_add(batch, thread, layout->thread.bytes, &plan->state_at) &&
        (!indirect || memory_batch_add(batch, remembered->cframe, 16, &plan->cframe_at)) &&
        (is_single || add_copy(batch, &remembered->spans, second_is_plain, &plan->second_at))) {
        if (is_single)
            plan->second_at = plan->first_at;
        return;
    }
    batch->count = count;
    batch->total_bytes = total_bytes;
    plan->batch = NULL;
}

void python_stack_plan(struct python_stack_plan *plan, struct memory_batch *batch,
                       const struct python_stack_memory *remembered, const struct python_layout *layout,
                       uint64_t thread, bool is_single)
{
    make_plan(plan, batch, remembered, layout, thread, is_single, true,
              python_callers_are_steady(&remembered->callers));
}

/* A read of this thread alone. Only the first one leaves out lesser spans. */
static enum memory_result read_alone(struct reading *reading, struct python_stack_plan *plan)
{
    struct memory_batch *batch = &reading->buffer->batch;
    memory_batch_clear(batch);
    make_plan(plan, batch, reading->remembered, reading->layout, reading->thread, false,
              reading->attempt == 0, false);
    return plan->batch == NULL ? MEMORY_FAULT : memory_batch_read(batch, reading->memory);
}

struct frame_view {
    uint64_t code;
    uint64_t previous;
    uint64_t instruction;
    unsigned char owner;
    bool of_generator;
    bool is_idle; /* up to 3.10: not running (yet or any more) */
};

/* 3.8 and 3.9 have a flag; 3.10 has negative values for created or yielded frames, 0 for running, 1 and above for
 * ended ones, but an exception that passes through a frame (2) may run code. */
static inline bool is_idle(const struct python_layout *layout, const unsigned char *bytes)
{
    unsigned char activity = bytes[layout->frame.activity];
    return layout->version < 0x030a ? activity == 0 : activity != 0 && activity != 2;
}

static inline struct frame_view view_frame(const struct python_layout *layout, const unsigned char *bytes)
{
    struct frame_view view = {
        .code = load_u64(bytes + layout->frame.code),
        .previous = load_u64(bytes + layout->frame.previous),
        .instruction = layout->frame.instruction_bytes != 0 ? load_u32(bytes + layout->frame.instruction)
                                                            : load_u64(bytes + layout->frame.instruction),
    };
    if (layout->frame.owner != NO_OFFSET) {
        view.owner = bytes[layout->frame.owner];
        view.of_generator = view.owner == OWNED_BY_GENERATOR;
    } else {
        view.of_generator = load_u64(bytes + layout->frame.generator) != 0;
        view.is_idle = is_idle(layout, bytes);
    }
    return view;
}

static inline bool agree(const struct frame_view *first, const struct frame_view *second, bool strict)
{
    return first->code == second->code && first->previous == second->previous &&
           first->owner == second->owner && (!strict || first->instruction == second->instruction);
}

/* A generator that yielded has no caller any more, and up to 3.10 neither has a frame that ended: then the first
 * copy is the valid one. */
static inline struct frame_view choose_innermost(const struct frame_view *first,
                                                 const struct frame_view *second,
                                                 const struct python_layout *layout)
{
    bool clears = second->of_generator || layout->frame.owner == NO_OFFSET;
    return clears && second->previous == 0 ? *first : *second;
}

/* Up to 3.10 a frame that ended loses its caller, and one that calls another one is running: otherwise the walk has
 * left the stack. Only trace functions written in Python are called by frames that are not running. */
static inline bool is_astray(const struct frame_view *first, const struct frame_view *second, bool strict)
{
    return (first->is_idle || second->is_idle) && (strict || second->previous == 0);
}

/* A generator has a caller, but may have yielded to it meanwhile. Up to 3.10 a stack of a single frame may be one
 * that ended, so it must be seen twice in a row. */
static bool is_doubtful_root(struct reading *reading, const struct frame_view *view, uint64_t address,
                             size_t steps)
{
    if (view->of_generator)
        return true;
    bool is_new = steps == 0 && reading->layout->frame.owner == NO_OFFSET && reading->lone_frame != address;
    if (is_new)
        reading->next_lone_frame = address;
    return is_new;
}

/* Up to 3.10 each frame has its own call of the interpreter loop. */
static inline bool marks_entry(const struct python_layout *layout, const unsigned char *bytes)
{
    return layout->frame.owner == NO_OFFSET ||
           (layout->frame.entry_mark != 0 && bytes[layout->frame.entry_mark] != 0);
}

/* True if one copy of a frame in a lesser span is enough. */
static bool may_be_single(struct reading *reading, const struct frame_view *view, uint64_t address,
                          bool callee_agrees)
{
    if (view->owner >= reading->layout->frame.first_hidden_owner)
        return callee_agrees;
    /* It was a hidden frame when it was found: from now on its span is read twice. */
    if (!span_set_add(&reading->remembered->spans, address, reading->layout->frame.bytes,
                      reading->remembered->clock))
        span_set_clear(&reading->remembered->spans);
    return false;
}

/* True if the frame is the first one in the first chunk of its thread. `bytes`: a copy of the frame. */
static bool is_first_in_chunks(const struct span *span, uint64_t address, const unsigned char *bytes)
{
    if (address % PAGE_BYTES != FIRST_FRAME_IN_CHUNK || address - span->start < FIRST_FRAME_IN_CHUNK)
        return false;
    const unsigned char *chunk = bytes - FIRST_FRAME_IN_CHUNK;
    uint64_t size = load_u64(chunk + SIZE_IN_CHUNK);
    return load_u64(chunk) == 0 && size != 0 && size % PAGE_BYTES == 0;
}

/* True if the frame is known as the outermost one, so that its caller need not be read. No frame is below it, and
 * its caller had no caller. */
static bool is_known_root(const struct python_root *root, const struct frame_view *view,
                          const struct span *span, uint64_t address, const unsigned char *bytes)
{
    return address == root->frame && view->previous == root->caller && view->code == root->code &&
           root->caller != 0 && is_first_in_chunks(span, address, bytes);
}

/* A hidden frame without a caller is the caller of the outermost one. */
static void note_root(struct reading *reading, uint64_t caller)
{
    const struct python_stack_buffer *buffer = reading->buffer;
    if (buffer->frame_count == 0)
        return;
    const struct python_raw_frame *frame = &buffer->frames[buffer->frame_count - 1];
    if (frame->address % PAGE_BYTES == FIRST_FRAME_IN_CHUNK)
        reading->root = (struct python_root){frame->address, frame->code, caller};
}

static enum attempt_result walk(struct reading *reading, uint64_t innermost, const unsigned char *first,
                                const unsigned char *second, bool second_is_plain)
{
    const struct python_layout *layout = reading->layout;
    struct python_stack_buffer *buffer = reading->buffer;
    struct span *span = NULL;
    bool strict = reading->attempt < STRICT_ATTEMPTS;
    size_t steps = 0;
    buffer->frame_count = 0;
    reading->root.caller = 0;
    reading->has_known_root = false;
    uint64_t mark = 0;          /* a chain that returns to it is invalid */
    bool callee_agrees = false; /* so that this frame did not change between the copies */
    for (uint64_t address = innermost; address != 0; steps++) {
        if (buffer->frame_count == PYTHON_MOST_FRAMES || steps >= 2 * PYTHON_MOST_FRAMES)
            return ATTEMPT_TOO_DEEP;
        if (address == mark)
            return ATTEMPT_TORN;
        if ((steps & (steps - 1)) == 0)
            mark = address;
        span = span_set_find(&reading->remembered->spans, address, layout->frame.bytes, span);
        if (span == NULL) {
            reading->missing = address;
            return ATTEMPT_MISSING;
        }
        span->last_used = reading->remembered->clock;
        size_t at = span->offset + (address - span->start);
        const unsigned char *again = second_is_plain && span->is_lesser ? first : second;
        struct frame_view before = view_frame(layout, first + at);
        struct frame_view view = view_frame(layout, again + at);
        if (again != second && !may_be_single(reading, &view, address, callee_agrees))
            return ATTEMPT_TORN;
        callee_agrees = steps > 0 || agree(&before, &view, false);
        if (steps == 0)
            view = choose_innermost(&before, &view, layout);
        else if (!agree(&before, &view, strict) || is_astray(&before, &view, strict))
            return ATTEMPT_TORN;
        if (view.previous == 0 && is_doubtful_root(reading, &view, address, steps))
            return ATTEMPT_TORN;
        if (view.owner < layout->frame.first_hidden_owner) {
            uint32_t copy = layout->frame.bytecode_index == NO_OFFSET
                                ? 0
                                : load_u32(again + at + layout->frame.bytecode_index);
            view.code &= ~POINTER_TAG_BITS;
            buffer->frames[buffer->frame_count++] = (struct python_raw_frame){
                address, view.code, view.instruction, copy, marks_entry(layout, again + at)};
            if (is_known_root(&reading->remembered->root, &view, span, address, again + at)) {
                reading->has_known_root = true;
                view.previous = 0;
            }
        } else if (view.previous == 0) {
            note_root(reading, address);
        }
        /* Since 3.12 a hidden frame is between calls of the interpreter loop. */
        if ((view.previous == 0 || view.owner >= layout->frame.first_hidden_owner) && buffer->frame_count > 0)
            buffer->frames[buffer->frame_count - 1].is_entry = true;
        address = view.previous;
    }
    return ATTEMPT_OK;
}

/* True if the frames are contiguous in the chunk whose first frame is the outermost one. `chunk`: its bytes. */
static bool are_in_one_chunk(const struct python_stack_buffer *buffer, const unsigned char *chunk)
{
    size_t count = buffer->frame_count;
    const struct python_raw_frame *frames = buffer->frames;
    for (size_t i = 1; i < count; i++) {
        if (frames[i].address >= frames[i - 1].address)
            return false;
    }
    uint64_t start = frames[count - 1].address - FIRST_FRAME_IN_CHUNK;
    return frames[0].address - start < load_u64(chunk + SIZE_IN_CHUNK);
}

/* Called after a successful walk. `bytes`: a complete copy. */
static void keep_callers(struct reading *reading, const unsigned char *bytes)
{
    struct python_stack_memory *remembered = reading->remembered;
    const struct python_stack_buffer *buffer = reading->buffer;
    const struct python_layout *layout = reading->layout;
    struct python_callers *callers = &remembered->callers;
    python_callers_forget(callers);
    if (!reading->has_known_root || buffer->frame_count < 2 || layout->frame.entry_mark != 0)
        return;
    const struct python_raw_frame *innermost = &buffer->frames[0];
    uint64_t chunk = buffer->frames[buffer->frame_count - 1].address - FIRST_FRAME_IN_CHUNK;
    const struct span *span =
        span_set_find(&remembered->spans, innermost->address, layout->frame.bytes, NULL);
    if (span == NULL || span->is_lesser || chunk < span->start || chunk >= innermost->address)
        return;
    const unsigned char *chunk_bytes = bytes + span->offset + (chunk - span->start);
    if (!are_in_one_chunk(buffer, chunk_bytes))
        return;
    size_t size = innermost->address - chunk;
    python_callers_set(callers, chunk, chunk_bytes, size);
    callers->previous = load_u64(chunk_bytes + size + layout->frame.previous);
    callers->frame_count = buffer->frame_count;
    callers->is_entry = innermost->is_entry;
}

/* Spans of the callers' frames, and of the hidden ones between them. */
static void use_spans(struct python_stack_memory *remembered, struct span *span)
{
    struct span_set *spans = &remembered->spans;
    span->last_used = remembered->clock;
    for (size_t i = 0; spans->plain_bytes < spans->total_bytes && i < spans->count; i++) {
        if (spans->spans[i].is_lesser)
            spans->spans[i].last_used = remembered->clock;
    }
}

/* True if the stack is the kept one, except for what the innermost frame does; then puts that into the buffer. */
static bool repeat_callers(struct reading *reading, const struct python_stack_plan *plan, uint64_t innermost)
{
    struct python_stack_memory *remembered = reading->remembered;
    const struct python_layout *layout = reading->layout;
    struct python_callers *callers = &remembered->callers;
    if (!python_callers_are_below(callers, innermost))
        return false;
    struct span *span =
        span_set_find(&remembered->spans, callers->start, callers->size + layout->frame.bytes, NULL);
    if (span == NULL || span->is_lesser)
        return false;
    size_t at = span->offset + (callers->start - span->start);
    const unsigned char *second = plan->batch->bytes + plan->second_at + at;
    const unsigned char *frame = second + callers->size;
    struct frame_view view = view_frame(layout, frame);
    if (view.owner != OWNED_BY_THREAD || view.previous != callers->previous ||
        !python_callers_equal(callers, plan->batch->bytes + plan->first_at + at, second))
        return false;
    uint32_t copy =
        layout->frame.bytecode_index == NO_OFFSET ? 0 : load_u32(frame + layout->frame.bytecode_index);
    reading->buffer->frames[0] = (struct python_raw_frame){innermost, view.code & ~POINTER_TAG_BITS,
                                                           view.instruction, copy, callers->is_entry};
    reading->buffer->frame_count = callers->frame_count;
    reading->root.caller = 0;
    use_spans(remembered, span);
    python_callers_count_repeat(callers);
    return true;
}

static enum attempt_result follow(struct reading *reading, const struct python_stack_plan *plan,
                                  uint64_t innermost)
{
    const unsigned char *bytes = plan->batch->bytes;
    reading->buffer->has_same_callers = repeat_callers(reading, plan, innermost);
    if (reading->buffer->has_same_callers)
        return ATTEMPT_OK;
    reading->remembered->callers.repeats = 0;
    if (plan->first_is_plain)
        return ATTEMPT_TORN;
    enum attempt_result result =
        walk(reading, innermost, bytes + plan->first_at, bytes + plan->second_at, plan->second_is_plain);
    if (result == ATTEMPT_OK)
        keep_callers(reading, bytes + plan->second_at);
    return result;
}

static enum attempt_result evaluate(struct reading *reading, const struct python_stack_plan *plan)
{
    const struct memory_batch *batch = plan->batch;
    const struct python_layout *layout = reading->layout;
    int64_t longest_ns = LONGEST_READ_NS + LONGEST_READ_OF_RANGE_NS * (int64_t)batch->count;
    if (UNLIKELY(batch->read_ns > longest_ns && !plan->waits && reading->attempt < PATIENT_ATTEMPTS))
        return ATTEMPT_TORN;
    const unsigned char *state = batch->bytes + plan->state_at;
    if (UNLIKELY(layout->thread.bytes > sizeof(reading->buffer->thread_state)))
        return ATTEMPT_TOO_DEEP;
    memcpy(reading->buffer->thread_state, state, layout->thread.bytes);
    uint64_t frame = load_u64(state + layout->thread.frame);
    if (layout->thread.frame_in_cframe != NO_OFFSET && frame != 0) {
        if (frame != reading->remembered->cframe) {
            reading->remembered->cframe = frame;
            return ATTEMPT_TORN;
        }
        frame = load_u64(batch->bytes + plan->cframe_at + layout->thread.frame_in_cframe);
    }
    return follow(reading, plan, frame);
}

static enum attempt_result try_once(struct reading *reading, const struct python_stack_plan *ready)
{
    struct python_stack_plan plan;
    if (ready->batch != NULL)
        return evaluate(reading, ready);
    reading->memory_result = read_alone(reading, &plan);
    return LIKELY(reading->memory_result == MEMORY_OK) ? evaluate(reading, &plan) : ATTEMPT_UNREADABLE;
}

static size_t room_for_frame(const struct python_layout *layout, uint64_t address)
{
    size_t bytes = layout->frame.bytes;
    if (layout->frame.owner == NO_OFFSET)
        return bytes;
    size_t to_page_end = PAGE_BYTES - (address & (PAGE_BYTES - 1));
    size_t wanted = bytes + ROOM_AHEAD_BYTES;
    if (wanted > to_page_end)
        wanted = to_page_end;
    return wanted > bytes ? wanted : bytes;
}

static bool remember(struct reading *reading, uint64_t address, const unsigned char *frame)
{
    const struct python_layout *layout = reading->layout;
    struct python_stack_memory *remembered = reading->remembered;
    size_t room = room_for_frame(layout, address);
    bool is_hidden =
        layout->frame.owner != NO_OFFSET && frame[layout->frame.owner] >= layout->frame.first_hidden_owner;
    return is_hidden ? span_set_add_lesser(&remembered->spans, address, room, remembered->clock)
                     : span_set_add(&remembered->spans, address, room, remembered->clock);
}

/* Follows the chain from the missing frame on, page by page, and remembers the location of its frames. The data read
 * here may be inconsistent; at worst some unneeded memory is remembered. */
static bool learn(struct reading *reading)
{
    unsigned char page[2 * PAGE_BYTES];
    uint64_t page_start = 1;
    size_t page_size = 0;
    uint64_t address = reading->missing;
    const struct python_layout *layout = reading->layout;
    for (size_t steps = 0; address != 0 && steps < PYTHON_MOST_FRAMES; steps++) {
        if (steps > 0 &&
            span_set_find(&reading->remembered->spans, address, layout->frame.bytes, NULL) != NULL)
            return true;
        /* An invalid address may be so high that the end of the frame would overflow. */
        if (address < page_start || address - page_start >= page_size ||
            address - page_start + layout->frame.bytes > page_size) {
            page_start = address & ~(uint64_t)(PAGE_BYTES - 1);
            page_size = address + layout->frame.bytes - page_start > PAGE_BYTES ? 2 * PAGE_BYTES : PAGE_BYTES;
            reading->memory_result = process_memory_read(reading->memory, page_start, page, page_size);
            if (reading->memory_result != MEMORY_OK)
                return false;
        }
        if (!remember(reading, address, page + (address - page_start))) {
            span_set_clear(&reading->remembered->spans);
            return true;
        }
        address = load_u64(page + (address - page_start) + layout->frame.previous);
    }
    return true;
}

static enum python_stack_result result_of_memory(enum memory_result result)
{
    if (result == MEMORY_GONE)
        return STACK_GONE;
    return result == MEMORY_DENIED ? STACK_DENIED : STACK_BROKEN;
}

/* Remembered frames or the thread state were unmapped. False if it cannot recover. */
static bool recover(struct reading *reading)
{
    bool had_memory = reading->remembered->spans.count > 0 || reading->remembered->cframe != 0;
    span_set_clear(&reading->remembered->spans);
    reading->remembered->cframe = 0;
    return reading->memory_result == MEMORY_FAULT && had_memory;
}

static void age(struct python_stack_memory *remembered, int64_t now_ns)
{
    remembered->clock++;
    if (remembered->clock % FORGET_SAMPLES == 0)
        span_set_clear(&remembered->spans);
    else if (remembered->clock % EXPIRE_SAMPLES == 0)
        span_set_expire(&remembered->spans, remembered->clock - EXPIRE_SAMPLES);
    if (remembered->clock - remembered->doubt_clock < EXPIRE_SAMPLES ||
        now_ns - remembered->doubt_ns < LEAST_TRUST_NS)
        return;
    remembered->doubt_clock = remembered->clock;
    remembered->doubt_ns = now_ns;
    remembered->root.caller = 0;
    python_callers_forget(&remembered->callers);
}

/* From now on the start of the chunk is read instead of the caller of the outermost frame. */
static void keep_root(struct reading *reading)
{
    struct python_stack_memory *remembered = reading->remembered;
    const struct python_root *root = &reading->root;
    size_t bytes = reading->layout->frame.bytes;
    if (root->caller == 0 || !span_set_add(&remembered->spans, root->frame - FIRST_FRAME_IN_CHUNK,
                                           FIRST_FRAME_IN_CHUNK + bytes, remembered->clock))
        return;
    remembered->root = *root;
    span_set_drop_lesser(&remembered->spans, root->caller, bytes + ROOM_AHEAD_BYTES);
}

/* Multiples of the golden ratio are spread evenly. */
static void dither(unsigned attempt)
{
    struct timespec start, now;
    if (attempt < FIRST_DITHERED_ATTEMPT)
        return;
    uint32_t most_ns = (uint32_t)MOST_DITHER_NS << attempt / DITHER_DOUBLES_AFTER;
    long wait_ns = (long)(attempt * UINT32_C(0x9e3779b9) / (UINT32_MAX / most_ns));
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < wait_ns);
}

static enum python_stack_result read_patiently(struct reading *reading, const struct python_stack_plan *plan)
{
    static const struct python_stack_plan no_plan;
    unsigned rounds = 0;
    for (;; plan = &no_plan) {
        reading->lone_frame = reading->next_lone_frame;
        reading->next_lone_frame = 0;
        switch (try_once(reading, plan)) {
        case ATTEMPT_OK:
            return STACK_OK;
        case ATTEMPT_TOO_DEEP:
            return STACK_TOO_DEEP;
        case ATTEMPT_TORN:
            break;
        case ATTEMPT_MISSING:
            if (rounds++ == MOST_LEARNING_ROUNDS)
                return STACK_RESTLESS;
            if (learn(reading))
                continue;
            if (reading->memory_result != MEMORY_FAULT)
                return result_of_memory(reading->memory_result);
            break;
        case ATTEMPT_UNREADABLE:
            if (!recover(reading))
                return result_of_memory(reading->memory_result);
            break;
        }
        if (++reading->attempt == MOST_ATTEMPTS)
            return STACK_RESTLESS;
        dither(reading->attempt);
    }
}

enum python_stack_result python_stack_read(struct python_stack_buffer *buffer,
                                           struct python_stack_memory *remembered,
                                           struct process_memory *memory, const struct python_layout *layout,
                                           uint64_t thread, const struct python_stack_plan *plan)
{
    struct reading reading = {
        .buffer = buffer, .remembered = remembered, .memory = memory, .layout = layout, .thread = thread};
    enum python_stack_result result = read_patiently(&reading, plan);
    /* Not earlier: the plan's batch was read with what was remembered then. */
    age(remembered, buffer->now_ns);
    if (result == STACK_OK)
        keep_root(&reading);
    return result;
}
