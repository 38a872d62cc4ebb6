/*
 * curl_library.h - libcurl's easy interface, loaded only when it is needed, so that other commands start without it.
 *
 * Its constants are those of libcurl's stable ABI, to build without its header.
 */
#ifndef COMMANDS_CURL_LIBRARY_H
#define COMMANDS_CURL_LIBRARY_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"

enum {
    OPTION_POST = 47,
    OPTION_FAIL_ON_ERROR = 45,
    OPTION_FOLLOW = 52,
    OPTION_NO_SIGNAL = 99,
    OPTION_TIMEOUT_MS = 155,
    OPTION_CONNECT_TIMEOUT_MS = 156,
    OPTION_PROTOCOLS = 181,
    OPTION_WRITE_DATA = 10001,
    OPTION_ADDRESS = 10002,
    OPTION_ERROR_BUFFER = 10010,
    OPTION_POST_BYTES = 10015,
    OPTION_USER_AGENT = 10018,
    OPTION_HEADERS = 10023,
    OPTION_CERTIFICATES = 10065,
    OPTION_WRITE_FUNCTION = 20011,
    OPTION_POST_SIZE = 30120,
    INFO_STATUS = 0x200002,
    INFO_REQUEST_BYTES = 0x20000c,
    INFO_RETRY_AFTER = 0x600039,
    PROTOCOL_HTTP = 1,
    PROTOCOL_HTTPS = 2,
    CURL_ERROR_BYTES = 256,
};

struct curl_library {
    void *(*easy_init)(void);
    int (*easy_setopt)(void *handle, int option, ...);
    int (*easy_perform)(void *handle);
    int (*easy_getinfo)(void *handle, int info, ...);
    void (*easy_cleanup)(void *handle);
    const char *(*easy_strerror)(int code);
    void *(*list_append)(void *list, const char *text);
    void (*list_free)(void *list);
};

bool curl_library_load(struct curl_library *curl, struct error *error) MUST_CHECK;

#endif
