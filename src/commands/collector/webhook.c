#include "commands/collector/webhook.h"

#include <stdlib.h>
#include <string.h>

#include "commands/collector/http_post.h"

enum { REQUEST_SECONDS = 10, ANSWER_BYTES = 64 << 10 };

struct webhook {
    char *address;
    struct http_post *post;
};

struct webhook *webhook_open(const char *address, const char *token, struct error *error)
{
    const struct http_post_options options = {
        .token = token, .content_type = "application/json", .seconds = REQUEST_SECONDS};
    struct webhook *webhook = calloc(1, sizeof(*webhook));
    if (strncmp(address, "http://", 7) != 0 && strncmp(address, "https://", 8) != 0)
        error_set(error, ERROR_USAGE, "the address of a webhook begins with http:// or https://");
    else if (webhook == NULL || (webhook->address = strdup(address)) == NULL)
        error_set_memory(error);
    else if ((webhook->post = http_post_open(&options, error)) != NULL)
        return webhook;
    webhook_close(webhook);
    return NULL;
}

void webhook_close(struct webhook *webhook)
{
    if (webhook == NULL)
        return;
    http_post_close(webhook->post);
    free(webhook->address);
    free(webhook);
}

enum post_outcome webhook_post(void *context, struct text_view json, struct error *error)
{
    struct webhook *webhook = context;
    struct text_builder answer;
    long status = 0;
    uint64_t retry_after_s;
    text_builder_init(&answer, ANSWER_BYTES);
    bool has_answer =
        http_post_send(webhook->post, webhook->address, json, &status, &retry_after_s, &answer, error);
    text_builder_release(&answer);
    if (!has_answer)
        return error->code == ERROR_UNSUPPORTED ? POST_REFUSED : POST_AGAIN;
    if (status >= 200 && status < 300)
        return POST_GOOD;
    error_set(error, ERROR_SYSTEM, "the webhook answered with status %ld", status);
    return status == 408 || status == 429 || status >= 500 ? POST_AGAIN : POST_REFUSED;
}
