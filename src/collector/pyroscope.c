#include "collector/pyroscope.h"

#include <string.h>

#include "collector/sender_names.h"
#include "formats/pprof/protobuf_reader.h"

/* ---- names and labels ---- */

/* Which instance of the application sent it. Of several such labels the first of this list counts. */
static const char *const executor_labels[] = {"executor", "pod", "instance", "hostname", "host", "pid"};

struct series {
    struct stored_recording *recording;
    size_t executor_rank;
    size_t labels;
};

static void series_init(struct series *series, struct stored_recording *recording)
{
    *series = (struct series){recording, COUNT_OF(executor_labels), 0};
    sender_set_id(recording->executor, TEXT(SENDER_EXECUTOR));
}

static void series_add(struct series *series, struct text_view name, struct text_view value)
{
    struct stored_recording *recording = series->recording;
    name = text_trim(name);
    value = text_trim(value);
    if (text_equal(name, TEXT("service_name"))) {
        sender_set_id(recording->application, value);
        return;
    }
    for (size_t i = 0; i < series->executor_rank; i++)
        if (value.size > 0 && text_equal(name, text_of(executor_labels[i]))) {
            sender_set_id(recording->executor, value);
            series->executor_rank = i;
        }
    if (text_equal(name, TEXT("__name__")))
        sender_add_label(recording, TEXT("profile"), value);
    else if (!text_starts_with(name, TEXT("__")))
        sender_add_label(recording, name, value);
}

bool pyroscope_read_name(struct stored_recording *recording, struct text_view name, struct error *error)
{
    struct series series;
    struct text_view labels = name;
    sender_set_id(recording->application, text_trim(text_cut(&labels, '{')));
    size_t end = text_find_last_byte(labels, '}');
    labels = text_part(labels, 0, end == TEXT_NOT_FOUND ? labels.size : end);
    series_init(&series, recording);
    while (labels.size > 0) {
        struct text_view value = text_cut(&labels, ',');
        struct text_view key = text_cut(&value, '=');
        if (++series.labels > PYROSCOPE_LABELS)
            return error_set(error, ERROR_BAD_INPUT, "more than %d labels", PYROSCOPE_LABELS);
        series_add(&series, key, value);
    }
    return recording->application[0] != '\0' ||
           error_set(error, ERROR_BAD_INPUT, "the parameter \"name\" needs the name of an application");
}

/* ---- messages ---- */

/* A message inside another one, all of whose fields are bytes: calls `take` for each. */
struct message_walk {
    const void *file;
    bool (*take)(struct message_walk *walk, const struct protobuf_field *field, struct error *error);
    void *context;
};

static bool walk_message(struct message_walk *walk, struct text_view message, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    protobuf_reader_init(&reader, message, walk->file);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.wire == PROTOBUF_BYTES && !walk->take(walk, &field, error))
            return false;
    return !reader.failed;
}

/* Two texts of a message: its fields 1 and 2. */
static bool take_text(struct message_walk *walk, const struct protobuf_field *field, struct error *error)
{
    struct text_view *texts = walk->context;
    (void)error;
    if (field->number == 1 || field->number == 2)
        texts[field->number - 1] = field->bytes;
    return true;
}

static bool read_texts(const void *file, struct text_view message, struct text_view texts[2],
                       struct error *error)
{
    struct message_walk walk = {file, take_text, texts};
    texts[0] = texts[1] = TEXT("");
    return walk_message(&walk, message, error);
}

enum series_field { SERIES_LABEL = 1, SERIES_SAMPLE = 2 };

static bool take_label(struct message_walk *walk, const struct protobuf_field *field, struct error *error)
{
    struct series *series = walk->context;
    struct text_view pair[2];
    if (field->number != SERIES_LABEL)
        return true;
    if (++series->labels > PYROSCOPE_LABELS)
        return error_set(error, ERROR_BAD_INPUT, "more than %d labels", PYROSCOPE_LABELS);
    if (!read_texts(walk->file, field->bytes, pair, error))
        return false;
    series_add(series, pair[0], pair[1]);
    return true;
}

struct profile_walk {
    struct stored_recording recording; /* of the series */
    pyroscope_taker take;
    void *context;
    size_t profiles;
};

static bool take_sample(struct message_walk *walk, const struct protobuf_field *field, struct error *error)
{
    struct profile_walk *profiles = walk->context;
    struct text_view sample[2]; /* the profile and its id */
    if (field->number != SERIES_SAMPLE)
        return true;
    if (!read_texts(walk->file, field->bytes, sample, error))
        return false;
    if (++profiles->profiles > PYROSCOPE_PROFILES)
        return error_set(error, ERROR_BAD_INPUT, "more than %d profiles", PYROSCOPE_PROFILES);
    if (sample[0].size == 0)
        return error_set(error, ERROR_BAD_INPUT, "a profile is empty");
    sender_number(&profiles->recording, sample[1], sample[0]);
    return profiles->take(profiles->context, &profiles->recording, sample[0]);
}

static bool take_series(struct message_walk *walk, const struct protobuf_field *field, struct error *error)
{
    struct profile_walk *profiles = walk->context;
    struct series series;
    if (field->number != 1)
        return true;
    profiles->recording = (struct stored_recording){.number = 0};
    series_init(&series, &profiles->recording);
    struct message_walk labels = {walk->file, take_label, &series};
    struct message_walk samples = {walk->file, take_sample, profiles};
    if (!walk_message(&labels, field->bytes, error))
        return false;
    if (profiles->recording.application[0] == '\0')
        return error_set(error, ERROR_BAD_INPUT, "a series has no label \"service_name\"");
    return walk_message(&samples, field->bytes, error);
}

bool pyroscope_each_profile(struct text_view message, pyroscope_taker take, void *context,
                            struct error *error)
{
    struct profile_walk profiles = {.take = take, .context = context};
    struct message_walk walk = {message.data, take_series, &profiles};
    return walk_message(&walk, message, error);
}
