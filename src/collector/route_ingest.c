/*
 * route_ingest.c - POST /v1/recordings.
 */
#include <stdio.h>

#include "collector/content.h"
#include "collector/route.h"

/* A parameter that is an identifier. */
static bool read_id(const struct http_request *request, const char *name, bool is_optional,
                    char to[RECORDING_ID_BYTES + 1], struct error *error)
{
    const char *value = http_request_query(request, name);
    if (value == NULL && is_optional)
        return true;
    return recording_set_id(to, name, text_of(value == NULL ? "" : value), error);
}

struct label_reading {
    struct stored_recording *recording;
    struct error *error;
};

static bool read_label(void *context, struct text_view label)
{
    struct label_reading *reading = context;
    return recording_add_label(reading->recording, label, reading->error);
}

static bool read_description(const struct http_request *request, struct stored_recording *recording,
                             struct error *error)
{
    struct label_reading reading = {recording, error};
    const char *sequence = http_request_query(request, "sequence");
    if (!read_id(request, "group", false, recording->group, error) ||
        !read_id(request, "application", false, recording->application, error) ||
        !read_id(request, "attempt", true, recording->attempt, error) ||
        !read_id(request, "executor", false, recording->executor, error))
        return false;
    if (sequence == NULL || !text_to_u64(text_of(sequence), &recording->sequence) ||
        recording->sequence > INT64_MAX)
        return error_set(error, ERROR_BAD_INPUT, "sequence must be a number from 0 to 2^63-1");
    return http_request_each_query(request, "label", read_label, &reading);
}

static void answer(struct http_request *request, const struct commit *commit)
{
    switch (commit->result) {
    case STORE_NEW:
    case STORE_KNOWN:
        request->answer.status = commit->result == STORE_NEW ? 201 : 200;
        request->answer.content_type = "application/json";
        text_builder_format(&request->answer.body, "{\"recording\":%llu,\"status\":\"%s\"}\n",
                            (unsigned long long)commit->recording.number,
                            commit->result == STORE_NEW ? "stored" : "known");
        return;
    case STORE_CONFLICT:
        http_request_fail(request, 409,
                          "another recording has this group, application, attempt, executor and "
                          "sequence");
        return;
    case STORE_FULL:
        http_answer_header(&request->answer, "Retry-After", "60");
        http_request_fail(request, 507, "%s", commit->error.message);
        return;
    case STORE_FAILED:
        http_answer_header(&request->answer, "Retry-After", "30");
        http_request_fail(request, 503, "%s", commit->error.message);
        return;
    }
}

static void on_stored(struct commit *commit)
{
    struct http_request *request = commit->context;
    const struct admitted *admitted = request->attachment;
    if (commit->result == STORE_NEW)
        regression_watch_note(admitted->collector->regressions, &commit->recording);
    answer(request, commit);
    http_request_finish(request);
}

bool route_post_recording(struct admitted *admitted, struct http_request *request)
{
    static const unsigned statuses[] = {
        [CONTENT_DAMAGED] = 422, [CONTENT_TOO_LARGE] = 413, [CONTENT_UNKNOWN] = 415};
    struct commit *commit = &admitted->commit;
    struct error error = {0};
    if (!read_description(request, &commit->recording, &error)) {
        http_request_fail(request, 400, "%s", error.message);
        return true;
    }
    enum content_finding finding =
        content_recognize(text_builder_view(&request->body), admitted->collector->options.unpacked_bytes,
                          &commit->recording, &error);
    if (finding == CONTENT_NO_MEMORY) {
        http_request_fail_busy(request, error.message);
        return true;
    }
    if (finding != CONTENT_GOOD) {
        http_request_fail(request, statuses[finding], "%s", error.message);
        return true;
    }
    commit->body = text_builder_view(&request->body);
    commit->context = request;
    commit->done = on_stored;
    http_request_later(request);
    if (!committer_add(admitted->collector->committer, commit)) {
        http_request_fail_busy(request, "the collector is stopping");
        http_request_finish(request);
    }
    return false;
}
