#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "collector/collector.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/rollups/rollup_builder.h"
#include "collector/tokens.h"
#include "commands/collector/forwarder.h"
#include "commands/collector/webhook.h"
#include "commands/command.h"
#include "input/byte_source.h"

extern const struct command command_serve;

#define MIB ((uint64_t)1 << 20)
#define SEGMENT_BYTES (64 * MIB)
#define HOUR_MS ((int64_t)3600 * 1000)
/* Of any number of MiB or days that an option takes. */
#define NUMBER_LIMIT ((uint64_t)1 << 30)
#define PEM_LIMIT_BYTES ((size_t)1 << 20)

enum { HEADER_SECONDS = 10, IDLE_SECONDS = 75, STOP_SECONDS = 15, CHECK_ROLLUP_SECONDS = 3600 };

static struct serve_options {
    const char *data;
    const char *listen;
    const char *certificate;
    const char *key;
    const char *add_token;
    const char *remove_token;
    const char *webhook;
    const char *forward;
    uint64_t forward_seconds;
    bool check;
    bool logs_all;
    uint64_t keep_days;
    uint64_t keep_mib;
    uint64_t min_free_mib;
    uint64_t max_body_mib;
    uint64_t max_unpacked_mib;
    uint64_t max_bodies_mib;
    uint64_t max_connections;
    uint64_t request_seconds;
    uint64_t threads;
    uint64_t queries;
    uint64_t query_seconds;
    uint64_t query_memory_mib;
    uint64_t query_answer_mib;
    uint64_t ended_seconds;
} options;

static const struct option server_options[] = {
    {"data", 'd', OPTION_TEXT, offsetof(struct serve_options, data), "DIR",
     "The data directory; created if there is none. One process uses it at a time."},
    {"listen", 'l', OPTION_TEXT, offsetof(struct serve_options, listen), "HOST:PORT",
     "Where to listen (default: 127.0.0.1:4041). Other machines can be answered only with tokens."},
    {"certificate", 0, OPTION_TEXT, offsetof(struct serve_options, certificate), "FILE",
     "Serve HTTPS with this certificate chain (PEM); needs --key."},
    {"key", 0, OPTION_TEXT, offsetof(struct serve_options, key), "FILE",
     "The certificate's private key (PEM)."},
    {"threads", 'j', OPTION_COUNT, offsetof(struct serve_options, threads), "N",
     "Threads that serve connections (default: 2)."},
    {"log-requests", 0, OPTION_FLAG, offsetof(struct serve_options, logs_all), NULL,
     "Log every request, not only those that fail."},
    {NULL},
};

static const struct option limit_options[] = {
    {"keep-days", 0, OPTION_COUNT, offsetof(struct serve_options, keep_days), "N",
     "Delete recordings that are older (default: 14; 0: never)."},
    {"keep-mib", 0, OPTION_COUNT, offsetof(struct serve_options, keep_mib), "N",
     "Delete the oldest recordings of a group that has more (default: 10240; 0: never)."},
    {"min-free-mib", 0, OPTION_COUNT, offsetof(struct serve_options, min_free_mib), "N",
     "Reject recordings while the disk has less free space (default: 512)."},
    {"max-body-mib", 0, OPTION_COUNT, offsetof(struct serve_options, max_body_mib), "N",
     "Reject larger recordings (default: 16)."},
    {"max-unpacked-mib", 0, OPTION_COUNT, offsetof(struct serve_options, max_unpacked_mib), "N",
     "Reject recordings that decompress to more (default: 128)."},
    {"max-bodies-mib", 0, OPTION_COUNT, offsetof(struct serve_options, max_bodies_mib), "N",
     "Memory for recordings that arrive or are returned at the same time (default: 256)."},
    {"max-connections", 0, OPTION_COUNT, offsetof(struct serve_options, max_connections), "N",
     "Connections at a time; one address may have half of them (default: 1024)."},
    {"request-timeout", 0, OPTION_COUNT, offsetof(struct serve_options, request_seconds), "SECONDS",
     "Close connections whose request is not complete by then (default: 30)."},
    {"max-queries", 0, OPTION_COUNT, offsetof(struct serve_options, queries), "N",
     "Queries of profiles that are made at the same time, each as a process (default: 2)."},
    {"query-timeout", 0, OPTION_COUNT, offsetof(struct serve_options, query_seconds), "SECONDS",
     "End queries that take longer (default: 60)."},
    {"max-query-mib", 0, OPTION_COUNT, offsetof(struct serve_options, query_memory_mib), "N",
     "Memory of a query (default: 1024)."},
    {"max-answer-mib", 0, OPTION_COUNT, offsetof(struct serve_options, query_answer_mib), "N",
     "End queries whose answer is larger (default: 64)."},
    {NULL},
};

static const struct option service_options[] = {
    {"ended-after", 0, OPTION_COUNT, offsetof(struct serve_options, ended_seconds), "SECONDS",
     "An application that has sent nothing for so long has ended, and is compared with its earlier runs "
     "(default: 600; 0: never)."},
    {"webhook", 0, OPTION_TEXT, offsetof(struct serve_options, webhook), "URL",
     "Post each regression to this address, with the bearer token that the variable SPARKFLAME_WEBHOOK_TOKEN "
     "of "
     "the environment has."},
    {"forward", 0, OPTION_TEXT, offsetof(struct serve_options, forward), "URL",
     "Send every recording on to this server: what came as OTLP to its path /v1development/profiles, JFR, "
     "pprof and "
     "folded stacks to /ingest, as Pyroscope has it. The bearer token is that of the variable "
     "SPARKFLAME_FORWARD_TOKEN."},
    {"forward-timeout", 0, OPTION_COUNT, offsetof(struct serve_options, forward_seconds), "SECONDS",
     "Skip a recording that the other server has answered but not taken for so long (default: 3600)."},
    {NULL},
};

static const struct option task_options[] = {
    {"add-token", 0, OPTION_TEXT, offsetof(struct serve_options, add_token), "SCOPES:GROUP",
     "Print a new token and exit: read, write or read,write for a group, or for all with \"*\"."},
    {"remove-token", 0, OPTION_TEXT, offsetof(struct serve_options, remove_token), "ID",
     "Remove the token with this id, the eight characters after sft_, and exit."},
    {"check", 0, OPTION_FLAG, offsetof(struct serve_options, check), NULL,
     "Read all recordings, rebuild the index if it differs from them, make roll-ups that are missing, and "
     "exit."},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Server", server_options, &options},
        {"Limits", limit_options, &options},
        {"Other services", service_options, &options},
        {"Instead of serving", task_options, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

static void log_line(void *context, const char *text)
{
    struct timespec now;
    struct tm utc;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(stderr, "%s.%03ldZ %s\n", stamp, now.tv_nsec / 1000000, text);
}

/* ---- instead of serving ---- */

static int report(bool good, const struct error *error)
{
    if (!good)
        command_complain(&command_serve, "%s", error->message);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int change_tokens(void)
{
    struct error error = {0};
    char path[4096];
    char token[TOKEN_BYTES];
    if (options.add_token != NULL && mkdir(options.data, 0700) != 0 && errno != EEXIST)
        return report(error_set_system(&error, "cannot create %s", options.data), &error);
    bool good = collector_token_path(path, options.data, &error);
    if (good && options.remove_token != NULL)
        good = tokens_remove(path, options.remove_token, &error);
    if (good && options.add_token != NULL) {
        good = tokens_add(path, options.add_token, token, &error);
        if (good)
            printf("%s\n", token);
    }
    return report(good, &error);
}

static bool add_rollup(void *store, uint64_t number, bool *added, struct error *error)
{
    return store_add_rollup(store, number, added, error);
}

/* Makes those that are missing now. */
static bool build_rollups(const struct collector_options *collector, struct rollup_counts *counts,
                          struct error *error)
{
    struct timespec now;
    atomic_bool stops = false;
    struct store *store = store_open(&collector->store, error);
    if (store == NULL)
        return false;
    const struct rollup_builder_options builder_options = {
        .folder = options.data,
        .child = {.seconds = CHECK_ROLLUP_SECONDS, .memory_bytes = collector->query.child.memory_bytes},
        .min_free_bytes = collector->store.min_free_bytes,
        .last_rollup = store_last_rollup(store),
        .add = add_rollup,
        .context = store,
        .log = log_line};
    struct rollup_builder *builder = rollup_builder_new(&builder_options, error);
    clock_gettime(CLOCK_REALTIME, &now);
    bool good =
        builder != NULL && rollup_builder_run(builder, (int64_t)now.tv_sec * 1000, true, &stops, error);
    if (good)
        rollup_builder_count(builder, counts);
    rollup_builder_free(builder);
    store_close(store);
    return good;
}

static void print_rollups(const struct store_check *check, const struct rollup_counts *built)
{
    if (check->rollups_removed > 0)
        printf("%llu roll-ups were damaged or of other recordings, and were removed\n",
               (unsigned long long)check->rollups_removed);
    if (check->rollups + built->built > 0)
        printf("%llu roll-ups, %llu of them new\n", (unsigned long long)check->rollups + built->built,
               (unsigned long long)built->built);
    if (built->failed > 0)
        printf("%llu roll-ups could not be made\n", (unsigned long long)built->failed);
}

static int check_store(const struct collector_options *collector)
{
    const struct store_options *store = &collector->store;
    struct rollup_counts built = {0};
    struct store_check check;
    struct error error = {0};
    struct stat status;
    if (stat(store->folder, &status) != 0)
        return report(error_set_system(&error, "%s", store->folder), &error);
    if (!sqlite_library_load(&error) || !store_verify(store, &check, &error))
        return report(false, &error);
    printf("%llu recordings, %llu bytes, in %llu segments\n", (unsigned long long)check.recordings,
           (unsigned long long)check.bytes, (unsigned long long)check.segments);
    if (check.tails > 0)
        printf("%llu segments end inside a recording that was never acknowledged\n",
               (unsigned long long)check.tails);
    if (check.duplicates > 0)
        printf("%llu recordings are stored twice; the index has the first\n",
               (unsigned long long)check.duplicates);
    if (check.missing > 0)
        printf("%llu recordings of the index are in no segment\n", (unsigned long long)check.missing);
    if (check.damaged > 0)
        printf("%llu places in segments are damaged\n", (unsigned long long)check.damaged);
    if (!build_rollups(collector, &built, &error))
        return report(false, &error);
    print_rollups(&check, &built);
    printf(check.index_differed ? "the index differed and was replaced\n" : "the index agrees\n");
    return check.damaged > 0 || check.missing > 0 ? EXIT_FAILED : EXIT_GOOD;
}

/* ---- serving ---- */

/* The file's text, which the caller frees. */
static bool read_pem(const char *path, char **text, struct error *error)
{
    struct text_view all;
    struct byte_source *source = byte_source_open(path, error);
    bool good = source != NULL && byte_source_all(source, PEM_LIMIT_BYTES, &all, error);
    if (good) {
        *text = strndup(all.data, all.size);
        good = *text != NULL || error_set_memory(error);
    }
    byte_source_close(source);
    return good || error_prefix(error, "%s", path);
}

/* Cuts "HOST:PORT"; "[::1]:4041" too. False: it is something else. */
static bool split_address(char *address, const char **host, const char **port)
{
    char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || colon[1] == '\0')
        return false;
    *colon = '\0';
    *port = colon + 1;
    *host = address;
    if (address[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        *host = address + 1;
    }
    return strspn(*port, "0123456789") == strlen(*port);
}

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void wait_for_stop(struct collector *collector, const sigset_t *signals)
{
    const struct timespec second = {.tv_sec = 1};
    for (;;) {
        int number = sigtimedwait(signals, NULL, &second);
        if (number == SIGTERM || number == SIGINT)
            return;
        collector_tick(collector);
    }
}

static bool start_forwarder(struct forwarder **forwarder, struct error *error)
{
    const struct forwarder_options forwarding = {.folder = options.data,
                                                 .address = options.forward,
                                                 .token = getenv("SPARKFLAME_FORWARD_TOKEN"),
                                                 .unpacked_bytes = options.max_unpacked_mib * MIB,
                                                 .skip_ms = (int64_t)options.forward_seconds * 1000,
                                                 .log = log_line};
    if (options.forward == NULL)
        return true;
    *forwarder = forwarder_start(&forwarding, error);
    return *forwarder != NULL || error_prefix(error, "--forward");
}

static bool serve(const struct collector_options *collector_options, struct error *error)
{
    struct forwarder *forwarder = NULL;
    sigset_t signals;
    char address[128];
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    umask(0077);
    raise_file_limit();
    struct collector *collector = collector_open(collector_options, error);
    if (collector == NULL)
        return false;
    bool good = start_forwarder(&forwarder, error) && collector_start(collector, error);
    if (good) {
        collector_address(collector, address);
        printf("listening on %s\n", address);
        fflush(stdout);
        wait_for_stop(collector, &signals);
        log_line(NULL, "stopping");
    }
    /* Before waiting for any of them, so that their times do not add up. */
    forwarder_quiesce(forwarder);
    collector_drain(collector, good ? STOP_SECONDS : 0);
    forwarder_stop(forwarder);
    collector_close(collector);
    return good;
}

static void fill_options(struct collector_options *to)
{
    *to = (struct collector_options){
        .store = {.folder = options.data,
                  .segment_bytes = SEGMENT_BYTES,
                  .segment_age_ms = 6 * HOUR_MS,
                  .group_bytes = options.keep_mib * MIB,
                  .max_age_ms = (int64_t)options.keep_days * 24 * HOUR_MS,
                  .min_free_bytes = options.min_free_mib * MIB,
                  .log = log_line},
        .http = {.limits = {.connections = (unsigned)options.max_connections,
                            .connections_per_address = (unsigned)(options.max_connections + 1) / 2,
                            .body_bytes = options.max_body_mib * MIB,
                            .all_bodies_bytes = options.max_bodies_mib * MIB,
                            .header_seconds = options.request_seconds < HEADER_SECONDS
                                                  ? (unsigned)options.request_seconds
                                                  : HEADER_SECONDS,
                            .request_seconds = (unsigned)options.request_seconds,
                            .idle_seconds = IDLE_SECONDS},
                 .threads = (unsigned)options.threads,
                 .logs_all = options.logs_all,
                 .log = log_line},
        .unpacked_bytes = options.max_unpacked_mib * MIB,
        .query = {.threads = (unsigned)options.queries,
                  .child = {.seconds = (unsigned)options.query_seconds,
                            .memory_bytes = options.query_memory_mib * MIB},
                  .answer_bytes = options.query_answer_mib * MIB},
        .regressions = {.folder = options.data,
                        .ended_ms = (int64_t)options.ended_seconds * 1000,
                        .log = log_line},
    };
}

/* NULL, or what is wrong. */
static const char *find_misuse(int operand_count)
{
    const uint64_t numbers[] = {options.keep_days,        options.keep_mib,         options.min_free_mib,
                                options.max_body_mib,     options.max_unpacked_mib, options.max_bodies_mib,
                                options.max_connections,  options.request_seconds,  options.threads,
                                options.queries,          options.query_seconds,    options.query_memory_mib,
                                options.query_answer_mib, options.ended_seconds,    options.forward_seconds};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] > NUMBER_LIMIT)
            return "a number is too large";
    if (operand_count > 0)
        return "it takes no operands";
    if (options.data == NULL || options.data[0] == '\0')
        return "--data DIR is needed";
    if ((options.certificate == NULL) != (options.key == NULL))
        return "--certificate and --key belong together";
    if (options.max_body_mib == 0 || options.max_body_mib > 1023 || options.max_unpacked_mib == 0 ||
        options.max_bodies_mib < options.max_body_mib || options.max_connections < 2 ||
        options.request_seconds == 0 || options.request_seconds > 86400 || options.threads == 0 ||
        options.threads > 64 || options.queries == 0 || options.queries > 64 || options.query_seconds == 0 ||
        options.query_seconds > 86400 || options.query_memory_mib < 16 || options.query_answer_mib == 0)
        return "a limit is out of its range (see the manual)";
    return NULL;
}

static int run_server(void)
{
    struct collector_options collector_options;
    struct error error = {0};
    fill_options(&collector_options);
    char *address = strdup(options.listen);
    bool good = address != NULL || error_set_memory(&error);
    if (good && !split_address(address, &collector_options.http.host, &collector_options.http.port)) {
        free(address);
        return command_usage_error(&command_serve, "--listen needs HOST:PORT");
    }
    if (good && options.certificate != NULL)
        good = read_pem(options.certificate, &collector_options.http.certificate, &error) &&
               read_pem(options.key, &collector_options.http.key, &error);
    struct webhook *webhook = NULL;
    if (good && options.webhook != NULL) {
        webhook = webhook_open(options.webhook, getenv("SPARKFLAME_WEBHOOK_TOKEN"), &error);
        good = webhook != NULL || error_prefix(&error, "--webhook");
        collector_options.regressions.post = webhook_post;
        collector_options.regressions.post_context = webhook;
    }
    good = good && serve(&collector_options, &error);
    webhook_close(webhook);
    free(collector_options.http.certificate);
    free(collector_options.http.key);
    free(address);
    return report(good, &error);
}

static int run(int argc, char **argv)
{
    struct collector_options collector_options;
    int count, exit_code;
    options = (struct serve_options){.listen = "127.0.0.1:4041",
                                     .keep_days = 14,
                                     .keep_mib = 10240,
                                     .min_free_mib = 512,
                                     .max_body_mib = 16,
                                     .max_unpacked_mib = 128,
                                     .max_bodies_mib = 256,
                                     .max_connections = 1024,
                                     .request_seconds = 30,
                                     .threads = 2,
                                     .queries = 2,
                                     .query_seconds = 60,
                                     .query_memory_mib = 1024,
                                     .query_answer_mib = 64,
                                     .ended_seconds = 600,
                                     .forward_seconds = 3600};
    if (!command_parse_options(&command_serve, argc, argv, &count, &exit_code))
        return exit_code;
    const char *misuse = find_misuse(count);
    if (misuse != NULL)
        return command_usage_error(&command_serve, "%s", misuse);
    if (options.add_token != NULL || options.remove_token != NULL)
        return change_tokens();
    fill_options(&collector_options);
    return options.check ? check_store(&collector_options) : run_server();
}

const struct command command_serve = {
    .name = "serve",
    .summary = "Collect recordings of many applications over HTTP and keep them",
    .usage = "--data DIR [OPTIONS]",
    .details =
        "Executors, agents and scripts send recordings with POST /v1/recordings; each is acknowledged\n"
        "when it would survive a crash of the machine. GET lists and returns them. Without tokens only\n"
        "this machine is answered. SIGTERM ends the server when its requests are done.\n",
    .examples =
        "  sparkflame serve --data /var/lib/sparkflame --add-token write:etl\n"
        "  sparkflame serve --data /var/lib/sparkflame --listen 0.0.0.0:4041 --certificate c.pem --key "
        "k.pem\n"
        "  sparkflame serve --data /var/lib/sparkflame --check\n"
        "      after a disk failure\n",
    .options = groups,
    .run = run,
};
