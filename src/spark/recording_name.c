#include "spark/recording_name.h"

#define EXECUTOR_MARK TEXT("exec-")

struct text_view recording_base_name(struct text_view path)
{
    static const struct text_view endings[] = {{".gz", 3}, {".zst", 4}, {".lz4", 4}, {".jfr", 4}};
    size_t slash = text_find_last_byte(path, '/');
    struct text_view name = slash == TEXT_NOT_FOUND ? path : text_from(path, slash + 1);
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (name.size > endings[i].size && text_ends_with(name, endings[i]))
            name = text_part(name, 0, name.size - endings[i].size);
    size_t digits = name.size;
    while (digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
        digits--;
    bool is_numbered = digits > 1 && digits < name.size && name.data[digits - 1] == '.';
    return is_numbered ? text_part(name, 0, digits - 1) : name;
}

struct text_view recording_executor(struct text_view path)
{
    struct text_view name = recording_base_name(path);
    if (text_equal(name, TEXT("driver")))
        return name;
    return text_starts_with(name, EXECUTOR_MARK) ? text_from(name, EXECUTOR_MARK.size) : TEXT("");
}
