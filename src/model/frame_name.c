#include "model/frame_name.h"

#include "model/readable_name.h"

bool name_style_is_plain(const struct name_style *style)
{
    return !style->lines && !style->files && !style->kinds && !style->readable && !style->dots &&
           !style->simple && !style->normalize;
}

/* "pkg/sub/Class.method" and "pkg.sub.Class.method" to "Class.method"; names of other languages stay. */
static struct text_view without_package(struct text_view name)
{
    size_t slash = text_find_last_byte(name, '/');
    if (slash != TEXT_NOT_FOUND)
        return text_from(name, slash + 1);
    size_t method = text_find_last_byte(name, '.');
    if (method == TEXT_NOT_FOUND || method == 0)
        return name;
    size_t package = text_find_last_byte(text_part(name, 0, method), '.');
    return package == TEXT_NOT_FOUND ? name : text_from(name, package + 1);
}

static void add_with_dots(struct text_builder *text, struct text_view name)
{
    size_t start = text->size;
    text_builder_add(text, name);
    for (size_t i = start; i < text->size; i++)
        if (text->data[i] == '/')
            text->data[i] = '.';
}

bool frame_is_of_python_file(const struct profile *profile, const struct frame *frame)
{
    if (frame->file == 0)
        return false;
    /* pprof does not hold kinds. */
    return frame->kind == FRAME_PYTHON ||
           (frame->kind == FRAME_UNKNOWN && text_ends_with(profile_text(profile, frame->file), TEXT(".py")));
}

/* "/opt/spark/worker.py" and "C:\jobs\worker.py" to "worker.py" */
static struct text_view without_folder(struct text_view file)
{
    size_t slash = text_find_last_byte(file, '/');
    file = slash == TEXT_NOT_FOUND ? file : text_from(file, slash + 1);
    size_t backslash = text_find_last_byte(file, '\\');
    return backslash == TEXT_NOT_FOUND ? file : text_from(file, backslash + 1);
}

static void add_file(const struct profile *profile, const struct frame *frame, struct text_builder *text)
{
    text_builder_add(text, TEXT(" ("));
    text_builder_add(text, without_folder(profile_text(profile, frame->file)));
    text_builder_add_byte(text, ')');
}

/* Java text has the line only; Python text has "(file.py:12)", as py-spy writes it. */
static void add_line(const struct profile *profile, const struct frame *frame, struct text_builder *text)
{
    struct text_view file = profile_text(profile, frame->file);
    bool java = frame_kind_is_java(frame->kind);
    if (file.size > 0 && !java) {
        text_builder_add(text, TEXT(" ("));
        text_builder_add(text, file);
        if (frame->line > 0) {
            text_builder_add_byte(text, ':');
            text_builder_add_u64(text, frame->line);
        }
        text_builder_add_byte(text, ')');
    } else if (frame->line > 0) {
        text_builder_add_byte(text, ':');
        text_builder_add_u64(text, frame->line);
    }
}

/* Only Java's names are paths of packages; native and Python names with '/' are unchanged. */
static bool may_hold_package(const struct frame *frame)
{
    return frame->kind == FRAME_UNKNOWN || frame->kind == FRAME_CLASS || frame_kind_is_java(frame->kind);
}

void frame_name_add(const struct profile *profile, uint32_t frame_number, const struct name_style *style,
                    struct text_builder *text)
{
    const struct frame *frame = &profile->frames.frames[frame_number];
    struct text_view name = profile_text(profile, frame->name);
    size_t start = text->size;
    if (style->readable)
        readable_name_add(name, frame->kind, text);
    else if (style->normalize)
        normalized_name_add(name, text);
    else
        text_builder_add(text, name);
    if ((style->simple || style->dots) && may_hold_package(frame) && !text->failed) {
        struct text_builder plain;
        text_builder_init(&plain, text->limit_bytes);
        struct text_view made = text_from(text_builder_view(text), start);
        text_builder_add(&plain, style->simple ? without_package(made) : made);
        text->size = start;
        if (style->dots)
            add_with_dots(text, text_builder_view(&plain));
        else
            text_builder_add(text, text_builder_view(&plain));
        text_builder_release(&plain);
    }
    bool with_file = style->files && !style->lines && frame_is_of_python_file(profile, frame);
    if (style->lines)
        add_line(profile, frame, text);
    else if (with_file)
        add_file(profile, frame, text);
    /* "(file.py:12)" says already that it is Python. */
    bool says_python = with_file || (frame->kind == FRAME_PYTHON && style->lines && frame->file != 0);
    if (style->kinds && !says_python)
        text_builder_add_c_string(text, frame_kind_suffix(frame->kind));
}
