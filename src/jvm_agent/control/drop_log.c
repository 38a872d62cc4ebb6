#include "jvm_agent/control/drop_log.h"

#include "jvm_agent/agent_log.h"

#define MINUTE_NS (60 * UINT64_C(1000000000))

bool drop_log_write(struct drop_log *log, const struct drop_counts *counts, uint64_t now_ns, bool ends)
{
    struct drop_counts since = {counts->stacks - log->logged.stacks, counts->waiting - log->logged.waiting,
                                counts->files - log->logged.files, counts->names - log->logged.names};
    bool is_time = ends || log->logged_ns == 0 || now_ns - log->logged_ns >= MINUTE_NS;
    if (!is_time || since.stacks + since.waiting + since.files + since.names == 0)
        return false;
    agent_log(
        LOG_WARN,
        "dropped: %llu samples whose stacks did not fit, %llu that arrived too fast, %llu that could not be "
        "written, %llu names of threads, labels or classes",
        (unsigned long long)since.stacks, (unsigned long long)since.waiting, (unsigned long long)since.files,
        (unsigned long long)since.names);
    log->logged = *counts;
    log->logged_ns = now_ns;
    return true;
}
