#include "collector/http/http_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "collector/libraries/http_library.h"
#include "collector/http/http_listen.h"
#include "collector/http/http_watch.h"

/* For one connection: its headers have to fit. TLS needs no more of it. */
#define HEADER_BYTES ((size_t)32 << 10)
/* The slowest reader of an answer that is waited for. */
#define ANSWER_BYTES_PER_MS 64
#define ANSWER_LIMIT_BYTES ((size_t)4 << 30)
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct http_server {
    struct http_options options;
    struct http_handler handler;
    struct http_listener listener;
    struct http_watch watch;
    struct MHD_Daemon *daemon;
    unsigned start; /* random, so that numbers of requests differ between starts */
    atomic_uint_least64_t requests;
    atomic_uint_least64_t active;
    atomic_uint_least64_t body_bytes;
    atomic_uint_least64_t statuses[6];
    atomic_bool stops;
};

enum exchange_state {
    EXCHANGE_NEW,
    EXCHANGE_BODY,
    EXCHANGE_REFUSED, /* the body is read and dropped, since a client that is still sending would miss the answer */
    EXCHANGE_LATER,
    EXCHANGE_ANSWERED,
};

/* A request and what the server needs to know of it. */
struct exchange {
    struct http_request request; /* first: http_request_finish() converts */
    struct http_server *server;
    struct http_connection *connection;
    enum exchange_state state;
    uint64_t reserved_bytes; /* of server->body_bytes */
    int64_t begin_ms;
    bool is_active;
    bool closes;      /* the connection, after the answer: its body is not read */
    bool path_is_cut; /* it has a zero byte, behind which nobody would see the rest */
};

static void set_deadline(const struct exchange *exchange, int64_t after_ms)
{
    atomic_store(&exchange->connection->deadline_ms,
                 after_ms == INT64_MAX ? INT64_MAX : http_watch_now_ms() + after_ms);
}

/* ---- the log ---- */

static void copy_printable(char *to, size_t room, const char *text)
{
    size_t size = 0;
    for (; text != NULL && text[size] != '\0' && size + 1 < room; size++)
        to[size] = text[size] > ' ' && text[size] < '\x7f' ? text[size] : '?';
    to[size] = '\0';
}

static void log_request(const struct exchange *exchange, const char *outcome)
{
    const struct http_request *request = &exchange->request;
    const struct http_options *options = &exchange->server->options;
    char line[512];
    char address[64] = "-";
    char method[16];
    char path[160];
    if (request->answer.status > 0 && request->answer.status < 400 && !options->logs_all)
        return;
    const union MHD_ConnectionInfo *info =
        http.MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info != NULL && info->client_addr != NULL)
        http_address_text(info->client_addr, address, sizeof(address));
    copy_printable(method, sizeof(method), request->method);
    copy_printable(path, sizeof(path), request->path);
    snprintf(line, sizeof(line), "request=%08x-%llu client=%s token=%s %s %s %u %s%lld ms",
             exchange->server->start, (unsigned long long)request->number, address,
             request->who[0] == '\0' ? "-" : request->who, method, path, request->answer.status, outcome,
             (long long)(http_watch_now_ms() - exchange->begin_ms));
    options->log(options->log_context, line);
}

/* ---- answers ---- */

static void add_headers(struct exchange *exchange, struct MHD_Response *response)
{
    const struct http_answer *answer = &exchange->request.answer;
    char id[64];
    snprintf(id, sizeof(id), "%08x-%llu", exchange->server->start,
             (unsigned long long)exchange->request.number);
    http.MHD_add_response_header(response, "X-Request-Id", id);
    http.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    http.MHD_add_response_header(response, "Cache-Control", "no-store");
    if (answer->content_type != NULL)
        http.MHD_add_response_header(response, "Content-Type", answer->content_type);
    for (size_t i = 0; i < answer->header_count; i++)
        http.MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
    if (exchange->closes || atomic_load(&exchange->server->stops))
        http.MHD_add_response_header(response, "Connection", "close");
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
    struct http_answer *answer = &exchange->request.answer;
    if (answer->body.failed)
        http_request_fail(&exchange->request, 500, "out of memory");
    size_t size = answer->body.size;
    struct MHD_Response *response =
        http.MHD_create_response_from_buffer(size, answer->body.data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        return MHD_NO;
    answer->body.data = NULL; /* the response's now */
    text_builder_release(&answer->body);
    add_headers(exchange, response);
    exchange->state = EXCHANGE_ANSWERED;
    set_deadline(exchange, exchange->server->options.limits.request_seconds * 1000LL +
                               (int64_t)(size / ANSWER_BYTES_PER_MS));
    atomic_fetch_add(&exchange->server->statuses[answer->status / 100 < 6 ? answer->status / 100 : 5], 1);
    enum MHD_Result result = http.MHD_queue_response(exchange->request.connection, answer->status, response);
    http.MHD_destroy_response(response);
    return result;
}

void http_request_later(struct http_request *request)
{
    struct exchange *exchange = (struct exchange *)request;
    exchange->state = EXCHANGE_LATER;
    set_deadline(exchange, INT64_MAX);
    http.MHD_suspend_connection(request->connection);
}

void http_request_finish(struct http_request *request)
{
    http.MHD_resume_connection(request->connection);
}

/* ---- requests ---- */

static bool reserve(struct exchange *exchange, uint64_t bytes)
{
    struct http_server *server = exchange->server;
    if (atomic_fetch_add(&server->body_bytes, bytes) + bytes > server->options.limits.all_bodies_bytes) {
        atomic_fetch_sub(&server->body_bytes, bytes);
        return false;
    }
    exchange->reserved_bytes += bytes;
    return true;
}

bool http_request_reserve(struct http_request *request, uint64_t bytes)
{
    return reserve((struct exchange *)request, bytes);
}

static bool fail_too_large(struct exchange *exchange)
{
    return http_request_fail(&exchange->request, 413, "the body is over %llu bytes",
                             (unsigned long long)exchange->server->options.limits.body_bytes);
}

/* Content-Length; 0 if there is none. libmicrohttpd has checked that it is a number. */
static uint64_t announced_bytes(const struct http_request *request)
{
    const char *length = http_request_header(request, "Content-Length");
    uint64_t bytes = 0;
    return length != NULL && text_to_u64(text_of(length), &bytes) ? bytes : 0;
}

static bool admit(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct http_request *request = &exchange->request;
    if (atomic_load(&server->stops))
        return http_request_fail_busy(request, "the collector is stopping");
    if (!server->handler.admit(server->handler.context, request))
        return false;
    if (announced_bytes(request) > server->options.limits.body_bytes)
        return fail_too_large(exchange);
    if (!reserve(exchange, announced_bytes(request)))
        return http_request_fail_busy(request, "too many bodies at a time");
    return true;
}

static enum MHD_Result begin(struct exchange *exchange, const char *url, const char *method)
{
    struct http_server *server = exchange->server;
    struct http_request *request = &exchange->request;
    request->path = exchange->path_is_cut ? "" : url;
    request->method = method;
    exchange->is_active = true;
    atomic_fetch_add(&server->active, 1);
    set_deadline(exchange, server->options.limits.request_seconds * 1000LL);
    if (admit(exchange)) {
        exchange->state = EXCHANGE_BODY;
        return MHD_YES;
    }
    exchange->state = EXCHANGE_REFUSED;
    exchange->closes = http_request_header(request, "Expect") != NULL ||
                       announced_bytes(request) > server->options.limits.body_bytes;
    return exchange->closes ? send_answer(exchange) : MHD_YES;
}

/* The answer is set; what came of the body is dropped. */
static enum MHD_Result refuse_body(struct exchange *exchange)
{
    exchange->state = EXCHANGE_REFUSED;
    text_builder_release(&exchange->request.body);
    atomic_fetch_sub(&exchange->server->body_bytes, exchange->reserved_bytes);
    exchange->reserved_bytes = 0;
    return MHD_YES;
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t size)
{
    struct text_builder *body = &exchange->request.body;
    uint64_t needed = body->size + size;
    if (exchange->state != EXCHANGE_BODY)
        return MHD_YES;
    if (needed > exchange->server->options.limits.body_bytes) {
        fail_too_large(exchange);
        return refuse_body(exchange);
    }
    /* Of a chunked body nothing is reserved before. */
    if (needed > exchange->reserved_bytes && !reserve(exchange, needed - exchange->reserved_bytes)) {
        http_request_fail_busy(&exchange->request, "too many bodies at a time");
        return refuse_body(exchange);
    }
    if (body->size == 0 && exchange->reserved_bytes > size)
        text_builder_room(body, exchange->reserved_bytes);
    text_builder_add(body, (struct text_view){data, size});
    return MHD_YES;
}

static enum MHD_Result end_body(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    if (exchange->state == EXCHANGE_BODY) {
        if (exchange->request.body.failed)
            http_request_fail_busy(&exchange->request, "out of memory");
        else if (!server->handler.handle(server->handler.context, &exchange->request))
            return MHD_YES;
    }
    return send_answer(exchange);
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **exchange_at)
{
    struct exchange *exchange = *exchange_at;
    if (exchange == NULL || exchange->connection == NULL)
        return MHD_NO;
    if (exchange->state == EXCHANGE_NEW)
        return begin(exchange, url, method);
    if (*upload_size > 0) {
        size_t size = *upload_size;
        *upload_size = 0;
        return take_body(exchange, upload, size);
    }
    return end_body(exchange);
}

/* The request line is here. What this returns becomes the request's context. */
static void *on_request_line(void *context, const char *line, struct MHD_Connection *connection)
{
    struct http_server *server = context;
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    const union MHD_ConnectionInfo *info =
        http.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (exchange == NULL)
        return NULL;
    const char *zero = strstr(line, "%00");
    exchange->path_is_cut = zero != NULL && zero < line + strcspn(line, "?");
    exchange->server = server;
    exchange->connection = info == NULL ? NULL : info->socket_context;
    exchange->begin_ms = http_watch_now_ms();
    exchange->request.connection = connection;
    exchange->request.number = atomic_fetch_add(&server->requests, 1) + 1;
    text_builder_init(&exchange->request.body, server->options.limits.body_bytes + 1);
    text_builder_init(&exchange->request.answer.body, ANSWER_LIMIT_BYTES);
    if (exchange->connection != NULL)
        set_deadline(exchange, server->options.limits.header_seconds * 1000LL);
    return exchange;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **exchange_at,
                         enum MHD_RequestTerminationCode code)
{
    struct http_server *server = context;
    struct exchange *exchange = *exchange_at;
    if (exchange == NULL)
        return;
    if (exchange->is_active) {
        bool is_sent = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
        if (!is_sent)
            exchange->request.answer.status = 499; /* as other servers log it: the client went away */
        log_request(exchange, is_sent ? "" : "incomplete ");
        server->handler.forget(server->handler.context, &exchange->request);
        atomic_fetch_sub(&server->active, 1);
    }
    if (exchange->connection != NULL)
        set_deadline(exchange, server->options.limits.idle_seconds * 1000LL);
    atomic_fetch_sub(&server->body_bytes, exchange->reserved_bytes);
    text_builder_release(&exchange->request.body);
    text_builder_release(&exchange->request.answer.body);
    free(exchange);
    *exchange_at = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            http.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (info != NULL)
            *socket_context =
                http_watch_add(&server->watch, info->connect_fd,
                               http_watch_now_ms() + server->options.limits.header_seconds * 1000LL);
    } else if (*socket_context != NULL) {
        http_watch_remove(&server->watch, *socket_context);
        *socket_context = NULL;
    }
}

/* ---- the server ---- */

struct http_server *http_server_open(const struct http_options *options, struct error *error)
{
    if (!http_library_load(error))
        return NULL;
    struct http_server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        error_set_memory(error);
        return NULL;
    }
    server->options = *options;
    http_watch_init(&server->watch);
    if (http_listen(&server->listener, options->host, options->port, error)) {
        if (getrandom(&server->start, sizeof(server->start), 0) < 0)
            server->start = (unsigned)getpid();
        return server;
    }
    http_server_stop(server);
    return NULL;
}

bool http_server_start(struct http_server *server, const struct http_handler *handler, struct error *error)
{
    const struct http_options *options = &server->options;
    struct MHD_OptionItem items[4] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    server->handler = *handler;
    if (server->listener.is_ipv6)
        flags |= MHD_USE_IPv6;
    if (options->certificate != NULL) {
        flags |= MHD_USE_TLS;
        items[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, options->certificate};
        items[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, options->key};
        items[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, TLS_PRIORITIES};
        items[3] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    server->daemon = http.MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, server, MHD_OPTION_LISTEN_SOCKET, server->listener.descriptor,
        MHD_OPTION_CONNECTION_LIMIT, options->limits.connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        options->limits.connections_per_address, MHD_OPTION_THREAD_POOL_SIZE, options->threads,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADER_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_request_line,
        server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
    return server->daemon != NULL ||
           error_set(error, ERROR_SYSTEM, "cannot start the server%s",
                     options->certificate == NULL ? "" : ": is the certificate or its key invalid?");
}

const char *http_server_address(const struct http_server *server)
{
    return server->listener.address;
}

bool http_server_is_loopback(const struct http_server *server)
{
    return server->listener.is_loopback;
}

void http_server_tick(struct http_server *server)
{
    http_watch_close_late(&server->watch, http_watch_now_ms());
}

void http_server_quiesce(struct http_server *server)
{
    atomic_store(&server->stops, true);
    /* Without one the start failed. */
    if (server->daemon != NULL)
        http.MHD_quiesce_daemon(server->daemon);
}

bool http_server_is_idle(struct http_server *server)
{
    return atomic_load(&server->active) == 0;
}

void http_server_stop(struct http_server *server)
{
    if (server == NULL)
        return;
    if (server->daemon != NULL)
        http.MHD_stop_daemon(server->daemon);
    if (server->listener.descriptor >= 0)
        close(server->listener.descriptor);
    http_watch_release(&server->watch);
    free(server);
}

void http_server_count(struct http_server *server, struct http_counts *counts)
{
    *counts = (struct http_counts){.requests = atomic_load(&server->requests),
                                   .body_bytes = atomic_load(&server->body_bytes)};
    for (size_t i = 0; i < COUNT_OF(counts->statuses); i++)
        counts->statuses[i] = atomic_load(&server->statuses[i]);
    pthread_mutex_lock(&server->watch.mutex);
    counts->connections = server->watch.count;
    counts->deadlines = server->watch.closed;
    pthread_mutex_unlock(&server->watch.mutex);
}
