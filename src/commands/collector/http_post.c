#include "commands/collector/http_post.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands/processes/curl_library.h"

enum { TOKEN_LIMIT_BYTES = 1024, REQUEST_SECONDS = 300, CONNECT_SECONDS = 30 };

struct http_post {
    struct curl_library curl;
    void *handle;
    void *headers;
    char reason[CURL_ERROR_BYTES];
};

/* What is more than the limit is dropped. */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct text_builder *answer = context;
    size_t left = answer->limit_bytes - answer->size;
    text_builder_add(answer, (struct text_view){bytes, size * count < left ? size * count : left});
    return answer->failed ? 0 : size * count;
}

static bool add_header(struct http_post *post, const char *text, struct error *error)
{
    void *headers = post->curl.list_append(post->headers, text);
    if (headers == NULL)
        return error_set_memory(error);
    post->headers = headers;
    return true;
}

static bool set_up(struct http_post *post, const struct http_post_options *options, struct error *error)
{
    char header[TOKEN_LIMIT_BYTES + 32];
    const char *token = options->token;
    long seconds = options->seconds == 0 ? REQUEST_SECONDS : (long)options->seconds;
    long connect_seconds = seconds < CONNECT_SECONDS ? seconds : CONNECT_SECONDS;
    if (!curl_library_load(&post->curl, error))
        return false;
    post->handle = post->curl.easy_init();
    if (post->handle == NULL)
        return error_set_memory(error);
    if (token != NULL) {
        if (strlen(token) > TOKEN_LIMIT_BYTES || token[strcspn(token, "\r\n")] != '\0')
            return error_set(error, ERROR_USAGE, "the token is not one line of text");
        snprintf(header, sizeof(header), "Authorization: Bearer %s", token);
        if (!add_header(post, header, error))
            return false;
    }
    snprintf(header, sizeof(header), "Content-Type: %s",
             options->content_type == NULL ? "application/octet-stream" : options->content_type);
    if (!add_header(post, header, error))
        return false;
    if (options->header != NULL && !add_header(post, options->header, error))
        return false;
    if (options->certificates != NULL)
        post->curl.easy_setopt(post->handle, OPTION_CERTIFICATES, options->certificates);
    post->curl.easy_setopt(post->handle, OPTION_HEADERS, post->headers);
    post->curl.easy_setopt(post->handle, OPTION_POST, 1L);
    post->curl.easy_setopt(post->handle, OPTION_WRITE_FUNCTION, on_bytes);
    post->curl.easy_setopt(post->handle, OPTION_ERROR_BUFFER, post->reason);
    post->curl.easy_setopt(post->handle, OPTION_USER_AGENT, "sparkflame/" SPARKFLAME_VERSION);
    post->curl.easy_setopt(post->handle, OPTION_NO_SIGNAL, 1L);
    post->curl.easy_setopt(post->handle, OPTION_CONNECT_TIMEOUT_MS, connect_seconds * 1000);
    post->curl.easy_setopt(post->handle, OPTION_TIMEOUT_MS, seconds * 1000);
    post->curl.easy_setopt(post->handle, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
    return true;
}

struct http_post *http_post_open(const struct http_post_options *options, struct error *error)
{
    struct http_post *post = calloc(1, sizeof(*post));
    if (post == NULL) {
        error_set_memory(error);
        return NULL;
    }
    if (set_up(post, options, error))
        return post;
    http_post_close(post);
    return NULL;
}

void http_post_close(struct http_post *post)
{
    if (post == NULL)
        return;
    if (post->headers != NULL)
        post->curl.list_free(post->headers);
    if (post->handle != NULL)
        post->curl.easy_cleanup(post->handle);
    free(post);
}

/* Whether another attempt has the same result: of the address, or of certificates. */
static bool is_permanent(int code)
{
    enum {
        UNSUPPORTED_PROTOCOL = 1,
        BAD_ADDRESS = 3,
        OWN_CERTIFICATE = 58,
        THEIR_CERTIFICATE = 60,
        NO_CERTIFICATES = 77
    };
    return code == UNSUPPORTED_PROTOCOL || code == BAD_ADDRESS || code == OWN_CERTIFICATE ||
           code == THEIR_CERTIFICATE || code == NO_CERTIFICATES;
}

bool http_post_was_sent(const struct http_post *post)
{
    long bytes = 0;
    post->curl.easy_getinfo(post->handle, INFO_REQUEST_BYTES, &bytes);
    return bytes > 0;
}

bool http_post_send(struct http_post *post, const char *address, struct text_view body, long *status,
                    uint64_t *retry_after_s, struct text_builder *answer, struct error *error)
{
    long long retry = 0;
    post->reason[0] = '\0';
    post->curl.easy_setopt(post->handle, OPTION_ADDRESS, address);
    post->curl.easy_setopt(post->handle, OPTION_POST_BYTES, body.data);
    post->curl.easy_setopt(post->handle, OPTION_POST_SIZE, (long long)body.size);
    post->curl.easy_setopt(post->handle, OPTION_WRITE_DATA, answer);
    int code = post->curl.easy_perform(post->handle);
    if (code != 0)
        return error_set(error, is_permanent(code) ? ERROR_UNSUPPORTED : ERROR_SYSTEM, "%s",
                         post->reason[0] != '\0' ? post->reason : post->curl.easy_strerror(code));
    post->curl.easy_getinfo(post->handle, INFO_STATUS, status);
    post->curl.easy_getinfo(post->handle, INFO_RETRY_AFTER, &retry);
    *retry_after_s = retry > 0 ? (uint64_t)retry : 0;
    return true;
}
