#include "collector/routes.h"

#include <stdlib.h>
#include <string.h>

#include "collector/error_forms.h"
#include "collector/http/http_watch.h"
#include "collector/route.h"

/* Where the group of a request stands. true and false of the table are the first two. */
enum route_group { NO_GROUP, QUERY_GROUP, TENANT_GROUP };

/* Of senders that know no groups. */
#define DEFAULT_GROUP "default"

struct route {
    const char *method;
    const char *path;
    enum token_scope scope;
    enum route_group needs_group;
    bool (*run)(struct admitted *admitted, struct http_request *request);
};

static const struct route routes[] = {
#define ROUTE(method, path, scope, needs_group, name) {method, path, scope, needs_group, route_##name},
#include "collector/route_table.def"
#undef ROUTE
};

static bool path_matches(const struct route *route, const char *path)
{
    size_t size = strlen(route->path);
    return size > 1 && route->path[size - 1] == '/' ? strncmp(route->path, path, size) == 0
                                                    : strcmp(route->path, path) == 0;
}

/* NULL: the answer is set, 404 or 405. */
static const struct route *find_route(struct http_request *request)
{
    const char *allowed = NULL;
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        if (!path_matches(&routes[i], request->path))
            continue;
        if (strcmp(routes[i].method, request->method) == 0)
            return &routes[i];
        allowed = routes[i].method;
    }
    if (allowed == NULL) {
        http_request_fail(request, 404, "no such path");
        return NULL;
    }
    http_answer_header(&request->answer, "Allow",
                       strcmp(request->path, "/v1/recordings") == 0 ? "GET, POST" : "%s", allowed);
    http_request_fail(request, 405, "the path does not take this method");
    return NULL;
}

/* As Pyroscope's clients name their tenant; else the one that the token is for. */
static const char *tenant_of(const struct http_request *request, const struct token_grant *grant)
{
    const char *tenant = http_request_header(request, "X-Scope-OrgID");
    if (tenant != NULL)
        return tenant;
    return strcmp(grant->group, "*") == 0 ? DEFAULT_GROUP : grant->group;
}

static bool check_group(const struct route *route, const struct token_grant *grant,
                        struct http_request *request, char group[RECORDING_ID_BYTES + 1])
{
    struct error error = {0};
    if (route->needs_group == NO_GROUP)
        return (grant->scopes & route->scope) != 0 ||
               http_request_fail(request, 403, "the token does not allow this");
    bool is_tenant = route->needs_group == TENANT_GROUP;
    const char *given = is_tenant ? tenant_of(request, grant) : http_request_query(request, "group");
    if (!recording_set_id(group, is_tenant ? "X-Scope-OrgID" : "group", text_of(given == NULL ? "" : given),
                          &error))
        return http_request_fail(request, 400, "%s", error.message);
    return token_allows(grant, route->scope, group) ||
           http_request_fail(request, 403, "the token does not allow this");
}

/* What a group sends counts when it is here, so that one that has sent too much has to wait. */
static bool check_rate(struct collector *collector, const struct route *route, const char *group,
                       struct http_request *request)
{
    uint64_t wait_s = 0;
    if (route->scope != SCOPE_WRITE ||
        group_settings_admit(collector->groups, group, http_watch_now_ms(), &wait_s))
        return true;
    http_answer_header(&request->answer, "Retry-After", "%llu", (unsigned long long)wait_s);
    return http_request_fail(request, 429, "the group %s sends more than it may", group);
}

/* As clients of other systems expect errors. */
static void set_error_form(struct http_request *request)
{
    if (strncmp(request->path, "/v1development/", strlen("/v1development/")) == 0)
        request->write_error = otlp_write_error;
    else if (strncmp(request->path, "/querier.v1.", strlen("/querier.v1.")) == 0)
        request->write_error = connect_write_error;
}

bool routes_admit(void *context, struct http_request *request)
{
    struct collector *collector = context;
    struct token_grant grant;
    const struct route *route;
    char group[RECORDING_ID_BYTES + 1] = "";
    set_error_form(request);
    if (!access_identify(&collector->access, request, &grant) || (route = find_route(request)) == NULL ||
        !check_group(route, &grant, request, group) || !check_rate(collector, route, group, request))
        return false;
    if (http_request_query_is_cut(request))
        return http_request_fail(request, 400, "a parameter contains a zero byte");
    struct admitted *admitted = calloc(1, sizeof(*admitted));
    if (admitted == NULL)
        return http_request_fail_busy(request, "out of memory");
    admitted->collector = collector;
    admitted->route = route;
    admitted->grant = grant;
    query_init(&admitted->query);
    memcpy(admitted->group, group, sizeof(group));
    request->attachment = admitted;
    return true;
}

bool routes_handle(void *context, struct http_request *request)
{
    struct admitted *admitted = request->attachment;
    if (admitted->route->scope == SCOPE_WRITE)
        group_settings_charge(admitted->collector->groups, admitted->group, request->body.size,
                              http_watch_now_ms());
    return admitted->route->run(admitted, request);
}

void routes_forget(void *context, struct http_request *request)
{
    struct admitted *admitted = request->attachment;
    if (admitted != NULL) {
        query_release(&admitted->query);
        ingest_batch_free(admitted->batch);
    }
    free(admitted);
    request->attachment = NULL;
}

bool answer_begin(struct http_request *request, struct output *output)
{
    struct error error = {0};
    request->answer.status = 200;
    request->answer.content_type = "application/json";
    return output_open_memory(output, &request->answer.body, &error) ||
           http_request_fail_busy(request, error.message);
}

bool answer_end(struct http_request *request, struct output *output, bool good, const struct error *error)
{
    struct error writing = {0};
    if (!good && error->code == ERROR_MEMORY)
        http_request_fail_busy(request, error->message);
    else if (!good)
        http_request_fail(request, 500, "%s", error->message);
    else if (!output_finish(output, &writing))
        http_request_fail(request, 500, "%s", writing.message);
    output_release(output);
    return true;
}
