/*
 * error_forms.h - the text of an error as clients of other systems expect it, for http_request.write_error.
 */
#ifndef COLLECTOR_ERROR_FORMS_H
#define COLLECTOR_ERROR_FORMS_H

#include "base/text_view.h"
#include "collector/http/http_request.h"

/* A protobuf message google.rpc.Status. */
void otlp_write_error(struct http_answer *answer, struct text_view text);

/* The JSON of the Connect protocol, with a code for the status. */
void connect_write_error(struct http_answer *answer, struct text_view text);

#endif
