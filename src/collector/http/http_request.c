#include "collector/http/http_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "collector/libraries/http_library.h"

/* Parameters of one name, or the first of them. */
struct query_search {
    const char *name;
    bool (*take)(void *context, struct text_view value);
    void *context;
    bool good;
};

static enum MHD_Result look_at_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                         size_t name_size, const char *value, size_t value_size)
{
    struct query_search *search = context;
    if (!text_equal((struct text_view){name, name_size}, text_of(search->name)))
        return MHD_YES;
    search->good = search->take(search->context, (struct text_view){value == NULL ? "" : value, value_size});
    return search->good ? MHD_YES : MHD_NO;
}

bool http_request_each_query(const struct http_request *request, const char *name,
                             bool (*take)(void *context, struct text_view value), void *context)
{
    struct query_search search = {name, take, context, true};
    http.MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, look_at_parameter, &search);
    return search.good;
}

static bool keep_first(void *context, struct text_view value)
{
    const char **found = context;
    if (memchr(value.data, '\0', value.size) == NULL)
        *found = value.data;
    return false;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
    const char *value = NULL;
    http_request_each_query(request, name, keep_first, &value);
    return value;
}

static enum MHD_Result look_for_zero(void *context, enum MHD_ValueKind kind, const char *name,
                                     size_t name_size, const char *value, size_t value_size)
{
    bool *found = context;
    *found = *found || memchr(name, '\0', name_size) != NULL ||
             (value != NULL && memchr(value, '\0', value_size) != NULL);
    return MHD_YES;
}

bool http_request_query_is_cut(const struct http_request *request)
{
    bool found = false;
    http.MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, look_for_zero, &found);
    return found;
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    return http.MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void http_answer_header(struct http_answer *answer, const char *name, const char *format, ...)
{
    va_list arguments;
    if (answer->header_count == HTTP_ANSWER_HEADERS)
        return;
    va_start(arguments, format);
    vsnprintf(answer->headers[answer->header_count].value, sizeof(answer->headers[0].value), format,
              arguments);
    va_end(arguments);
    answer->headers[answer->header_count++].name = name;
}

bool http_request_fail(struct http_request *request, unsigned status, const char *format, ...)
{
    char text[1200];
    struct output output;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    request->answer.status = status;
    request->answer.content_type = "application/json";
    text_builder_clear(&request->answer.body);
    if (request->write_error != NULL) {
        request->write_error(&request->answer, text_of(text));
        return false;
    }
    if (!output_open_memory(&output, &request->answer.body, NULL))
        return false;
    output_c_string(&output, "{\"error\":");
    json_text_write(&output, text_of(text));
    output_c_string(&output, "}\n");
    /* An error without its text is still one. */
    if (!output_finish(&output, NULL))
        text_builder_clear(&request->answer.body);
    output_release(&output);
    return false;
}

bool http_request_fail_busy(struct http_request *request, const char *why)
{
    http_answer_header(&request->answer, "Retry-After", "5");
    return http_request_fail(request, 503, "%s", why);
}
