#include "collector/store/recording_path.h"

#include "spark/recording_name.h"

/* Takes the last part of *path. */
static struct text_view take_last(struct text_view *path)
{
    size_t slash = text_find_last_byte(*path, '/');
    struct text_view last = slash == TEXT_NOT_FOUND ? *path : text_from(*path, slash + 1);
    *path = text_part(*path, 0, slash == TEXT_NOT_FOUND ? 0 : slash);
    return last;
}

static struct text_view digits_at_end(struct text_view text)
{
    size_t digits = text.size;
    while (digits > 0 && text.data[digits - 1] >= '0' && text.data[digits - 1] <= '9')
        digits--;
    return text_from(text, digits);
}

/* "000002" of "exec-1.000002.jfr.gz" and of "000002.jfr"; else empty. */
static struct text_view number_of(struct text_view name)
{
    struct text_view base = recording_base_name(name);
    if (base.size < name.size && name.data[base.size] == '.') {
        struct text_view rest = text_from(name, base.size + 1);
        struct text_view number = text_cut(&rest, '.');
        if (number.size > 0 && digits_at_end(number).size == number.size)
            return number;
    }
    return digits_at_end(base).size == base.size ? base : TEXT("");
}

static bool set_missing(char to[RECORDING_ID_BYTES + 1], const char *what, struct text_view id,
                        struct error *error)
{
    if (to[0] != '\0')
        return true;
    if (!recording_id_is_valid(id))
        return error_set(error, ERROR_USAGE, "its path names no %s: give --%s", what, what);
    return recording_set_id(to, what, id, error);
}

bool recording_read_path(struct stored_recording *recording, struct text_view path, struct error *error)
{
    struct text_view name = take_last(&path);
    struct text_view executor = recording_executor(name);
    struct text_view number = number_of(name);
    if (executor.size == 0 && number.size > 0 && digits_at_end(recording_base_name(name)).size == number.size)
        executor = take_last(&path);
    if (recording->sequence == UINT64_MAX &&
        (!text_to_u64(number, &recording->sequence) || recording->sequence > INT64_MAX))
        recording->sequence = 0;
    return set_missing(recording->executor, "executor", executor, error) &&
           set_missing(recording->application, "application", take_last(&path), error);
}
