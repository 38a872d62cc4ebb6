#include "commands/collector/recording_sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands/collector/http_post.h"
#include "input/byte_source.h"
#include "input/json_reader.h"

/* A collector may take less. */
#define FILE_LIMIT_BYTES ((size_t)1 << 30)
#define ANSWER_LIMIT_BYTES ((size_t)64 << 10)
#define ADDRESS_LIMIT_BYTES ((size_t)64 << 10)

enum { LONGEST_PAUSE_S = 60 };

struct recording_sender {
    const struct sender_options *options;
    struct http_post *post;
};

static bool read_token(const char *path, char to[2048], const char **token, struct error *error)
{
    struct text_view text;
    *token = getenv("SPARKFLAME_TOKEN");
    if (path == NULL)
        return true;
    struct byte_source *source = byte_source_open(path, error);
    bool good = source != NULL && byte_source_all(source, 2000, &text, error);
    if (good)
        snprintf(to, 2048, "%.*s", TEXT_FORMAT(text_trim(text)));
    else
        error_prefix(error, "%s", path);
    byte_source_close(source);
    *token = to;
    return good;
}

struct recording_sender *recording_sender_open(const struct sender_options *options, struct error *error)
{
    char text[2048];
    struct http_post_options post = {.certificates = options->certificates};
    struct recording_sender *sender = calloc(1, sizeof(*sender));
    if (sender == NULL) {
        error_set_memory(error);
        return NULL;
    }
    sender->options = options;
    if (read_token(options->token_file, text, &post.token, error) &&
        (sender->post = http_post_open(&post, error)) != NULL)
        return sender;
    free(sender);
    return NULL;
}

void recording_sender_close(struct recording_sender *sender)
{
    if (sender == NULL)
        return;
    http_post_close(sender->post);
    free(sender);
}

static bool set_id(char to[RECORDING_ID_BYTES + 1], const char *what, const char *id, struct error *error)
{
    return id == NULL || recording_set_id(to, what, text_of(id), error);
}

bool recording_sender_describe(const struct sender_options *options, struct stored_recording *recording,
                               struct error *error)
{
    if (!set_id(recording->group, "group", options->group, error) ||
        !set_id(recording->application, "application", options->application, error) ||
        !set_id(recording->attempt, "attempt", options->attempt, error) ||
        !set_id(recording->executor, "executor", options->executor, error))
        return false;
    for (size_t i = 0; i < options->labels.size; i++)
        if (!recording_add_label(recording, text_of(options->labels.items[i]), error))
            return false;
    return true;
}

/* ---- one recording ---- */

static void add_encoded(struct text_builder *to, const char *name, struct text_view value)
{
    text_builder_format(to, "&%s=", name);
    for (size_t i = 0; i < value.size; i++) {
        char byte = value.data[i];
        if (recording_id_is_valid((struct text_view){&byte, 1}) || byte == '.')
            text_builder_add_byte(to, byte);
        else
            text_builder_format(to, "%%%02X", (unsigned char)byte);
    }
}

static bool make_address(const struct recording_sender *sender, const struct stored_recording *recording,
                         struct text_builder *to, struct error *error)
{
    struct text_view base = text_of(sender->options->to);
    while (text_ends_with(base, TEXT("/")))
        base.size--;
    text_builder_format(to, "%.*s/v1/recordings?sequence=%llu", TEXT_FORMAT(base),
                        (unsigned long long)recording->sequence);
    add_encoded(to, "group", text_of(recording->group));
    add_encoded(to, "application", text_of(recording->application));
    add_encoded(to, "executor", text_of(recording->executor));
    if (recording->attempt[0] != '\0')
        add_encoded(to, "attempt", text_of(recording->attempt));
    for (struct text_view rest = text_of(recording->labels); rest.size > 0;)
        add_encoded(to, "label", text_cut(&rest, '\n'));
    return text_builder_c_string(to)[0] != '\0' || error_set_memory(error);
}

/* The text behind "error" of an answer; what it is otherwise. */
static void read_reason(struct text_view answer, char *to, size_t room)
{
    struct json_reader json;
    struct error error = {0};
    json_reader_init_memory(&json, answer, 0, ANSWER_LIMIT_BYTES);
    bool found = json_reader_next(&json, &error) == JSON_OBJECT_BEGIN &&
                 json_reader_next(&json, &error) == JSON_KEY && text_equal(json.text, TEXT("error")) &&
                 json_reader_next(&json, &error) == JSON_TEXT;
    snprintf(to, room, "%.*s", TEXT_FORMAT(found ? json.text : text_part(text_trim(answer), 0, 200)));
    for (char *at = to; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            *at = '?';
    json_reader_release(&json);
}

/* One attempt. With SEND_UNREACHABLE, another one may succeed after *pause_s. */
static enum send_outcome send_once(struct http_post *post, const char *address, struct text_view body,
                                   uint64_t *pause_s, struct error *error)
{
    struct text_builder answer;
    char reason[512];
    long status = 0;
    uint64_t retry_after_s = 0;
    text_builder_init(&answer, ANSWER_LIMIT_BYTES);
    enum send_outcome outcome = SEND_UNREACHABLE;
    if (http_post_send(post, address, body, &status, &retry_after_s, &answer, error)) {
        read_reason(text_builder_view(&answer), reason, sizeof(reason));
        error_set(error, ERROR_SYSTEM, "status %ld: %s", status, reason);
        if (status == 200 || status == 201)
            outcome = SEND_STORED;
        else if (status < 500 && status != 429 && status != 408)
            outcome = SEND_REFUSED;
        if (retry_after_s > 0)
            *pause_s = retry_after_s < LONGEST_PAUSE_S ? retry_after_s : LONGEST_PAUSE_S;
    }
    text_builder_release(&answer);
    return outcome;
}

enum send_outcome recording_sender_send(struct recording_sender *sender,
                                        const struct stored_recording *recording, struct text_view body,
                                        unsigned attempts,
                                        void (*waits)(void *context, const char *why, uint64_t pause_s),
                                        void *context, struct error *error)
{
    struct text_builder address;
    enum send_outcome outcome = SEND_UNREACHABLE;
    text_builder_init(&address, ADDRESS_LIMIT_BYTES);
    if (!make_address(sender, recording, &address, error)) {
        text_builder_release(&address);
        return SEND_REFUSED;
    }
    for (unsigned attempt = 0; attempt < attempts && outcome == SEND_UNREACHABLE; attempt++) {
        uint64_t pause_s = (uint64_t)1 << attempt;
        outcome = send_once(sender->post, text_builder_c_string(&address), body, &pause_s, error);
        if (outcome != SEND_UNREACHABLE || error->code == ERROR_UNSUPPORTED || attempt + 1 == attempts)
            break;
        if (waits != NULL)
            waits(context, error->message, pause_s);
        const struct timespec pause = {.tv_sec = (time_t)pause_s};
        nanosleep(&pause, NULL);
    }
    text_builder_release(&address);
    return outcome;
}

bool recording_sender_read_file(const char *path, char **data, size_t *size, struct error *error)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        error_set_system(error, "cannot read");
        if (file != NULL)
            fclose(file);
        return false;
    }
    bool good = (status.st_size >= 0 && (uint64_t)status.st_size <= FILE_LIMIT_BYTES) ||
                error_set(error, ERROR_MEMORY, "is larger than %zu bytes", FILE_LIMIT_BYTES);
    if (good) {
        *size = (size_t)status.st_size;
        *data = malloc(*size + 1);
        good = *data != NULL ? fread(*data, 1, *size, file) == *size || error_set_system(error, "cannot read")
                             : error_set_memory(error);
    }
    fclose(file);
    return good;
}
