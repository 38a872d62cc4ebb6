#include "collector/store/stored_recording.h"

#include <string.h>

#include "base/utf8.h"

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool recording_id_is_valid(struct text_view id)
{
    bool only_dots = true;
    for (size_t i = 0; i < id.size; i++) {
        char byte = id.data[i];
        if (!is_letter(byte) && !is_digit(byte) && byte != '.' && byte != '-')
            return false;
        only_dots = only_dots && byte == '.';
    }
    return !only_dots && id.size <= RECORDING_ID_BYTES;
}

bool recording_set_id(char to[RECORDING_ID_BYTES + 1], const char *what, struct text_view id,
                      struct error *error)
{
    if (!recording_id_is_valid(id))
        return error_set(error, ERROR_BAD_INPUT,
                         "%s must be 1 to %d letters, digits, '_', '.' or '-', not only dots", what,
                         RECORDING_ID_BYTES);
    memcpy(to, id.data, id.size);
    to[id.size] = '\0';
    return true;
}

static bool label_name_is_valid(struct text_view name)
{
    if (name.size == 0 || name.size > RECORDING_LABEL_NAME_BYTES || !is_letter(name.data[0]))
        return false;
    for (size_t i = 1; i < name.size; i++)
        if (!is_letter(name.data[i]) && !is_digit(name.data[i]) && name.data[i] != '.')
            return false;
    return true;
}

static bool label_value_is_valid(struct text_view value)
{
    if (value.size == 0 || value.size > RECORDING_LABEL_VALUE_BYTES || !utf8_is_valid(value))
        return false;
    for (size_t i = 0; i < value.size; i++)
        if ((unsigned char)value.data[i] < ' ' || value.data[i] == '\x7f')
            return false;
    return true;
}

bool recording_add_label(struct stored_recording *recording, struct text_view label, struct error *error)
{
    struct text_view value = label;
    struct text_view name = text_cut(&value, '=');
    if (!label_name_is_valid(name) || !label_value_is_valid(value))
        return error_set(
            error, ERROR_BAD_INPUT,
            "a label must be name=value, a name of at most %d letters, digits, '_' and '.', and a "
            "value of 1 to %d bytes without control characters",
            RECORDING_LABEL_NAME_BYTES, RECORDING_LABEL_VALUE_BYTES);
    struct text_view rest = text_of(recording->labels);
    size_t used = rest.size;
    size_t count = 0;
    for (; rest.size > 0; count++) {
        struct text_view line = text_cut(&rest, '\n');
        if (text_equal(text_cut(&line, '='), name))
            return error_set(error, ERROR_BAD_INPUT, "the label %.*s is given twice", TEXT_FORMAT(name));
    }
    if (count == RECORDING_LABELS || used + label.size + 1 > RECORDING_LABELS_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "more than %d labels, or over %d bytes of them",
                         RECORDING_LABELS, RECORDING_LABELS_BYTES);
    memcpy(recording->labels + used, label.data, label.size);
    recording->labels[used + label.size] = '\n';
    recording->labels[used + label.size + 1] = '\0';
    return true;
}

bool recording_same_key(const struct stored_recording *left, const struct stored_recording *right)
{
    return left->sequence == right->sequence && strcmp(left->executor, right->executor) == 0 &&
           strcmp(left->application, right->application) == 0 && strcmp(left->attempt, right->attempt) == 0 &&
           strcmp(left->group, right->group) == 0;
}

static void write_line(struct text_builder *to, const char *name, const char *value)
{
    text_builder_format(to, "%s=%s\n", name, value);
}

void recording_write_meta(const struct stored_recording *recording, struct text_builder *to)
{
    write_line(to, "application", recording->application);
    if (recording->attempt[0] != '\0')
        write_line(to, "attempt", recording->attempt);
    write_line(to, "executor", recording->executor);
    text_builder_format(to, "sequence=%llu\n", (unsigned long long)recording->sequence);
    write_line(to, "kind", recording->kind);
    for (struct text_view rest = text_of(recording->labels); rest.size > 0;) {
        struct text_view line = text_cut(&rest, '\n');
        text_builder_format(to, "label=%.*s\n", TEXT_FORMAT(line));
    }
}

static bool read_line(struct stored_recording *recording, struct text_view name, struct text_view value,
                      struct error *error)
{
    if (text_equal(name, TEXT("application")))
        return recording_set_id(recording->application, "application", value, error);
    if (text_equal(name, TEXT("attempt")))
        return recording_set_id(recording->attempt, "attempt", value, error);
    if (text_equal(name, TEXT("executor")))
        return recording_set_id(recording->executor, "executor", value, error);
    if (text_equal(name, TEXT("label")))
        return recording_add_label(recording, value, error);
    if (text_equal(name, TEXT("kind")) && value.size <= RECORDING_KIND_BYTES &&
        recording_id_is_valid(value)) {
        memcpy(recording->kind, value.data, value.size);
        recording->kind[value.size] = '\0';
        return true;
    }
    if (text_equal(name, TEXT("sequence")) && text_to_u64(value, &recording->sequence) &&
        recording->sequence <= INT64_MAX)
        return true;
    return error_set(error, ERROR_BAD_INPUT, "unknown or invalid line in the description of a recording");
}

bool recording_read_meta(struct stored_recording *recording, struct text_view meta, struct error *error)
{
    recording->application[0] = recording->attempt[0] = recording->executor[0] = '\0';
    recording->kind[0] = recording->labels[0] = '\0';
    recording->sequence = UINT64_MAX;
    while (meta.size > 0) {
        struct text_view value = text_cut(&meta, '\n');
        struct text_view name = text_cut(&value, '=');
        if (!read_line(recording, name, value, error))
            return false;
    }
    if (recording->application[0] == '\0' || recording->executor[0] == '\0' || recording->kind[0] == '\0' ||
        recording->sequence == UINT64_MAX)
        return error_set(error, ERROR_BAD_INPUT, "the description of a recording lacks a line");
    return true;
}
