#include "commands/dump/dump.h"
#include "jvm_attach/attach.h"
#include "jvm_attach/thread_dump.h"

bool dump_jvm(pid_t pid, const struct dump_options *options, struct output *output, struct error *error)
{
    struct text_builder answer;
    const char *arguments[3] = {options->locks ? "Thread.print -l" : "Thread.print", NULL, NULL};
    text_builder_init(&answer, ATTACH_ANSWER_LIMIT_BYTES);
    bool good = attach_command(pid, "jcmd", arguments, &answer, error);
    if (good && options->as_json) {
        output_format(output, "{\"pid\":%d,\"language\":\"jvm\",\"dump\":", (int)pid);
        thread_dump_write_json(output, text_builder_view(&answer));
        output_byte(output, '}');
    } else if (good) {
        output_text(output, text_builder_view(&answer));
    }
    text_builder_release(&answer);
    return good;
}
