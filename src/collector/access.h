/*
 * access.h - whether a request may do what it asks for: its token, or without tokens that it comes from this machine
 * and neither from a foreign web page nor through a proxy.
 */
#ifndef COLLECTOR_ACCESS_H
#define COLLECTOR_ACCESS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "collector/http/http_request.h"
#include "collector/tokens.h"

struct access_rules {
    struct tokens *tokens;
    bool is_loopback; /* then no tokens are needed, as long as there were none */
};

/* Who sends the request. False: the answer is set, 401 or 403. */
bool access_identify(const struct access_rules *rules, struct http_request *request,
                     struct token_grant *grant) MUST_CHECK;

#endif
