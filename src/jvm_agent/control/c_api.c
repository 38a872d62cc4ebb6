/*
 * c_api.c - async-profiler's C interface, also for programs without a JVM.
 *
 * Threads: any, but not signal handlers; commands run one at a time.
 */
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "jvm_agent/control/agent.h"
#include "jvm_agent/thread_table.h"

#define REPLY_LIMIT_BYTES ((size_t)1 << 30)

#define C_FUNCTION(type) __attribute__((visibility("default"))) type

C_FUNCTION(void) asprof_init(void);
C_FUNCTION(const char *) asprof_error_str(const char *failure);
C_FUNCTION(const char *) asprof_execute(const char *command, void (*write)(const char *text, size_t size));
C_FUNCTION(void *) asprof_get_thread_local_data(void);

void asprof_init(void) {}

/* A failure is represented by its message. */
const char *asprof_error_str(const char *failure)
{
    return failure;
}

const char *asprof_execute(const char *command, void (*write)(const char *text, size_t size))
{
    static __thread char message[sizeof(((struct error *)0)->message)];
    struct error error = {0};
    struct text_builder text;
    text_builder_init(&text, REPLY_LIMIT_BYTES);
    bool done = agent_execute(command, &text, &error);
    if (done && write != NULL && text.size > 0)
        write(text.data, text.size);
    text_builder_release(&text);
    snprintf(message, sizeof(message), "%s", error.message);
    return done ? NULL : message;
}

/* Time of the last sample of the calling thread. */
void *asprof_get_thread_local_data(void)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    return record == NULL ? NULL : (void *)&record->last_sample_ns;
}
