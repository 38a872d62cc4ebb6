#include "collector/access.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A name, a colon and a token. */
enum { BASIC_BYTES = 512 };

/* "127.0.0.1:4041": the host that the client believes to speak to. With any other name than these, a web page elsewhere
 * may have let its own name point to this machine. */
static bool is_own_host(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    if (host == NULL)
        return false;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t size = strlen(names[i]);
        if (strncasecmp(host, names[i], size) == 0 && (host[size] == '\0' || host[size] == ':'))
            return true;
    }
    return false;
}

/* Browsers say which site's page sends a request that may change something. */
static bool is_own_origin(const char *origin, const char *host)
{
    const char *at = origin == NULL ? NULL : strstr(origin, "://");
    return origin == NULL || (at != NULL && strcmp(at + 3, host) == 0);
}

/* A page of another site may let the browser send what the user once entered; nothing of it is answered. A link from
 * elsewhere to a page that is shown as a whole is. */
static bool is_from_own_page(const struct http_request *request)
{
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    const char *mode = http_request_header(request, "Sec-Fetch-Mode");
    const char *target = http_request_header(request, "Sec-Fetch-Dest");
    const char *host = http_request_header(request, "Host");
    if (!is_own_origin(http_request_header(request, "Origin"), host == NULL ? "" : host))
        return false;
    bool is_other = site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
    bool is_link = mode != NULL && strcmp(mode, "navigate") == 0 && target != NULL &&
                   strcmp(target, "document") == 0 && strcmp(request->method, "GET") == 0;
    return !is_other || is_link;
}

/* Behind a proxy every client seems to be on this machine. */
static bool came_through_proxy(const struct http_request *request)
{
    static const char *const names[] = {"Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (http_request_header(request, names[i]) != NULL)
            return true;
    return false;
}

static bool identify_local(struct http_request *request, struct token_grant *grant)
{
    const char *host = http_request_header(request, "Host");
    if (!is_own_host(host) || !is_from_own_page(request))
        return http_request_fail(request, 403, "without tokens only requests to localhost are answered");
    if (came_through_proxy(request))
        return http_request_fail(request, 403,
                                 "requests that come through a proxy need a token: add one with --add-token");
    *grant = (struct token_grant){.scopes = SCOPE_READ | SCOPE_WRITE, .group = "*"};
    return true;
}

static int digit_of_base64(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

/* The password of "dXNlcjpwYXNzd29yZA==", which is the token; the user's name does not matter. */
static struct text_view basic_password(const char *encoded, char decoded[BASIC_BYTES])
{
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t size = 0;
    for (; digit_of_base64(*encoded) >= 0 && size < BASIC_BYTES; encoded++) {
        bits = bits << 6 | (uint32_t)digit_of_base64(*encoded);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            decoded[size++] = (char)(bits >> bit_count & 0xff);
        }
    }
    struct text_view password = {decoded, size};
    text_cut(&password, ':');
    return password;
}

/* Of a program (Bearer), or of a browser that asked its user (Basic). False: there is none. */
static bool read_token(const struct http_request *request, char decoded[BASIC_BYTES], struct text_view *token)
{
    const char *header = http_request_header(request, "Authorization");
    if (header != NULL && strncasecmp(header, "Bearer ", 7) == 0) {
        *token = text_trim(text_of(header + 7));
        return true;
    }
    if (header == NULL || strncasecmp(header, "Basic ", 6) != 0)
        return false;
    *token = basic_password(header + 6 + strspn(header + 6, " "), decoded);
    return is_from_own_page(request);
}

static bool fail_unknown(struct http_request *request)
{
    const char *accepts = http_request_header(request, "Accept");
    http_answer_header(&request->answer, "WWW-Authenticate", "Bearer");
    /* Then a browser asks its user. */
    if (accepts != NULL && strstr(accepts, "text/html") != NULL)
        http_answer_header(&request->answer, "WWW-Authenticate", "Basic realm=\"sparkflame\"");
    return http_request_fail(request, 401, "a token is needed");
}

bool access_identify(const struct access_rules *rules, struct http_request *request,
                     struct token_grant *grant)
{
    char decoded[BASIC_BYTES];
    struct text_view token;
    if (rules->is_loopback && !tokens_exist(rules->tokens))
        return identify_local(request, grant);
    if (!read_token(request, decoded, &token) || !tokens_find(rules->tokens, token, grant))
        return fail_unknown(request);
    snprintf(request->who, sizeof(request->who), "%s", grant->id);
    return true;
}
