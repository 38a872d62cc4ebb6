#include "jvm_agent/native_unwind.h"

bool native_unwind(struct frame_registers *registers, bool interrupted, uintptr_t stack_end,
                   uintptr_t *function)
{
    *function = 0;
    return machine_leave_native(stack_end, registers);
}
