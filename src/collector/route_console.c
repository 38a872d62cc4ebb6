/*
 * route_console.c - GET /, the web page, and GET /api, the description of the interface.
 */
#include "collector/openapi.h"
#include "collector/route.h"
#include "render/console_page.h"

bool route_get_console(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    if (!answer_begin(request, &output))
        return true;
    request->answer.content_type = "text/html; charset=utf-8";
    http_answer_header(&request->answer, "Content-Security-Policy", "frame-ancestors 'none'");
    bool good = console_page_write(&output, &error);
    return answer_end(request, &output, good, &error);
}

bool route_get_api(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    if (!answer_begin(request, &output))
        return true;
    output_text(&output, (struct text_view){openapi, openapi_size});
    return answer_end(request, &output, true, &error);
}
