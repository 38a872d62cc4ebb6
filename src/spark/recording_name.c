#include "spark/recording_name.h"

#include "base/attributes.h"

#define EXECUTOR_MARK TEXT("exec-")
#define SPARKS_MARK TEXT("profile-")

/* "000002", and "000001-000012" of several recordings that were joined. */
static bool is_sequence(struct text_view name)
{
    if (name.size == 0 || name.data[0] == '-')
        return false;
    for (size_t i = 0; i < name.size; i++)
        if ((name.data[i] < '0' || name.data[i] > '9') && name.data[i] != '-')
            return false;
    return true;
}

static bool is_process(struct text_view name)
{
    return text_equal(name, TEXT("driver")) || text_starts_with(name, EXECUTOR_MARK);
}

/* Cuts the last part of the path off. */
static struct text_view cut_last(struct text_view *path)
{
    struct text_view whole = *path;
    size_t slash = text_find_last_byte(whole, '/');
    *path = slash == TEXT_NOT_FOUND ? TEXT("") : text_part(whole, 0, slash);
    return slash == TEXT_NOT_FOUND ? whole : text_from(whole, slash + 1);
}

struct text_view recording_base_name(struct text_view path)
{
    static const struct text_view endings[] = {{".gz", 3}, {".zst", 4}, {".lz4", 4}, {".jfr", 4}};
    struct text_view name = cut_last(&path), folder = cut_last(&path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (name.size > endings[i].size && text_ends_with(name, endings[i]))
            name = text_part(name, 0, name.size - endings[i].size);
    if (is_sequence(name) && is_process(folder))
        return folder;
    size_t digits = name.size;
    while (digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
        digits--;
    bool is_numbered = digits > 1 && digits < name.size && name.data[digits - 1] == '.';
    return is_numbered ? text_part(name, 0, digits - 1) : name;
}

struct text_view recording_executor(struct text_view path)
{
    struct text_view name = recording_base_name(path);
    if (text_starts_with(name, SPARKS_MARK))
        name = text_from(name, SPARKS_MARK.size);
    if (text_equal(name, TEXT("driver")))
        return name;
    return text_starts_with(name, EXECUTOR_MARK) ? text_from(name, EXECUTOR_MARK.size) : TEXT("");
}

/* ---- applications ---- */

static size_t digits_at(struct text_view text, size_t from)
{
    size_t at = from;
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at - from;
}

static size_t hex_digits_at(struct text_view text, size_t from)
{
    size_t at = from;
    while (at < text.size &&
           ((text.data[at] >= '0' && text.data[at] <= '9') || (text.data[at] >= 'a' && text.data[at] <= 'f')))
        at++;
    return at - from;
}

/* How much of the name is an application id; 0: it has none. */
static size_t id_size(struct text_view name)
{
    static const struct {
        struct text_view start;
        size_t min_digits, separator; /* bytes between two numbers; 0: there is one number */
    } forms[] = {
        {TEXT("application_"), 1, 1},
        {TEXT("app-"), 14, 1},
        {TEXT("local-"), 13, 0},
        {TEXT("spark-application-"), 13, 0},
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (!text_starts_with(name, forms[i].start))
            continue;
        size_t first = digits_at(name, forms[i].start.size), size = forms[i].start.size + first;
        if (first < forms[i].min_digits || forms[i].separator == 0)
            return first < forms[i].min_digits ? 0 : size;
        bool is_separated = size < name.size && name.data[size] == (i == 0 ? '_' : '-');
        size_t second = is_separated ? digits_at(name, size + 1) : 0;
        return second == 0 ? 0 : size + 1 + second;
    }
    return text_starts_with(name, TEXT("spark-")) && hex_digits_at(name, 6) == 32 ? 38 : 0;
}

struct text_view recording_application(struct text_view path)
{
    struct text_view found = TEXT("");
    while (path.size > 0) {
        struct text_view name = text_cut(&path, '/');
        size_t size = id_size(name);
        found = size > 0 ? text_part(name, 0, size) : found;
    }
    return found;
}
