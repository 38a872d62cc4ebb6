#include "jvm_agent/handler/walker.h"

#include "jvm_agent/handler/native_unwind.h"
#include "jvm_agent/vm/code_blob.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/machine.h"
#include "jvm_agent/vm/runtime_stubs.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

#define NATIVE_STACK_BYTES ((uintptr_t)8 << 20)
#define INTERPRETER_FRAME_BYTES 0x10000u
#define CALL_WRAPPER_DISTANCE 1024u
#define THREAD_IN_JAVA 8
#define PUSHED_WORDS 4u
#define ADAPTER_BYTES 2048u
#define CONTINUATION_WORDS 32u

struct walk {
    const struct walk_request *request;
    frame_word *frames;
    uint32_t depth;
    struct frame_registers at;
    struct leaf_registers leaf;
    bool interrupted; /* at.pc is the next instruction, not a return address */
    uintptr_t java_thread;
    uintptr_t anchor; /* the thread's last Java frame, until used */
    uintptr_t stack_end;
    uint32_t java_depth; /* Java frames so far */
};

static bool add_frame(struct walk *walk, frame_word frame)
{
    if (walk->depth >= walk->request->depth_limit)
        return false;
    walk->frames[walk->depth++] = frame;
    return true;
}

/* at.pc is now a return address. */
static void be_in_caller(struct walk *walk)
{
    walk->interrupted = false;
    machine_set_link(&walk->at, 0);
}

/* Ends the walk with an error frame. */
static bool give_up(struct walk *walk, enum frame_error why)
{
    add_frame(walk, frame_number(AGENT_FRAME_ERROR, why));
    return false;
}

static bool add_java_frame(struct walk *walk, enum agent_frame_kind kind, uintptr_t method,
                           int bytecode_index)
{
    uint32_t number = method_table_add(walk->request->methods, method);
    walk->java_depth++;
    return add_frame(walk, number == 0 ? frame_number(AGENT_FRAME_ERROR, FRAME_ERROR_NONE)
                                       : frame_java(kind, number, bytecode_index));
}

/* Continues at the frame that an anchor describes; false if it describes none. */
static bool use_anchor(struct walk *walk, uintptr_t anchor)
{
    uintptr_t sp = load_word(field_of(anchor, vm.anchor_sp));
    if (sp == 0 || (sp & 7) != 0)
        return false;
    uintptr_t pc = load_word(field_of(anchor, vm.anchor_pc));
    walk->at.pc = machine_code_address(pc != 0 ? pc : load_word(sp - 8));
    walk->at.sp = sp;
    walk->at.fp = load_word(field_of(anchor, vm.anchor_fp));
    be_in_caller(walk);
    return true;
}

static bool looks_interpreted(const struct walk *walk)
{
    uintptr_t fp = walk->at.fp, sp = walk->at.sp;
    return is_plausible(fp) && fp > sp && fp - sp < INTERPRETER_FRAME_BYTES && fp < walk->stack_end &&
           sp <= fp + (uintptr_t)((intptr_t)vm.bytecode_slot * 8);
}

/* The interrupted frame has its bytecode pointer in a register, callers have it in their frames. */
static int interpreted_index(const struct walk *walk, uintptr_t method)
{
    uint32_t size = 0;
    uintptr_t begin = method_bytecodes(method, &size);
    uintptr_t at = walk->leaf.bytecode;
    if (!walk->interrupted || at < begin || at >= begin + size)
        at = load_word(walk->at.fp + (uintptr_t)((intptr_t)vm.bytecode_slot * 8));
    return at >= begin && at < begin + size ? (int)(at - begin) : 0;
}

/* An interpreted caller is walked by its frame pointer; any other one has its stack pointer above its callee's frame,
 * which stores it a few instructions after the frame pointer. */
static uintptr_t above_callee(const struct walk *walk, uintptr_t sender, uintptr_t least)
{
    bool usable = sender + INTERPRETER_FRAME_BYTES > least && sender < walk->stack_end && (sender & 7) == 0;
    if (!usable && walk->interrupted)
        sender = walk->leaf.sender_sp;
    return sender > least && sender < walk->stack_end && (sender & 7) == 0 ? sender : least;
}

static bool leave_interpreted(struct walk *walk)
{
    uintptr_t fp = walk->at.fp;
    uintptr_t sender = load_word(fp + (uintptr_t)((intptr_t)vm.sender_sp_slot * 8));
    walk->at.sp = MACHINE_FRAMES_OVERLAP ? above_callee(walk, sender, fp + 16) : sender;
    walk->at.pc = machine_code_address(load_word(fp + 8));
    walk->at.fp = load_word(fp);
    be_in_caller(walk);
    return true;
}

/* The frame is filled from its frame pointer downwards: caller, its stack pointer and its frame pointer are set. */
static bool is_half_built(const struct walk *walk)
{
    uintptr_t fp = walk->at.fp, sp = walk->at.sp;
    if (fp <= sp || fp - sp > (uintptr_t)-vm.bytecode_slot * 8 || (fp & 7) != 0 || fp + 16 > walk->stack_end)
        return false;
    uintptr_t sender = load_word(fp + (uintptr_t)((intptr_t)vm.sender_sp_slot * 8));
    return sender > fp && sender < walk->stack_end && code_contains(machine_code_address(load_word(fp + 8)));
}

/* During method entry the frame is not complete: method and caller are in registers. */
static bool step_interpreter_entry(struct walk *walk)
{
    uint32_t number = method_table_add(walk->request->methods, walk->leaf.method);
    uintptr_t sender = walk->leaf.sender_sp;
    if (MACHINE_FRAMES_OVERLAP)
        sender = above_callee(walk, sender, walk->at.sp);
    if (number != 0 && !MACHINE_FRAMES_OVERLAP && is_half_built(walk)) {
        walk->java_depth++;
        return add_frame(walk, frame_java(AGENT_FRAME_INTERPRETED, number, 0)) && leave_interpreted(walk);
    }
    if (number == 0 || sender < walk->at.sp || sender >= walk->stack_end || (sender & 7) != 0)
        return give_up(walk, FRAME_ERROR_INTERPRETED);
    walk->java_depth++;
    if (!add_frame(walk, frame_java(AGENT_FRAME_INTERPRETED, number, 0)))
        return false;
    walk->at.pc = machine_return_address(&walk->at);
    walk->at.sp = sender;
    be_in_caller(walk);
    return true;
}

static bool step_interpreted(struct walk *walk)
{
    if (walk->java_thread != 0 && load_word(field_of(walk->java_thread, vm.java_thread_vframes)) != 0)
        return give_up(walk, FRAME_ERROR_DEOPTIMIZING);
    if (looks_interpreted(walk)) {
        uintptr_t method = load_word(walk->at.fp + (uintptr_t)((intptr_t)vm.method_slot * 8));
        uint32_t number = method_table_add(walk->request->methods, method);
        if (number != 0) {
            walk->java_depth++;
            return add_frame(walk,
                             frame_java(AGENT_FRAME_INTERPRETED, number, interpreted_index(walk, method))) &&
                   leave_interpreted(walk);
        }
    }
    return walk->interrupted ? step_interpreter_entry(walk) : give_up(walk, FRAME_ERROR_INTERPRETED);
}

/* A frame that will be deoptimized returns to a handler, and has its original pc in a slot of its own. */
static uintptr_t true_pc(const struct walk *walk, uintptr_t blob)
{
    if (walk->interrupted || vm.compiled_original_pc_offset < 0 || walk->at.pc != compiled_deopt_pc(blob))
        return walk->at.pc;
    int offset = load_int(field_of(blob, vm.compiled_original_pc_offset));
    uintptr_t pc = offset > 0 ? load_word(walk->at.sp + (uintptr_t)offset) : 0;
    return pc > blob && pc < blob + (uintptr_t)load_int(field_of(blob, vm.blob_size)) ? pc : walk->at.pc;
}

static struct place_owner owner_of(uintptr_t blob)
{
    return (struct place_owner){blob, load_word(field_of(blob, vm.compiled_method)),
                                load_int(field_of(blob, vm.compiled_number))};
}

static void remember_place(const struct walk *walk, uintptr_t blob, uint32_t first, int frame_words)
{
    struct place_facts facts = {.pc = walk->at.pc, .owner = owner_of(blob), .frame_words = frame_words};
    facts.frame_count = (uint16_t)(walk->depth - first);
    facts.interrupted = walk->interrupted;
    place_cache_put(walk->request->places, &facts, walk->frames + first);
}

static bool add_scopes(struct walk *walk, uintptr_t blob, uintptr_t pc, enum agent_frame_kind kind)
{
    struct scope scope;
    if (!scope_find(&scope, blob, pc, walk->interrupted))
        return add_java_frame(walk, kind, load_word(field_of(blob, vm.compiled_method)), 0);
    while (scope_next(&scope))
        if (!add_java_frame(walk, scope.next != 0 ? AGENT_FRAME_INLINED : kind, scope.method,
                            scope.bytecode_index))
            return false;
    return true;
}

/*
 * Only generated code calls compiled code: a return address elsewhere is invalid. Intrinsics such as string comparison
 * push registers temporarily: then the frame is a few words higher.
 */
static bool leave_compiled(struct walk *walk, int frame_words)
{
    for (uintptr_t pushed = 0; frame_words > 0 && pushed <= (walk->interrupted ? PUSHED_WORDS : 0);
         pushed++) {
        struct frame_registers caller = walk->at;
        caller.sp += pushed * sizeof(uintptr_t);
        machine_leave_frame(frame_words, &caller);
        /* The next step looks up the caller; it is needed now only if there is a choice. */
        if (code_contains(caller.pc) && (!walk->interrupted || code_blob_find(caller.pc) != 0)) {
            walk->at = caller;
            be_in_caller(walk);
            return true;
        }
    }
    return false;
}

static bool step_compiled(struct walk *walk, uintptr_t blob)
{
    int level = compiled_level(blob), frame_words = code_blob_frame_words(blob);
    enum agent_frame_kind kind = level >= 1 && level <= 3 ? AGENT_FRAME_C1_COMPILED : AGENT_FRAME_COMPILED;
    uintptr_t method = load_word(field_of(blob, vm.compiled_method));
    struct frame_registers before = walk->at;
    if (walk->interrupted) {
        bool complete = walk->at.pc >= code_blob_frame_complete(blob);
        bool left = complete ? machine_leave_epilogue(&walk->at)
                             : machine_leave_prologue(compiled_entry(blob), frame_words, &walk->at);
        if (left) {
            be_in_caller(walk);
            return add_java_frame(walk, kind, method, 0);
        }
        walk->at = before;
        if (!complete)
            return add_java_frame(walk, kind, method, 0) && give_up(walk, FRAME_ERROR_COMPILED);
    }
    uint32_t first = walk->depth;
    uintptr_t pc = true_pc(walk, blob);
    if (!add_scopes(walk, blob, pc, kind))
        return false;
    if (pc == walk->at.pc && vm.compiled_number >= 0)
        remember_place(walk, blob, first, frame_words);
    return leave_compiled(walk, frame_words) || give_up(walk, FRAME_ERROR_COMPILED);
}

/* Where the VM called Java: continues at the Java frame that called the VM, if there is one. */
static bool step_entry(struct walk *walk)
{
    uintptr_t wrapper = load_word(walk->at.fp + (uintptr_t)((intptr_t)vm.entry_wrapper_slot * 8));
    if (!is_plausible(wrapper) || wrapper - walk->at.fp > CALL_WRAPPER_DISTANCE)
        return give_up(walk, FRAME_ERROR_ENTRY);
    return use_anchor(walk, field_of(wrapper, vm.call_wrapper_anchor));
}

static bool text_starts(const char *text, const char *start)
{
    uintptr_t at = (uintptr_t)text;
    while (*start != 0 && load_byte(at) == (uint8_t)*start)
        at++, start++;
    return *start == 0;
}

static bool is_adapter(uintptr_t blob)
{
    const char *name = code_blob_name(blob);
    return name != NULL && text_starts(name, "I2C/C2I");
}

/* It may have made room for arguments: then the caller's stack pointer is in its register. */
static uintptr_t adapter_sp(const struct walk *walk)
{
    uintptr_t sp = walk->at.sp, sender = walk->leaf.sender_sp;
    return walk->interrupted && sender > sp && sender - sp <= ADAPTER_BYTES && (sender & 15) == 0 ? sender
                                                                                                  : sp;
}

/* An adapter runs between an interpreted and a compiled frame and has no frame itself. */
static bool step_adapter(struct walk *walk)
{
    if (looks_interpreted(walk) &&
        method_table_add(walk->request->methods,
                         load_word(walk->at.fp + (uintptr_t)((intptr_t)vm.method_slot * 8))) != 0) {
        walk->at.pc = vm.interpreter_low;
        be_in_caller(walk);
        return true;
    }
    walk->at.pc = machine_return_address(&walk->at);
    walk->at.sp = MACHINE_CALL_BYTES != 0 ? walk->at.sp + MACHINE_CALL_BYTES : adapter_sp(walk);
    be_in_caller(walk);
    return true;
}

/*
 * Frames of a virtual thread that are still in the heap cannot be walked, but its carrier's can. Right above the last
 * frame on the stack are the JVM's data of the continuation, and then the carrier's frame.
 */
static bool step_barrier(struct walk *walk)
{
    for (uintptr_t words = 2; words < CONTINUATION_WORDS; words++) {
        uintptr_t at = walk->at.sp + words * sizeof(uintptr_t);
        uintptr_t pc = at < walk->stack_end ? machine_code_address(load_word(at)) : 0;
        if (pc == 0 || !code_contains(pc) || code_blob_find(pc) == 0)
            continue;
        walk->at.pc = pc;
        walk->at.sp = at + sizeof(uintptr_t);
        walk->at.fp = load_word(at - sizeof(uintptr_t));
        be_in_caller(walk);
        return true;
    }
    return false;
}

static bool step_stub(struct walk *walk, uintptr_t blob)
{
    const struct runtime_stub *stub = runtime_stub_find(walk->at.pc);
    uintptr_t begin = stub != NULL ? stub->begin : code_blob_begin(blob);
    bool leaf = walk->interrupted;
    if (walk->request->context != NULL && !add_frame(walk, frame_address(AGENT_FRAME_STUB, begin)))
        return false;
    if (stub != NULL && stub->barrier)
        return step_barrier(walk);
    if (stub == NULL && is_adapter(blob))
        return step_adapter(walk);
    walk->interrupted = false;
    bool bare = stub != NULL && stub->bare;
    if ((leaf || stub != NULL) && machine_leave_stub(begin, bare && leaf, walk->stack_end, &walk->at))
        return true;
    int frame_words = code_blob_frame_words(blob);
    if (frame_words > 0) {
        machine_leave_frame(frame_words, &walk->at);
        return true;
    }
    return machine_leave_native(walk->stack_end, &walk->at) || give_up(walk, FRAME_ERROR_STUB);
}

/* Uses the cached result of an earlier walk, if its compiled method still exists. Adds frames only if it does. */
static bool find_known(struct walk *walk, struct place_facts *facts)
{
    if (!place_cache_find(walk->request->places, walk->at.pc, walk->interrupted, facts,
                          walk->frames + walk->depth, walk->request->depth_limit - walk->depth))
        return false;
    struct place_owner now = owner_of(facts->owner.blob);
    return now.method == facts->owner.method && now.compilation == facts->owner.compilation;
}

static bool step_known(struct walk *walk, const struct place_facts *facts)
{
    walk->depth += facts->frame_count;
    walk->java_depth += facts->frame_count;
    return leave_compiled(walk, facts->frame_words) || give_up(walk, FRAME_ERROR_COMPILED);
}

static bool step_generated(struct walk *walk)
{
    struct place_facts facts;
    if (walk->anchor == 0 && find_known(walk, &facts))
        return step_known(walk, &facts);
    uintptr_t blob = code_blob_find(walk->at.pc);
    if (blob == 0)
        return give_up(walk, FRAME_ERROR_UNKNOWN_CODE);
    bool compiled = code_blob_is_compiled(blob);
    bool interpreter = code_is_interpreter(walk->at.pc);
    if (walk->anchor != 0 && (walk->depth > 0 || compiled || interpreter)) {
        uintptr_t anchor = walk->anchor;
        walk->anchor = 0;
        if (use_anchor(walk, anchor))
            return true; /* its sp, fp and pc are known; continue from there */
    }
    if (interpreter)
        return step_interpreted(walk);
    if (compiled)
        return step_compiled(walk, blob);
    if (walk->at.pc == vm.call_stub_return_pc && !walk->request->mixed)
        return step_entry(walk);
    return step_stub(walk, blob);
}

/* Unwinds native code until generated code or the end of the stack. With an anchor set, no native frames are outside
 * of it. */
static bool step_native(struct walk *walk)
{
    uintptr_t function = 0;
    struct frame_registers caller = walk->at;
    bool known = native_unwind(&caller, walk->interrupted, walk->stack_end, &function);
    if (function == 0 && walk->request->native_only)
        return false; /* may be generated code of a JVM with an unknown layout */
    if (walk->request->native_frames &&
        !add_frame(walk, frame_address(AGENT_FRAME_NATIVE, function != 0 ? function : walk->at.pc)))
        return false;
    bool leaf = MACHINE_CALL_BYTES == 0 && walk->interrupted; /* may have no frame */
    if (!known || (leaf ? caller.sp < walk->at.sp : caller.sp <= walk->at.sp) ||
        !is_plausible(caller.pc & ~(uintptr_t)7))
        return false;
    walk->at = caller;
    be_in_caller(walk);
    return true;
}

static bool step(struct walk *walk)
{
    if (walk->at.sp >= walk->stack_end || (walk->at.sp & 7) != 0)
        return give_up(walk, FRAME_ERROR_STACK_RANGE);
    if (!code_contains(walk->at.pc))
        return step_native(walk);
    return !walk->request->native_only && step_generated(walk);
}

static void run(struct walk *walk)
{
    uint32_t limit = walk->request->depth_limit;
    while (walk->depth < limit) {
        uintptr_t sp = walk->at.sp;
        if (!step(walk))
            break;
        if (walk->at.sp < sp && walk->java_depth > 0) {
            give_up(walk, FRAME_ERROR_STACK_RANGE);
            break;
        }
    }
    if (walk->java_depth == 0 && walk->anchor != 0 && walk->depth < limit) {
        /* Native code that could not be unwound: the Java frame that called it is known nevertheless. */
        uintptr_t anchor = walk->anchor;
        walk->anchor = 0;
        while (walk->depth > 0 && frame_kind_of(walk->frames[walk->depth - 1]) == AGENT_FRAME_ERROR)
            walk->depth--;
        if (use_anchor(walk, anchor))
            run(walk);
    }
}

static bool prepare(struct walk *walk, bool *waiting)
{
    bool java = vm.java_frames && !walk->request->native_only;
    uintptr_t thread = java ? atomic_load(&walk->request->record->java_thread) : 0;
    walk->java_thread = thread;
    if (walk->request->context != NULL) {
        machine_registers(walk->request->context, &walk->at, &walk->leaf);
        walk->interrupted = true;
    }
    walk->stack_end = walk->at.sp + NATIVE_STACK_BYTES;
    if (thread != 0) {
        walk->stack_end = load_word(field_of(thread, vm.java_thread_stack_base));
        walk->anchor = field_of(thread, vm.java_thread_anchor);
        if (load_word(field_of(walk->anchor, vm.anchor_sp)) == 0)
            walk->anchor = 0;
    }
    if (walk->request->context == NULL) {
        uintptr_t anchor = walk->anchor;
        walk->anchor = 0;
        return anchor != 0 && use_anchor(walk, anchor);
    }
    *waiting = !code_contains(walk->at.pc) && machine_in_system_call(&walk->at, &walk->leaf);
    return true;
}

static void note_missing_java(struct walk *walk)
{
    if (walk->java_thread != 0 && walk->java_depth == 0 &&
        load_int(field_of(walk->java_thread, vm.java_thread_state)) == THREAD_IN_JAVA)
        give_up(walk, FRAME_ERROR_NO_JAVA_FRAME);
}

/* Not inlined, so that its results are in memory when a fault returns to its caller. */
__attribute__((noinline)) static void walk_guarded(struct walk *walk, bool *waiting)
{
    if (!prepare(walk, waiting))
        return;
    run(walk);
    note_missing_java(walk);
}

uint32_t walker_walk(const struct walk_request *request, frame_word *frames, bool *waiting)
{
    struct walk walk = {.request = request, .frames = frames};
    struct fault_point point, *outer = request->record->fault_point; /* of a walk that this one interrupted */
    if (fault_point_set(&point) == 0) {
        request->record->fault_point = &point;
        walk_guarded(&walk, waiting);
    } else {
        give_up(&walk, FRAME_ERROR_FAULT);
    }
    request->record->fault_point = outer;
    if (walk.depth >= request->depth_limit && request->depth_limit > 0)
        frames[walk.depth - 1] = frame_number(AGENT_FRAME_ERROR, FRAME_ERROR_TRUNCATED);
    return walk.depth;
}
