/*
 * The attach protocol returns only a number from an agent, no text. So the agent writes its output to a file in a
 * folder that only the target's user can access, created for this command.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jvm_attach/attach.h"
#include "jvm_attach/target_folder.h"

static bool read_reply(const struct target_place *folder, const struct jvm_process *process,
                       struct text_builder *answer)
{
    ssize_t size = -1;
    int descriptor = target_place_open_file(folder, process, "reply");
    if (descriptor < 0)
        return false;
    for (char *room; (room = text_builder_room(answer, 65536)) != NULL;) {
        size = read(descriptor, room, 65536);
        if (size <= 0)
            break;
        text_builder_took(answer, (size_t)size);
    }
    close(descriptor);
    return size == 0;
}

static bool send_command(const struct target_place *folder, const struct jvm_process *process,
                         const char *library, const char *command, struct text_builder *answer,
                         struct error *error)
{
    char options[ATTACH_ARGUMENT_LIMIT_BYTES + TARGET_NAME_LIMIT + 32];
    snprintf(options, sizeof(options), "%s,reply=/tmp/%s/reply", command, folder->name);
    if (strlen(command) >= ATTACH_ARGUMENT_LIMIT_BYTES)
        return error_set(error, ERROR_USAGE, "the JVM accepts at most %d bytes of options",
                         ATTACH_ARGUMENT_LIMIT_BYTES);
    bool loaded = attach_load_agent(process->pid, library, options, error);
    bool answered = read_reply(folder, process, answer);
    struct text_view text = text_trim(text_builder_view(answer));
    if (!loaded && answered && text.size > 0)
        return error_set(error, ERROR_SYSTEM, "%.*s", text.size > 900 ? 900 : (int)text.size, text.data);
    return loaded;
}

bool attach_agent_command(pid_t pid, const char *library, const char *command, struct text_builder *answer,
                          struct error *error)
{
    struct jvm_process process;
    struct target_place folder;
    bool good = jvm_process_read(&process, pid, error) && attach_check(&process, error) &&
                target_place_create_folder(&folder, &process, ".sparkflame", error);
    if (good) {
        good = send_command(&folder, &process, library, command, answer, error);
        target_place_remove(&folder, "reply");
    }
    jvm_process_release(&process);
    return good;
}
