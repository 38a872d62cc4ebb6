/*
 * route_query.c - GET of groups, applications and recordings.
 */
#include <stdio.h>

#include "base/json_text.h"
#include "collector/route.h"
#include "collector/route_parameters.h"

enum { LIST_DEFAULT = 1000, LIST_LIMIT = 10000 };

static void write_member(struct output *output, const char *name, const char *text)
{
    output_format(output, ",\"%s\":", name);
    json_text_write(output, text_of(text));
}

/* ---- groups and applications ---- */

struct sum_listing {
    struct collector *collector;
    struct output *output;
    const struct token_grant *grant;
    size_t count;
};

static bool write_sum(void *context, const struct recording_sum *sum)
{
    struct sum_listing *listing = context;
    struct output *output = listing->output;
    if (!token_allows(listing->grant, SCOPE_READ, sum->group))
        return true;
    output_format(output, "%s{\"group\":", listing->count++ > 0 ? "," : "");
    json_text_write(output, text_of(sum->group));
    if (sum->application != NULL) {
        write_member(output, "application", sum->application);
        write_member(output, "attempt", sum->attempt);
        output_format(output, ",\"executors\":%llu", (unsigned long long)sum->executors);
    } else {
        struct group_limits limits;
        group_settings_find(listing->collector->groups, sum->group, &limits);
        output_format(output, ",\"applications\":%llu", (unsigned long long)sum->applications);
        if (limits.price_core_hour > 0)
            output_format(output, ",\"price_core_hour\":%.15g", limits.price_core_hour);
    }
    output_format(output, ",\"recordings\":%llu,\"bytes\":%llu,\"first_ms\":%lld,\"last_ms\":%lld}",
                  (unsigned long long)sum->recordings, (unsigned long long)sum->bytes,
                  (long long)sum->first_ms, (long long)sum->last_ms);
    return true;
}

bool route_list_groups(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    struct sum_listing listing = {admitted->collector, &output, &admitted->grant, 0};
    if (!answer_begin(request, &output))
        return true;
    output_c_string(&output, "{\"groups\":[");
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = recording_index_each_group(index, write_sum, &listing, &error);
    store_reader_unlock(admitted->collector->reader);
    output_c_string(&output, "]}\n");
    return answer_end(request, &output, good, &error);
}

bool route_list_applications(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    struct sum_listing listing = {admitted->collector, &output, &admitted->grant, 0};
    uint64_t limit;
    if (!route_read_number(request, "limit", LIST_LIMIT, LIST_DEFAULT, &limit) ||
        !answer_begin(request, &output))
        return true;
    output_c_string(&output, "{\"applications\":[");
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = recording_index_each_application(index, http_request_query(request, "group"), limit,
                                                 write_sum, &listing, &error);
    store_reader_unlock(admitted->collector->reader);
    output_c_string(&output, "]}\n");
    return answer_end(request, &output, good, &error);
}

/* ---- recordings ---- */

static void write_labels(struct output *output, const char *labels)
{
    struct text_view rest = text_of(labels);
    output_c_string(output, ",\"labels\":{");
    for (size_t i = 0; rest.size > 0; i++) {
        struct text_view value = text_cut(&rest, '\n');
        struct text_view name = text_cut(&value, '=');
        output_c_string(output, i > 0 ? "," : "");
        json_text_write(output, name);
        output_byte(output, ':');
        json_text_write(output, value);
    }
    output_byte(output, '}');
}

struct recording_listing {
    struct output *output;
    size_t count;
};

static bool write_recording(void *context, const struct stored_recording *recording)
{
    struct recording_listing *listing = context;
    struct output *output = listing->output;
    output_format(output, "%s{\"recording\":%llu", listing->count++ > 0 ? "," : "",
                  (unsigned long long)recording->number);
    write_member(output, "group", recording->group);
    write_member(output, "application", recording->application);
    write_member(output, "attempt", recording->attempt);
    write_member(output, "executor", recording->executor);
    output_format(output, ",\"sequence\":%llu", (unsigned long long)recording->sequence);
    write_member(output, "format", recording->kind);
    write_labels(output, recording->labels);
    output_format(output, ",\"received_ms\":%lld,\"bytes\":%u}", (long long)recording->received_ms,
                  recording->body_bytes);
    return true;
}

bool route_list_recordings(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    struct recording_listing listing = {&output, 0};
    uint64_t from_ms, to_ms;
    struct recording_query query = {
        .group = http_request_query(request, "group"),
        .application = http_request_query(request, "application"),
        .attempt = http_request_query(request, "attempt"),
        .executor = http_request_query(request, "executor"),
    };
    if (!route_read_number(request, "from", INT64_MAX, 0, &from_ms) ||
        !route_read_number(request, "to", INT64_MAX, INT64_MAX, &to_ms) ||
        !route_read_number(request, "after", INT64_MAX, 0, &query.after) ||
        !route_read_number(request, "limit", LIST_LIMIT, LIST_DEFAULT, &query.limit) ||
        !answer_begin(request, &output))
        return true;
    query.from_ms = (int64_t)from_ms;
    query.to_ms = (int64_t)to_ms;
    output_c_string(&output, "{\"recordings\":[");
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = recording_index_each(index, &query, write_recording, &listing, &error);
    store_reader_unlock(admitted->collector->reader);
    output_c_string(&output, "]}\n");
    return answer_end(request, &output, good, &error);
}

/* A recording as it was received. That of another group is not found: a token learns nothing of it. */
bool route_get_recording(struct admitted *admitted, struct http_request *request)
{
    struct error error = {0};
    struct stored_recording recording;
    uint64_t number = 0;
    bool found = false;
    bool good = true;
    if (text_to_u64(text_from(text_of(request->path), strlen("/v1/recordings/")), &number) &&
        number <= INT64_MAX) {
        struct recording_index *index = store_reader_lock(admitted->collector->reader);
        good = recording_index_get(index, number, &found, &recording, &error);
        store_reader_unlock(admitted->collector->reader);
    }
    if (good && (!found || !token_allows(&admitted->grant, SCOPE_READ, recording.group)))
        http_request_fail(request, 404, "no such recording");
    else if (good && !http_request_reserve(request, recording.body_bytes))
        http_request_fail_busy(request, "too many bodies at a time");
    else if (!good ||
             !store_reader_body(admitted->collector->reader, &recording, &request->answer.body, &error))
        http_request_fail(request, 500, "%s", error.message);
    else {
        request->answer.status = 200;
        request->answer.content_type = "application/octet-stream";
        http_answer_header(&request->answer, "Content-Disposition", "attachment; filename=\"%llu.%s\"",
                           (unsigned long long)number, recording.kind);
    }
    return true;
}
