#include "jvm_agent/vm/machine.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/attributes.h"
#include "unit_test.h"

#define CALLER_PC 0x7000001000u
#define CALLER_FP 0x7000002000u
#define OWN_FP 0x7000003000u
#define NOP 0xd503201fu
#define RET 0xd65f03c0u

static uint64_t stack[128];
static uint32_t code[64];

static uintptr_t at(unsigned index)
{
    return (uintptr_t)&code[index];
}

static void set_code(const uint32_t *instructions, size_t bytes)
{
    for (size_t i = 0; i < COUNT_OF(code); i++)
        code[i] = NOP;
    memcpy(code, instructions, bytes);
}

#define CODE(...) set_code((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))

/* A frame of so many words at stack[0], whose two top words are the caller's. */
static void set_frame(unsigned words)
{
    memset(stack, 0, sizeof(stack));
    stack[words - 2] = CALLER_FP;
    stack[words - 1] = CALLER_PC;
}

static struct frame_registers registers_at(unsigned index, unsigned lower_words)
{
    return (struct frame_registers){
        .pc = at(index), .sp = (uintptr_t)&stack[lower_words], .fp = CALLER_FP, .link = CALLER_PC};
}

static void check_caller(const struct frame_registers *registers, unsigned words)
{
    CHECK_INT(registers->pc, CALLER_PC);
    CHECK_INT(registers->fp, CALLER_FP);
    CHECK_INT(registers->sp - (uintptr_t)stack, words * 8);
    CHECK_INT(registers->link, 0);
}

TEST(a_small_frame_is_left_at_each_instruction_of_its_prologue)
{
    /* sub x9, sp, #20, lsl #12; str xzr, [x9]; sub sp, sp, #48; stp x29, x30, [sp, #32] */
    CODE(0xd14053e9, 0xf900013f, 0xd100c3ff, 0xa9027bfd);
    for (unsigned i = 0; i <= 4; i++) {
        set_frame(6);
        struct frame_registers registers = registers_at(i, i <= 2 ? 6 : 0);
        CHECK(machine_leave_prologue(at(0), 6, &registers));
        check_caller(&registers, 6);
    }
}

TEST(a_large_frame_is_left_at_each_instruction_of_its_prologue)
{
    /* stp x29, x30, [sp, #-16]!; mov x29, sp; mov x8, #784; sub sp, sp, x8 */
    CODE(0xa9bf7bfd, 0x910003fd, 0xd2806208, 0xcb2863ff);
    for (unsigned i = 0; i <= 4; i++) {
        set_frame(100);
        struct frame_registers registers = registers_at(i, i == 0 ? 100 : i <= 3 ? 98 : 0);
        if (i >= 2)
            registers.fp = OWN_FP;
        CHECK(machine_leave_prologue(at(0), 100, &registers));
        check_caller(&registers, 100);
    }
}

TEST(a_small_frame_is_left_at_each_instruction_of_its_epilogue)
{
    /* ldp x29, x30, [sp, #32]; add sp, sp, #48; ldr x8, [x28, #56]; cmp sp, x8; b.hi; ret */
    CODE(0xa9427bfd, 0x9100c3ff, 0xf9401f88, 0xeb2863ff, 0x54000088, RET);
    set_frame(6);
    struct frame_registers registers = registers_at(0, 0);
    CHECK(!machine_leave_epilogue(&registers)); /* still complete */
    for (unsigned i = 1; i <= 5; i++) {
        registers = registers_at(i, i == 1 ? 0 : 6);
        CHECK(machine_leave_epilogue(&registers));
        check_caller(&registers, 6);
    }
}

TEST(a_large_frame_is_left_at_each_instruction_of_its_epilogue)
{
    /* add sp, sp, #784; ldp x29, x30, [sp], #16; ret */
    CODE(0x910c43ff, 0xa8c17bfd, RET);
    for (unsigned i = 0; i <= 2; i++) {
        set_frame(100);
        struct frame_registers registers = registers_at(i, i == 0 ? 0 : i == 1 ? 98 : 100);
        if (i < 2)
            registers = (struct frame_registers){registers.pc, registers.sp, OWN_FP, at(50)};
        CHECK(machine_leave_epilogue(&registers));
        check_caller(&registers, 100);
    }
}

TEST(code_that_does_not_return_soon_is_no_epilogue)
{
    CODE(0x9100c3ff, 0x8b010000, RET); /* add sp, sp, #48; add x0, x0, x1; ret */
    struct frame_registers registers = registers_at(0, 0);
    CHECK(!machine_leave_epilogue(&registers));
    registers = registers_at(2, 0);
    registers.link = 0; /* a return address */
    CHECK(!machine_leave_epilogue(&registers));
}

TEST(a_call_of_native_code_has_pushed_two_words)
{
    static const uint32_t restores[] = {0x910043ff, 0xa8c133e8}; /* add sp, sp, #16; ldp x8, x12, [sp], #16 */
    for (size_t i = 0; i < COUNT_OF(restores); i++) {
        CODE(NOP, restores[i]);
        memset(stack, 0, sizeof(stack));
        stack[6] = CALLER_FP, stack[7] = CALLER_PC;
        struct frame_registers registers = registers_at(1, 0);
        machine_leave_frame(6, &registers);
        check_caller(&registers, 8);
    }
}

TEST(a_stub_is_left_by_its_link_or_its_frame)
{
    CODE(0xa9bf7bfd, 0x910003fd, NOP, 0xa8c17bfd, RET);
    for (unsigned i = 0; i <= 4; i++) {
        set_frame(2);
        struct frame_registers registers = registers_at(i, i == 0 || i == 4 ? 2 : 0);
        if (i == 2 || i == 3)
            registers.fp = (uintptr_t)stack;
        CHECK(machine_leave_stub(at(0), false, (uintptr_t)(stack + COUNT_OF(stack)), &registers));
        check_caller(&registers, 2);
    }
    CODE(NOP, NOP, NOP, NOP, 0x94000000); /* bl */
    struct frame_registers registers = registers_at(2, 2);
    registers.link = at(5);
    CHECK(machine_leave_stub(at(0), false, (uintptr_t)(stack + COUNT_OF(stack)), &registers));
    CHECK_INT(registers.pc, at(5));
    registers = registers_at(2, 2);
    registers.link = at(4); /* nothing calls from there */
    CHECK(!machine_leave_stub(at(0), false, (uintptr_t)(stack + COUNT_OF(stack)), &registers));
}

TEST(native_code_without_description_is_left_by_its_link_or_its_frame)
{
    CODE(NOP, NOP, 0x94000000, NOP);
    set_frame(2);
    struct frame_registers registers = registers_at(1, 0);
    registers.fp = (uintptr_t)stack;
    registers.link = at(3); /* its own call: it has a frame */
    CHECK(machine_leave_native((uintptr_t)(stack + COUNT_OF(stack)), &registers));
    check_caller(&registers, 2);
    static uint32_t elsewhere[1024];
    elsewhere[0] = elsewhere[1023] = 0x94000000; /* one of them is far enough from the code */
    bool first_is_far = (uintptr_t)&elsewhere[1] + 1024 < at(0) || (uintptr_t)&elsewhere[1] > at(1) + 1024;
    registers = registers_at(1, 2);
    registers.link = (uintptr_t)&elsewhere[first_is_far ? 1 : 1024];
    uintptr_t link = registers.link;
    CHECK(machine_leave_native((uintptr_t)(stack + COUNT_OF(stack)), &registers));
    CHECK_INT(registers.pc, link);
    CHECK_INT(registers.sp, (uintptr_t)&stack[2]);
}

/* The first argument found for code that ends with an interrupted system call; -1: not found. */
static int64_t first_argument(unsigned count)
{
    ucontext_t context;
    struct ended_call call;
    memset(&context, 0, sizeof(context));
    for (uint64_t i = 0; i < 31; i++)
        context.uc_mcontext.regs[i] = 0x100000000u * i + i;
    context.uc_mcontext.regs[8] = SYS_ppoll;
    context.uc_mcontext.regs[0] = (uint64_t)-EINTR;
    context.uc_mcontext.regs[21] = 0xfffffff0;
    context.uc_mcontext.pc = at(count);
    if (!machine_ended_call(&context, &call))
        return -2;
    if (call.number == -1)
        return -1;
    CHECK_INT(call.number, SYS_ppoll);
    machine_repeat_call(&context, &call);
    CHECK_INT(context.uc_mcontext.pc, at(count - 1));
    return (int64_t)context.uc_mcontext.regs[0];
}

TEST(the_first_argument_is_in_the_register_that_it_was_copied_from)
{
    CODE(0xaa1303e0, 0xd2800928, 0xd4000001); /* mov x0, x19; mov x8, #73; svc #0 */
    CHECK_INT(first_argument(3), 0x1300000013);
    CODE(0x2a1403e0, 0xd4000001); /* mov w0, w20 */
    CHECK_INT(first_argument(2), 20);
    CODE(0x93407ea0, 0xd4000001); /* sxtw x0, w21 */
    CHECK_INT(first_argument(2), -16);
}

TEST(a_first_argument_that_is_lost_is_not_found)
{
    CODE(0xaa1303e0, 0xaa1403f3, 0xd4000001); /* mov x0, x19; mov x19, x20 */
    CHECK_INT(first_argument(3), -1);
    CODE(0xaa1303e0, 0xf9400260, 0xd4000001); /* mov x0, x19; ldr x0, [x19] */
    CHECK_INT(first_argument(3), -1);
    CODE(0xaa1303e0, 0xa9405013, 0xd4000001); /* mov x0, x19; ldp x19, x20, [x0] */
    CHECK_INT(first_argument(3), -1);
    CODE(0xaa1303e0, 0xb4000041, 0xd4000001); /* mov x0, x19; cbz x1 */
    CHECK_INT(first_argument(3), -1);
    CODE(0xaa1303e0, 0x94000010, 0xd4000001); /* mov x0, x19; bl */
    CHECK_INT(first_argument(3), -1);
    CODE(0xaa1303e0, NOP); /* no system call */
    CHECK_INT(first_argument(2), -2);
}
