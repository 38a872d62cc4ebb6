#include "symbols/frame_rules.h"

#include <elf.h>
#include <string.h>

enum { REMEMBER_LIMIT = 16 };

/* DW_CFA_*: the two high bits, or the whole byte when they are 0. */
enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOCATION = 0x01,
    CFA_ADVANCE_1 = 0x02,
    CFA_ADVANCE_2 = 0x03,
    CFA_ADVANCE_4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEFINE = 0x0c,
    CFA_DEFINE_REGISTER = 0x0d,
    CFA_DEFINE_OFFSET = 0x0e,
    CFA_DEFINE_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_SIGNED = 0x11,
    CFA_DEFINE_SIGNED = 0x12,
    CFA_DEFINE_OFFSET_SIGNED = 0x13,
    CFA_VALUE_OFFSET = 0x14,
    CFA_VALUE_OFFSET_SIGNED = 0x15,
    CFA_VALUE_EXPRESSION = 0x16,
    CFA_NEGATE_RETURN_STATE = 0x2d, /* aarch64: the return address is signed */
    CFA_ARGUMENTS_SIZE = 0x2e,
    CFA_OFFSET_NEGATIVE = 0x2f,
};

enum where { IN_REGISTER, AT_OFFSET, AT_FRAME_POINTER, IS_UNDEFINED, IS_COMPLICATED };

struct register_place {
    enum where where;
    int64_t offset; /* from the CFA */
};

enum cfa_form { CFA_BY_REGISTER, CFA_BY_PLT, CFA_BY_LOAD, CFA_COMPLICATED };

struct rule_state {
    enum cfa_form form;
    uint64_t cfa_register;
    int64_t cfa_offset;
    int8_t loaded_offset;
    struct register_place frame_pointer;
    struct register_place return_address;
};

struct machine_registers {
    uint64_t stack_pointer, frame_pointer;
};

struct rule_run {
    const struct frame_entry *entry;
    struct machine_registers registers;
    struct rule_state state, initial;
    struct rule_state remembered[REMEMBER_LIMIT];
    unsigned remembered_count;
    uint64_t address;
    bool failed;
    bool stopped;
    bool changed; /* since the last report */
    bool reported;
    struct unwind_rule last; /* that was reported */
    frame_rule_callback *callback;
    void *context;
};

static struct register_place *place_of(struct rule_run *run, uint64_t number)
{
    if (number == run->registers.frame_pointer)
        return &run->state.frame_pointer;
    return number == run->entry->return_register ? &run->state.return_address : NULL;
}

static void set_place(struct rule_run *run, uint64_t number, enum where where, int64_t offset)
{
    struct register_place *place = place_of(run, number);
    if (place == NULL)
        return;
    *place = (struct register_place){where, offset};
    run->changed = true;
}

static void restore_place(struct rule_run *run, uint64_t number)
{
    struct register_place *place = place_of(run, number);
    if (place == &run->state.frame_pointer)
        *place = run->initial.frame_pointer;
    else if (place != NULL)
        *place = run->initial.return_address;
    run->changed |= place != NULL;
}

static int16_t offset_or_register(struct register_place place, bool *complicated)
{
    if (place.where == AT_OFFSET && place.offset > UNWIND_AT_FRAME_POINTER && place.offset <= INT16_MAX)
        return (int16_t)place.offset;
    if (place.where == AT_FRAME_POINTER)
        return UNWIND_AT_FRAME_POINTER;
    *complicated |= place.where == AT_OFFSET || place.where == IS_COMPLICATED;
    return UNWIND_IN_REGISTER;
}

static uint8_t kind_of(const struct rule_run *run)
{
    const struct rule_state *state = &run->state;
    bool by_frame_pointer = state->cfa_register == run->registers.frame_pointer;
    bool by_stack_pointer = state->cfa_register == run->registers.stack_pointer;
    if (state->form == CFA_BY_PLT)
        return UNWIND_PLT;
    if (state->form == CFA_COMPLICATED || (!by_frame_pointer && !by_stack_pointer))
        return UNWIND_NONE;
    if (state->form == CFA_BY_LOAD)
        return by_frame_pointer ? UNWIND_FRAME_POINTER_LOAD : UNWIND_STACK_POINTER_LOAD;
    return by_frame_pointer ? UNWIND_FRAME_POINTER : UNWIND_STACK_POINTER;
}

static struct unwind_rule current_rule(const struct rule_run *run, bool *complicated)
{
    const struct rule_state *state = &run->state;
    *complicated = false;
    if (run->entry->is_signal)
        return (struct unwind_rule){.kind = UNWIND_SIGNAL};
    if (state->return_address.where == IS_UNDEFINED)
        return (struct unwind_rule){.kind = UNWIND_END};
    struct unwind_rule rule = {.kind = kind_of(run)};
    rule.return_address_offset = offset_or_register(state->return_address, complicated);
    bool ignored = false; /* a lost frame pointer may still not matter to the callers */
    rule.frame_pointer_offset = offset_or_register(state->frame_pointer, &ignored);
    if (state->cfa_offset > INT32_MAX || state->cfa_offset < INT32_MIN || rule.kind == UNWIND_NONE)
        *complicated = true;
    rule.cfa_offset = (int32_t)state->cfa_offset;
    rule.loaded_offset = state->form == CFA_BY_LOAD ? state->loaded_offset : 0;
    return *complicated ? (struct unwind_rule){.kind = UNWIND_NONE} : rule;
}

static void report(struct rule_run *run)
{
    bool complicated;
    struct unwind_rule rule = current_rule(run, &complicated);
    run->changed = false;
    if (run->reported && !complicated && unwind_rule_equals(&rule, &run->last))
        return;
    run->last = rule;
    run->reported = true;
    if (!run->callback(run->context, run->address, rule, complicated))
        run->stopped = true;
}

static void advance(struct rule_run *run, uint64_t delta)
{
    if (delta == 0)
        return;
    if (run->changed) /* seldom: most registers that are saved do not matter here */
        report(run);
    run->address += delta * run->entry->code_alignment;
}

/* The PLT's: rsp + 8 + ((rip & 15) >= 11) * 8; other linkers write another number for 11. */
static bool is_plt_expression(const unsigned char *code, size_t size)
{
    static const unsigned char expected[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                             0x3b, 0x2a, 0x33, 0x24, 0x22};
    return size == sizeof(expected) && memcmp(code, expected, 6) == 0 && code[6] >= 0x30 && code[6] < 0x40 &&
           memcmp(code + 7, expected + 7, 4) == 0;
}

/* Known forms: the PLT's, and a value in memory near a register: DW_OP_breg N, offset, DW_OP_deref [, plus, n]. */
static void define_by_expression(struct rule_run *run, struct frame_cursor expression)
{
    size_t size = (size_t)(expression.end - expression.at);
    if (!expression.failed && is_plt_expression(expression.at, size)) {
        run->state.form = CFA_BY_PLT;
        run->state.cfa_offset = expression.at[6] - 0x30;
        return;
    }
    uint64_t operation = frame_cursor_fixed(&expression, 1);
    int64_t offset = frame_cursor_signed(&expression);
    bool loads = frame_cursor_fixed(&expression, 1) == 0x06;
    uint64_t more = 0;
    if (loads && expression.at < expression.end && frame_cursor_fixed(&expression, 1) == 0x23)
        more = frame_cursor_unsigned(&expression);
    run->state.form = CFA_COMPLICATED;
    if (!expression.failed && expression.at == expression.end && operation >= 0x70 && operation <= 0x8f &&
        loads && more <= INT8_MAX) {
        run->state.form = CFA_BY_LOAD;
        run->state.cfa_register = operation - 0x70;
        run->state.cfa_offset = offset;
        run->state.loaded_offset = (int8_t)more;
    }
}

/* After a realignment the caller's frame pointer lies where the own one points: DW_OP_breg6 0. */
static void set_by_expression(struct rule_run *run, uint64_t number, struct frame_cursor expression)
{
    uint64_t operation = frame_cursor_fixed(&expression, 1);
    int64_t offset = frame_cursor_signed(&expression);
    bool at_frame_pointer = !expression.failed && expression.at == expression.end && offset == 0 &&
                            operation == 0x70 + run->registers.frame_pointer;
    set_place(run, number, at_frame_pointer ? AT_FRAME_POINTER : IS_COMPLICATED, 0);
}

static void define(struct rule_run *run, uint64_t number, int64_t offset)
{
    run->state.form = CFA_BY_REGISTER;
    run->state.cfa_register = number;
    run->state.cfa_offset = offset;
}

static void remember(struct rule_run *run)
{
    if (run->remembered_count == REMEMBER_LIMIT)
        run->failed = true;
    else
        run->remembered[run->remembered_count++] = run->state;
}

static void restore(struct rule_run *run)
{
    if (run->remembered_count == 0)
        run->failed = true;
    else
        run->state = run->remembered[--run->remembered_count];
}

static void run_register_instruction(struct rule_run *run, struct frame_cursor *cursor, uint8_t code)
{
    int64_t align = run->entry->data_alignment;
    uint64_t number = frame_cursor_unsigned(cursor);
    switch (code) {
    case CFA_OFFSET_EXTENDED:
        set_place(run, number, AT_OFFSET,
                  (int64_t)((uint64_t)frame_cursor_unsigned(cursor) * (uint64_t)align));
        break;
    case CFA_OFFSET_SIGNED:
        set_place(run, number, AT_OFFSET, (int64_t)((uint64_t)frame_cursor_signed(cursor) * (uint64_t)align));
        break;
    case CFA_OFFSET_NEGATIVE:
        set_place(run, number, AT_OFFSET,
                  (int64_t)(0 - (uint64_t)frame_cursor_unsigned(cursor) * (uint64_t)align));
        break;
    case CFA_RESTORE_EXTENDED:
        restore_place(run, number);
        break;
    case CFA_UNDEFINED:
        set_place(run, number, IS_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set_place(run, number, IN_REGISTER, 0);
        break;
    case CFA_REGISTER:
    case CFA_VALUE_OFFSET:
        frame_cursor_unsigned(cursor);
        set_place(run, number, IS_COMPLICATED, 0);
        break;
    case CFA_VALUE_OFFSET_SIGNED:
        frame_cursor_signed(cursor);
        set_place(run, number, IS_COMPLICATED, 0);
        break;
    case CFA_EXPRESSION:
        set_by_expression(run, number, frame_cursor_part(cursor, frame_cursor_unsigned(cursor)));
        break;
    case CFA_VALUE_EXPRESSION:
        frame_cursor_part(cursor, frame_cursor_unsigned(cursor));
        set_place(run, number, IS_COMPLICATED, 0);
        break;
    case CFA_DEFINE:
        define(run, number, (int64_t)frame_cursor_unsigned(cursor));
        break;
    case CFA_DEFINE_SIGNED:
        define(run, number, (int64_t)((uint64_t)frame_cursor_signed(cursor) * (uint64_t)align));
        break;
    case CFA_DEFINE_REGISTER:
        run->state.cfa_register = number;
        break;
    default: /* CFA_DEFINE_OFFSET */
        run->state.cfa_offset = (int64_t)number;
    }
}

static void run_plain_instruction(struct rule_run *run, struct frame_cursor *cursor, uint8_t code)
{
    run->changed |= code > CFA_ADVANCE_4;
    switch (code) {
    case CFA_NOP:
    case CFA_NEGATE_RETURN_STATE:
        break;
    case CFA_SET_LOCATION: /* its encoding is the CIE's; compilers do not write it */
        run->failed = true;
        break;
    case CFA_ADVANCE_1:
        advance(run, frame_cursor_fixed(cursor, 1));
        break;
    case CFA_ADVANCE_2:
        advance(run, frame_cursor_fixed(cursor, 2));
        break;
    case CFA_ADVANCE_4:
        advance(run, frame_cursor_fixed(cursor, 4));
        break;
    case CFA_REMEMBER_STATE:
        remember(run);
        break;
    case CFA_RESTORE_STATE:
        restore(run);
        break;
    case CFA_DEFINE_OFFSET_SIGNED:
        run->state.cfa_offset =
            (int64_t)((uint64_t)frame_cursor_signed(cursor) * (uint64_t)run->entry->data_alignment);
        break;
    case CFA_DEFINE_EXPRESSION:
        define_by_expression(run, frame_cursor_part(cursor, frame_cursor_unsigned(cursor)));
        break;
    case CFA_ARGUMENTS_SIZE:
        frame_cursor_unsigned(cursor);
        break;
    default:
        if (code > CFA_VALUE_EXPRESSION && code != CFA_OFFSET_NEGATIVE)
            run->failed = true;
        else
            run_register_instruction(run, cursor, code);
    }
}

/* Nearly all instructions of a large library, with an operand of one byte: a push, and the frame's bounds. */
static bool run_usual_instruction(struct rule_run *run, struct frame_cursor *cursor)
{
    const unsigned char *at = cursor->at;
    if (cursor->end - at < 2 || at[1] >= 0x80)
        return false;
    uint8_t code = at[0];
    if ((code & 0xc0) == CFA_OFFSET)
        set_place(run, code & 0x3f, AT_OFFSET, at[1] * run->entry->data_alignment);
    else if (code == CFA_DEFINE_OFFSET)
        run->state.cfa_offset = at[1];
    else if (code == CFA_DEFINE_REGISTER)
        run->state.cfa_register = at[1];
    else
        return false;
    run->changed |= code < CFA_ADVANCE;
    cursor->at += 2;
    return true;
}

static void run_instructions(struct rule_run *run, struct frame_cursor cursor)
{
    while (cursor.at < cursor.end && !cursor.failed && !run->failed && !run->stopped) {
        if (run_usual_instruction(run, &cursor))
            continue;
        uint8_t code = (uint8_t)frame_cursor_fixed(&cursor, 1);
        uint8_t operand = code & 0x3f;
        switch (code & 0xc0) {
        case CFA_ADVANCE:
            advance(run, operand);
            break;
        case CFA_OFFSET:
            set_place(run, operand, AT_OFFSET,
                      (int64_t)(frame_cursor_unsigned(&cursor) * (uint64_t)run->entry->data_alignment));
            break;
        case CFA_RESTORE:
            restore_place(run, operand);
            break;
        default:
            run_plain_instruction(run, &cursor, code);
        }
    }
    run->failed |= cursor.failed;
}

bool frame_rules_run(const struct frame_entry *entry, uint16_t machine, frame_rule_callback *callback,
                     void *context)
{
    struct rule_run run; /* not all of it is set: `remembered` is large and seldom used */
    run.entry = entry;
    run.address = entry->start;
    run.callback = callback;
    run.context = context;
    run.remembered_count = 0;
    run.failed = run.stopped = run.reported = false;
    run.changed = true;
    run.state = run.initial = (struct rule_state){.form = CFA_BY_REGISTER};
    run.registers = machine == EM_AARCH64
                        ? (struct machine_registers){.stack_pointer = 31, .frame_pointer = 29}
                        : (struct machine_registers){.stack_pointer = 7, .frame_pointer = 6};
    run.state.cfa_register = run.registers.stack_pointer;
    run_instructions(&run, entry->initial_instructions);
    run.initial = run.state;
    run_instructions(&run, entry->instructions);
    if (run.failed)
        run.state.form = CFA_COMPLICATED;
    if (!run.stopped && (run.changed || run.failed))
        report(&run);
    return !run.stopped;
}
