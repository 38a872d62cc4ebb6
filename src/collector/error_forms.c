#include "collector/error_forms.h"

#include "base/json_text.h"
#include "base/output.h"
#include "formats/pprof/protobuf_writer.h"

void otlp_write_error(struct http_answer *answer, struct text_view text)
{
    enum { STATUS_MESSAGE = 2 };
    answer->content_type = "application/x-protobuf";
    protobuf_add_bytes(&answer->body, STATUS_MESSAGE, text);
}

void connect_write_error(struct http_answer *answer, struct text_view text)
{
    static const struct {
        unsigned status;
        const char *code;
    } codes[] = {{400, "invalid_argument"}, {401, "unauthenticated"},     {403, "permission_denied"},
                 {404, "not_found"},        {405, "unimplemented"},       {413, "resource_exhausted"},
                 {415, "invalid_argument"}, {422, "failed_precondition"}, {429, "resource_exhausted"},
                 {501, "unimplemented"},    {503, "unavailable"}};
    const char *code = "internal";
    struct output output;
    for (size_t i = 0; i < COUNT_OF(codes); i++)
        if (codes[i].status == answer->status)
            code = codes[i].code;
    answer->content_type = "application/json";
    if (!output_open_memory(&output, &answer->body, NULL))
        return;
    output_format(&output, "{\"code\":\"%s\",\"message\":", code);
    json_text_write(&output, text);
    output_c_string(&output, "}\n");
    /* An error without its text is still one. */
    if (!output_finish(&output, NULL))
        text_builder_clear(&answer->body);
    output_release(&output);
}
