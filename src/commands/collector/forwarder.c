#include "commands/collector/forwarder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/output.h"
#include "collector/store/segment.h"
#include "collector/store/store_files.h"
#include "collector/store/store_reader.h"
#include "commands/collector/http_post.h"
#include "input/byte_source.h"

enum {
    REQUEST_SECONDS = 10,
    ANSWER_BYTES = 64 << 10,
    PAGE_RECORDINGS = 16,
    LONGEST_PAUSE_S = 300,
    IDLE_S = 1
};
#define ADDRESS_BYTES ((size_t)32 << 10)

struct forwarder {
    struct forwarder_options options;
    char path[STORE_PATH_BYTES];
    struct store_reader *reader;
    pthread_t thread;
    pthread_mutex_t mutex; /* of `stops` */
    pthread_cond_t changed;
    bool stops;
    uint64_t last, saved; /* numbers */
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size;
    /* The connection, and whom it is for. */
    struct http_post *post;
    char group[RECORDING_ID_BYTES + 1];
    bool is_otlp;
    bool was_asked; /* the other server, for the current recording, or it could not be read */
    uint64_t skipped;
};

static void log_line(const struct forwarder *forwarder, const char *text)
{
    forwarder->options.log(forwarder->options.log_context, text);
}

/* ---- where it has got to ---- */

static bool read_last(struct forwarder *forwarder, bool *is_known, struct error *error)
{
    struct text_view text;
    struct byte_source *source = byte_source_open(forwarder->path, error);
    if (source == NULL)
        return errno == ENOENT;
    *is_known = byte_source_all(source, 64, &text, error) && text_to_u64(text_trim(text), &forwarder->last);
    byte_source_close(source);
    return *is_known || error_set(error, ERROR_BAD_INPUT, "%s: not a number", forwarder->path);
}

static void save(struct forwarder *forwarder)
{
    struct error error = {0};
    struct output output;
    if (forwarder->last == forwarder->saved)
        return;
    bool good = output_open(&output, forwarder->path, &error);
    if (good) {
        output_format(&output, "%llu\n", (unsigned long long)forwarder->last);
        good = output_finish(&output, &error);
        output_release(&output);
    }
    if (good)
        forwarder->saved = forwarder->last;
    else
        log_line(forwarder, error.message);
}

/* After the newest recording if no number was kept. A larger one is of a store that was replaced by an older copy: what
 * it receives from now on would be left out. */
static bool find_first(struct forwarder *forwarder, bool is_known, struct error *error)
{
    char text[200];
    struct index_totals totals;
    struct recording_index *index = store_reader_lock(forwarder->reader);
    bool good = recording_index_totals(index, &totals, error);
    store_reader_unlock(forwarder->reader);
    if (!good || (is_known && forwarder->last <= totals.last_number))
        return good;
    if (is_known) {
        snprintf(text, sizeof(text), "forwarding: goes on after recording %llu, the newest, not %llu",
                 (unsigned long long)totals.last_number, (unsigned long long)forwarder->last);
        log_line(forwarder, text);
    }
    forwarder->last = totals.last_number;
    return true;
}

/* ---- one recording ---- */

static void add_escaped(struct text_builder *to, struct text_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') || strchr("-_.", byte) != NULL;
        if (is_plain && byte != 0)
            text_builder_add_byte(to, (char)byte);
        else
            text_builder_format(to, "%%%02X", byte);
    }
}

/* Names of labels have no dots there, and nothing that ends a label may be in a value. */
static void add_label(struct text_builder *to, struct text_view name, struct text_view value,
                      const char *before)
{
    text_builder_add_c_string(to, before);
    for (size_t i = 0; i < name.size; i++)
        text_builder_add_byte(to, name.data[i] == '.' ? '_' : name.data[i]);
    text_builder_add_byte(to, '=');
    for (size_t i = 0; i < value.size; i++)
        text_builder_add_byte(to, strchr("{},=\"", value.data[i]) != NULL ? '_' : value.data[i]);
}

static void add_name(struct text_builder *to, const struct stored_recording *recording)
{
    struct text_view lines = text_of(recording->labels);
    text_builder_add_c_string(to, recording->application);
    add_label(to, TEXT("executor"), text_of(recording->executor), "{");
    if (recording->attempt[0] != '\0')
        add_label(to, TEXT("attempt"), text_of(recording->attempt), ",");
    while (lines.size > 0) {
        struct text_view value = text_cut(&lines, '\n'), name = text_cut(&value, '=');
        add_label(to, name, value, ",");
    }
    text_builder_add_byte(to, '}');
}

static void add_address(const struct forwarder *forwarder, const struct stored_recording *recording,
                        struct text_builder *to)
{
    struct text_builder name;
    long long until_s = recording->received_ms / 1000;
    text_builder_add_c_string(to, forwarder->options.address);
    if (strcmp(recording->kind, "otlp") == 0) {
        text_builder_add_c_string(to, "/v1development/profiles");
        return;
    }
    text_builder_init(&name, ADDRESS_BYTES);
    add_name(&name, recording);
    text_builder_add_c_string(to, "/ingest?name=");
    add_escaped(to, text_builder_view(&name));
    text_builder_format(to, "&format=%s&from=%lld&until=%lld", recording->kind, until_s - 10, until_s);
    text_builder_release(&name);
}

static bool is_forwarded(const struct stored_recording *recording)
{
    static const char *const kinds[] = {"otlp", "jfr", "pprof", "folded"};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(recording->kind, kinds[i]) == 0)
            return true;
    return false;
}

static bool connect_for(struct forwarder *forwarder, const struct stored_recording *recording,
                        struct error *error)
{
    bool is_otlp = strcmp(recording->kind, "otlp") == 0;
    char tenant[RECORDING_ID_BYTES + 32];
    if (forwarder->post != NULL && forwarder->is_otlp == is_otlp &&
        strcmp(forwarder->group, recording->group) == 0)
        return true;
    http_post_close(forwarder->post);
    snprintf(tenant, sizeof(tenant), "X-Scope-OrgID: %s", recording->group);
    snprintf(forwarder->group, sizeof(forwarder->group), "%s", recording->group);
    forwarder->is_otlp = is_otlp;
    const struct http_post_options options = {.token = forwarder->options.token,
                                              .content_type = is_otlp ? "application/x-protobuf" : NULL,
                                              .header = tenant,
                                              .seconds = REQUEST_SECONDS};
    forwarder->post = http_post_open(&options, error);
    return forwarder->post != NULL;
}

/* Whether the recording is dealt with; *error is set if it was not taken. Final are only statuses that are about the
 * request itself: not redirects, nor those about the sender, its rate or the time. */
static bool judge(long status, struct error *error)
{
    static const short transient[] = {401, 403, 407, 408, 421, 423, 425, 429};
    if (status >= 200 && status < 300)
        return true;
    error_set(error, ERROR_SYSTEM, "status %ld", status);
    for (size_t i = 0; i < COUNT_OF(transient); i++)
        if (status == transient[i])
            return false;
    return status >= 400 && status < 500;
}

static bool send(struct forwarder *forwarder, const struct stored_recording *recording, struct text_view body,
                 struct error *error)
{
    struct text_builder address, answer;
    long status = 0;
    uint64_t retry_after_s;
    text_builder_init(&address, 4 * ADDRESS_BYTES);
    text_builder_init(&answer, ANSWER_BYTES);
    add_address(forwarder, recording, &address);
    bool is_done = false;
    forwarder->was_asked = false;
    if (address.failed) {
        error_set_memory(error);
    } else if (connect_for(forwarder, recording, error)) {
        if (http_post_send(forwarder->post, text_builder_c_string(&address), body, &status, &retry_after_s,
                           &answer, error))
            is_done = judge(status, error);
        forwarder->was_asked = http_post_was_sent(forwarder->post);
    }
    text_builder_release(&address);
    text_builder_release(&answer);
    return is_done;
}

/* Segments are deleted whole. */
static bool is_deleted(const struct forwarder *forwarder, const struct stored_recording *recording)
{
    struct error error = {.code = ERROR_NONE};
    struct segment segment;
    errno = 0;
    if (segment_open(&segment, store_reader_segments(forwarder->reader), recording->segment, false, &error)) {
        segment_close(&segment);
        return false;
    }
    return errno == ENOENT;
}

/* As send(). One that was deleted meanwhile, or cannot be decompressed, is dealt with; not one for which descriptors,
 * memory or the disk fail now. */
static bool forward(struct forwarder *forwarder, const struct stored_recording *recording,
                    struct error *error)
{
    struct text_builder stored;
    struct text_view body;
    bool is_done;
    forwarder->was_asked = true; /* or it cannot be read, which is also of this one */
    text_builder_init(&stored, (size_t)recording->body_bytes + 1);
    struct byte_source *source = NULL;
    if (!store_reader_body(forwarder->reader, recording, &stored, error))
        is_done = error->code == ERROR_BAD_INPUT || is_deleted(forwarder, recording);
    else if ((source = byte_source_open_memory(text_builder_view(&stored), "recording", error)) != NULL &&
             byte_source_all(source, (size_t)forwarder->options.unpacked_bytes, &body, error))
        is_done = send(forwarder, recording, body, error);
    else
        is_done = error->code == ERROR_BAD_INPUT;
    byte_source_close(source);
    text_builder_release(&stored);
    return is_done;
}

/* ---- the thread ---- */

static bool wait(struct forwarder *forwarder, unsigned seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    pthread_mutex_lock(&forwarder->mutex);
    int result = 0;
    while (!forwarder->stops && result == 0)
        result = pthread_cond_timedwait(&forwarder->changed, &forwarder->mutex, &end);
    bool goes_on = !forwarder->stops;
    pthread_mutex_unlock(&forwarder->mutex);
    return goes_on;
}

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct forwarder *forwarder = context;
    forwarder->page[forwarder->page_size++] = *recording;
    return forwarder->page_size < PAGE_RECORDINGS;
}

static void read_page(struct forwarder *forwarder)
{
    struct error error = {0};
    const struct recording_query query = {
        .to_ms = INT64_MAX, .after = forwarder->last, .limit = PAGE_RECORDINGS};
    forwarder->page_size = 0;
    struct recording_index *index = store_reader_lock(forwarder->reader);
    if (!recording_index_each(index, &query, take_recording, forwarder, &error))
        log_line(forwarder, error.message);
    store_reader_unlock(forwarder->reader);
}

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether others have waited long enough for one that is not taken. */
static bool is_late(struct forwarder *forwarder, const struct stored_recording *recording, int64_t *since_ms)
{
    char text[200];
    /* Nothing was sent: all have to wait. */
    if (!forwarder->was_asked)
        return false;
    if (*since_ms == 0)
        *since_ms = clock_ms();
    if (clock_ms() - *since_ms < forwarder->options.skip_ms)
        return false;
    snprintf(text, sizeof(text), "forwarding: recording %llu is skipped, %llu since the start",
             (unsigned long long)recording->number, (unsigned long long)++forwarder->skipped);
    log_line(forwarder, text);
    return true;
}

/* Again and again, until it is dealt with or skipped. False: it is time to end. */
static bool forward_surely(struct forwarder *forwarder, const struct stored_recording *recording)
{
    char text[1300];
    int64_t since_ms = 0;
    for (unsigned pause_s = 1;; pause_s = 2 * pause_s < LONGEST_PAUSE_S ? 2 * pause_s : LONGEST_PAUSE_S) {
        struct error error = {.code = ERROR_NONE};
        bool is_done = !is_forwarded(recording) || forward(forwarder, recording, &error);
        if (error.code != ERROR_NONE) {
            snprintf(text, sizeof(text), "forwarding: recording %llu was not taken%s: %s",
                     (unsigned long long)recording->number, is_done ? "" : " yet", error.message);
            log_line(forwarder, text);
        }
        if (is_done || is_late(forwarder, recording, &since_ms)) {
            forwarder->last = recording->number;
            return wait(forwarder, 0);
        }
        save(forwarder);
        if (!wait(forwarder, pause_s))
            return false;
    }
}

static void *run(void *context)
{
    struct forwarder *forwarder = context;
    bool goes_on = true;
    while (goes_on) {
        read_page(forwarder);
        for (size_t i = 0; goes_on && i < forwarder->page_size; i++)
            goes_on = forward_surely(forwarder, &forwarder->page[i]);
        save(forwarder);
        if (goes_on && forwarder->page_size < PAGE_RECORDINGS)
            goes_on = wait(forwarder, IDLE_S);
    }
    return NULL;
}

static bool start(struct forwarder *forwarder, struct error *error)
{
    bool is_known = false;
    if (strncmp(forwarder->options.address, "http://", 7) != 0 &&
        strncmp(forwarder->options.address, "https://", 8) != 0)
        return error_set(error, ERROR_USAGE, "the address begins with http:// or https://");
    if (!store_path(forwarder->path, forwarder->options.folder, "forwarded", error) ||
        (forwarder->reader = store_reader_open(forwarder->options.folder, error)) == NULL ||
        !read_last(forwarder, &is_known, error))
        return false;
    forwarder->saved = is_known ? forwarder->last : UINT64_MAX;
    if (!find_first(forwarder, is_known, error))
        return false;
    save(forwarder);
    return pthread_create(&forwarder->thread, NULL, run, forwarder) == 0 ||
           error_set_system(error, "cannot start a thread");
}

static void release(struct forwarder *forwarder)
{
    http_post_close(forwarder->post);
    store_reader_close(forwarder->reader);
    pthread_cond_destroy(&forwarder->changed);
    pthread_mutex_destroy(&forwarder->mutex);
    free(forwarder);
}

struct forwarder *forwarder_start(const struct forwarder_options *options, struct error *error)
{
    pthread_condattr_t attributes;
    struct forwarder *forwarder = calloc(1, sizeof(*forwarder));
    if (forwarder == NULL) {
        error_set_memory(error);
        return NULL;
    }
    forwarder->options = *options;
    pthread_mutex_init(&forwarder->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&forwarder->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (start(forwarder, error))
        return forwarder;
    release(forwarder);
    return NULL;
}

void forwarder_quiesce(struct forwarder *forwarder)
{
    if (forwarder == NULL)
        return;
    pthread_mutex_lock(&forwarder->mutex);
    forwarder->stops = true;
    pthread_cond_signal(&forwarder->changed);
    pthread_mutex_unlock(&forwarder->mutex);
}

void forwarder_stop(struct forwarder *forwarder)
{
    if (forwarder == NULL)
        return;
    forwarder_quiesce(forwarder);
    pthread_join(forwarder->thread, NULL);
    release(forwarder);
}
