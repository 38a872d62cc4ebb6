/*
 * route_metrics.c - GET /metrics, in the text format of Prometheus.
 */
#include <string.h>

#include "collector/route.h"

static void write_metric(struct output *output, const char *type, const char *name, const char *help,
                         uint64_t value)
{
    output_format(output, "# HELP sparkflame_collector_%s %s\n# TYPE sparkflame_collector_%s %s\n", name,
                  help, name, type);
    output_format(output, "sparkflame_collector_%s %llu\n", name, (unsigned long long)value);
}

static void write_server(struct output *output, struct http_server *server)
{
    struct http_counts counts;
    http_server_count(server, &counts);
    write_metric(output, "counter", "requests_total", "Requests, of any kind.", counts.requests);
    write_metric(output, "gauge", "connections", "Open connections.", counts.connections);
    write_metric(output, "counter", "deadlines_total", "Connections closed since they were too slow.",
                 counts.deadlines);
    write_metric(output, "gauge", "body_bytes", "Bytes of bodies in memory.", counts.body_bytes);
    output_c_string(output, "# HELP sparkflame_collector_answers_total Answers by status.\n"
                            "# TYPE sparkflame_collector_answers_total counter\n");
    for (size_t i = 2; i < COUNT_OF(counts.statuses); i++)
        output_format(output, "sparkflame_collector_answers_total{status=\"%zuxx\"} %llu\n", i,
                      (unsigned long long)counts.statuses[i]);
}

static void write_commits(struct output *output, struct committer *committer)
{
    static const char *const names[] = {[STORE_NEW] = "stored",
                                        [STORE_KNOWN] = "known",
                                        [STORE_CONFLICT] = "conflict",
                                        [STORE_FULL] = "full",
                                        [STORE_FAILED] = "failed"};
    struct committer_counts counts;
    committer_count(committer, &counts);
    write_metric(output, "counter", "commits_total", "Batches of recordings that were written and synced.",
                 counts.batches);
    write_metric(output, "gauge", "commits_waiting", "Recordings that wait for the next batch.",
                 counts.waiting);
    write_metric(output, "counter", "commit_microseconds_total", "Time spent writing and syncing.",
                 counts.sync_us);
    output_c_string(output,
                    "# HELP sparkflame_collector_recordings_total Recordings received since the start.\n"
                    "# TYPE sparkflame_collector_recordings_total counter\n");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        output_format(output, "sparkflame_collector_recordings_total{result=\"%s\"} %llu\n", names[i],
                      (unsigned long long)counts.results[i]);
}

static void write_queries(struct output *output, struct query_runner *queries)
{
    static const char *const names[] = {
        [CHILD_GOOD] = "good",        [CHILD_FAILED] = "failed",       [CHILD_MISUSED] = "misused",
        [CHILD_LATE] = "late",        [CHILD_TOO_LARGE] = "too_large", [CHILD_STOPPED] = "stopped",
        [CHILD_NO_START] = "no_start"};
    struct query_counts counts;
    query_runner_count(queries, &counts);
    write_metric(output, "gauge", "queries_waiting", "Queries that wait for a process.", counts.waiting);
    write_metric(output, "gauge", "queries_running", "Queries that run.", counts.running);
    output_c_string(output, "# HELP sparkflame_collector_queries_total Queries since the start, by outcome.\n"
                            "# TYPE sparkflame_collector_queries_total counter\n");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        output_format(output, "sparkflame_collector_queries_total{outcome=\"%s\"} %llu\n", names[i],
                      (unsigned long long)counts.outcomes[i]);
}

static void write_regressions(struct output *output, struct regression_watch *watch)
{
    struct regression_counts counts;
    regression_watch_count(watch, &counts);
    write_metric(output, "gauge", "watched_applications", "Applications that will be compared when they end.",
                 counts.watched);
    write_metric(output, "counter", "comparisons_total", "Applications compared with their earlier runs.",
                 counts.checked);
    write_metric(output, "counter", "comparisons_failed_total", "Of these, those that failed.",
                 counts.failed);
    write_metric(output, "counter", "regressions_total", "Regressions found.", counts.found);
    write_metric(output, "counter", "reports_total", "Regressions reported to the webhook.", counts.reported);
    write_metric(output, "counter", "reports_given_up_total", "Regressions that it did not take.",
                 counts.given_up);
}

static void write_rollups(struct output *output, const struct rollup_thread *rollups)
{
    struct rollup_counts counts;
    rollup_thread_count(rollups, &counts);
    write_metric(output, "counter", "rollups_total", "Roll-ups made since the start.", counts.built);
    write_metric(output, "counter", "rollups_failed_total", "Roll-ups that could not be made.",
                 counts.failed);
}

bool route_metrics(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    struct index_totals totals = {0};
    if (strcmp(admitted->grant.group, "*") != 0) {
        http_request_fail(request, 403, "the token does not allow this");
        return true;
    }
    if (!answer_begin(request, &output))
        return true;
    request->answer.content_type = "text/plain; version=0.0.4";
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = recording_index_totals(index, &totals, &error);
    store_reader_unlock(admitted->collector->reader);
    write_metric(&output, "gauge", "stored_recordings", "Recordings in the store.", totals.recordings);
    write_metric(&output, "gauge", "stored_bytes", "Bytes of recordings in the store.", totals.bytes);
    write_server(&output, admitted->collector->server);
    write_commits(&output, admitted->collector->committer);
    write_queries(&output, admitted->collector->queries);
    write_regressions(&output, admitted->collector->regressions);
    write_rollups(&output, admitted->collector->rollups);
    return answer_end(request, &output, good, &error);
}
