#include "commands/processes/http_get.h"

#include "commands/processes/curl_library.h"

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct text_builder *body = context;
    text_builder_add(body, (struct text_view){bytes, size * count});
    return body->failed ? 0 : size * count;
}

static void set_options(const struct curl_library *curl, void *handle, const char *address,
                        struct text_builder *body, char *reason)
{
    curl->easy_setopt(handle, OPTION_ADDRESS, address);
    curl->easy_setopt(handle, OPTION_WRITE_FUNCTION, on_bytes);
    curl->easy_setopt(handle, OPTION_WRITE_DATA, body);
    curl->easy_setopt(handle, OPTION_ERROR_BUFFER, reason);
    curl->easy_setopt(handle, OPTION_USER_AGENT, "sparkflame/" SPARKFLAME_VERSION);
    curl->easy_setopt(handle, OPTION_FAIL_ON_ERROR, 1L);
    curl->easy_setopt(handle, OPTION_FOLLOW, 1L);
    curl->easy_setopt(handle, OPTION_NO_SIGNAL, 1L);
    curl->easy_setopt(handle, OPTION_CONNECT_TIMEOUT_MS, 30000L);
    curl->easy_setopt(handle, OPTION_TIMEOUT_MS, 300000L);
    curl->easy_setopt(handle, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
}

bool http_get(const char *address, struct text_builder *body, struct error *error)
{
    struct curl_library curl = {.easy_init = NULL};
    char reason[CURL_ERROR_BYTES] = "";
    if (!curl_library_load(&curl, error))
        return false;
    void *handle = curl.easy_init();
    if (handle == NULL)
        return error_set_memory(error);
    set_options(&curl, handle, address, body, reason);
    int code = curl.easy_perform(handle);
    if (code != 0)
        error_set(error, ERROR_SYSTEM, "%s: %s", address,
                  reason[0] != '\0' ? reason : curl.easy_strerror(code));
    curl.easy_cleanup(handle);
    return code == 0;
}
