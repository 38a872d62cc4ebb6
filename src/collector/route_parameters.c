#include "collector/route_parameters.h"

#include "collector/store/stored_recording.h"

bool route_read_number(struct http_request *request, const char *name, uint64_t limit, uint64_t otherwise,
                       uint64_t *number)
{
    const char *text = http_request_query(request, name);
    *number = otherwise;
    if (text == NULL || (text_to_u64(text_of(text), number) && *number <= limit))
        return true;
    return http_request_fail(request, 400, "%s must be a number of at most %llu", name,
                             (unsigned long long)limit);
}

bool route_read_id(struct http_request *request, const char *name, const char **id)
{
    struct error error = {0};
    char checked[RECORDING_ID_BYTES + 1];
    *id = http_request_query(request, name);
    if (*id == NULL || recording_set_id(checked, name, text_of(*id), &error))
        return true;
    return http_request_fail(request, 400, "%s", error.message);
}

bool route_read_attempt(struct http_request *request, const char **attempt)
{
    *attempt = http_request_query(request, "attempt");
    return (*attempt != NULL && (*attempt)[0] == '\0') || route_read_id(request, "attempt", attempt);
}

bool route_read_times(struct http_request *request, const char *from, const char *to, int64_t *from_ms,
                      int64_t *to_ms)
{
    uint64_t first, end;
    if (!route_read_number(request, from, INT64_MAX, 0, &first) ||
        !route_read_number(request, to, INT64_MAX, INT64_MAX, &end))
        return false;
    *from_ms = (int64_t)first;
    *to_ms = (int64_t)end;
    return true;
}

bool route_read_selection(struct http_request *request, struct recording_query *query)
{
    *query = (struct recording_query){.group = NULL};
    return route_read_id(request, "group", &query->group) &&
           route_read_id(request, "application", &query->application) &&
           route_read_attempt(request, &query->attempt) &&
           route_read_id(request, "executor", &query->executor) &&
           route_read_times(request, "from", "to", &query->from_ms, &query->to_ms);
}
