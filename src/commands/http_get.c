#include "commands/http_get.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

/* The numbers of libcurl's interface, which never change; its header is not needed to build. */
enum {
    OPTION_WRITE_DATA = 10001,
    OPTION_ADDRESS = 10002,
    OPTION_ERROR_BUFFER = 10010,
    OPTION_USER_AGENT = 10018,
    OPTION_FAIL_ON_ERROR = 45,
    OPTION_FOLLOW = 52,
    OPTION_NO_SIGNAL = 99,
    OPTION_TIMEOUT_MS = 155,
    OPTION_CONNECT_TIMEOUT_MS = 156,
    OPTION_PROTOCOLS = 181,
    OPTION_WRITE_FUNCTION = 20011,
    PROTOCOL_HTTP = 1,
    PROTOCOL_HTTPS = 2,
    ERROR_BUFFER_BYTES = 256,
};

struct curl {
    void *(*easy_init)(void);
    int (*easy_setopt)(void *handle, int option, ...);
    int (*easy_perform)(void *handle);
    void (*easy_cleanup)(void *handle);
    const char *(*easy_strerror)(int code);
};

static bool load(struct curl *curl, struct error *error)
{
    if (getauxval(AT_BASE) == 0)
        return error_set(error, ERROR_UNSUPPORTED, "a static sparkflame cannot load libcurl");
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    if (library == NULL)
        library = dlopen("libcurl-gnutls.so.4", RTLD_NOW);
    if (library == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "libcurl is not installed (Debian: apt install libcurl4)");
    *(void **)&curl->easy_init = dlsym(library, "curl_easy_init");
    *(void **)&curl->easy_setopt = dlsym(library, "curl_easy_setopt");
    *(void **)&curl->easy_perform = dlsym(library, "curl_easy_perform");
    *(void **)&curl->easy_cleanup = dlsym(library, "curl_easy_cleanup");
    *(void **)&curl->easy_strerror = dlsym(library, "curl_easy_strerror");
    if (curl->easy_init == NULL || curl->easy_setopt == NULL || curl->easy_perform == NULL ||
        curl->easy_cleanup == NULL || curl->easy_strerror == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "this libcurl lacks the easy interface");
    return true;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct text_builder *body = context;
    text_builder_add(body, (struct text_view){bytes, size * count});
    return body->failed ? 0 : size * count;
}

static void set_options(const struct curl *curl, void *handle, const char *address, struct text_builder *body,
                        char *reason)
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
    struct curl curl = {.easy_init = NULL};
    char reason[ERROR_BUFFER_BYTES] = "";
    if (!load(&curl, error))
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
