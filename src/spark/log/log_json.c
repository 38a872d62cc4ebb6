#include "spark/log/log_json.h"

#define TEXT_LIMIT_BYTES ((size_t)1 << 20)
#define LINE_LIMIT_BYTES_OF_ARENA ((size_t)8 << 20)

void log_json_init(struct log_json *reader)
{
    *reader = (struct log_json){.json = {.source = NULL}};
    arena_init(&reader->texts, LINE_LIMIT_BYTES_OF_ARENA);
    text_builder_init(&reader->more, TEXT_LIMIT_BYTES);
    json_reader_init_memory(&reader->json, TEXT(""), 0, TEXT_LIMIT_BYTES);
}

void log_json_release(struct log_json *reader)
{
    arena_release(&reader->texts);
    text_builder_release(&reader->more);
    json_reader_release(&reader->json);
}

/* The next value, which stays valid; empty if it is not a string. */
static bool read_text(struct log_json *reader, struct text_view *text)
{
    struct error error = {0};
    enum json_token token = json_reader_next(&reader->json, &error);
    if (token == JSON_TEXT) {
        struct text_view copy = arena_copy_text(&reader->texts, reader->json.text);
        *text = copy.data == NULL ? TEXT("") : copy;
        return true;
    }
    return token != JSON_FAILED && json_reader_skip(&reader->json, token, &error);
}

struct stack_frame {
    struct text_view class_name, method, file, line;
};

static bool read_frame(struct log_json *reader, struct stack_frame *frame)
{
    struct error error = {0};
    enum json_token token;
    while ((token = json_reader_next(&reader->json, &error)) == JSON_KEY) {
        struct text_view ignored, key = reader->json.text;
        struct text_view *place = text_equal(key, TEXT("class"))    ? &frame->class_name
                                  : text_equal(key, TEXT("method")) ? &frame->method
                                  : text_equal(key, TEXT("file"))   ? &frame->file
                                  : text_equal(key, TEXT("line"))   ? &frame->line
                                                                    : &ignored;
        if (!read_text(reader, place))
            return false;
    }
    return token == JSON_OBJECT_END;
}

static void add_frame(struct text_builder *more, const struct stack_frame *frame)
{
    text_builder_add_c_string(more, "\n\tat ");
    text_builder_add(more, frame->class_name);
    text_builder_add_byte(more, '.');
    text_builder_add(more, frame->method);
    text_builder_add_byte(more, '(');
    text_builder_add(more, frame->file);
    if (frame->line.size > 0) {
        text_builder_add_byte(more, ':');
        text_builder_add(more, frame->line);
    }
    text_builder_add_byte(more, ')');
}

static bool read_frames(struct log_json *reader)
{
    struct error error = {0};
    enum json_token token = json_reader_next(&reader->json, &error);
    if (token != JSON_ARRAY_BEGIN)
        return token != JSON_FAILED && json_reader_skip(&reader->json, token, &error);
    while ((token = json_reader_next(&reader->json, &error)) == JSON_OBJECT_BEGIN) {
        struct stack_frame frame = {TEXT(""), TEXT(""), TEXT(""), TEXT("")};
        if (!read_frame(reader, &frame))
            return false;
        add_frame(&reader->more, &frame);
    }
    return token == JSON_ARRAY_END;
}

/* {"class":"java.lang.X","msg":"…","stacktrace":[{"class":…,"method":…,"file":…,"line":"7"},…]} */
static bool read_exception(struct log_json *reader)
{
    struct error error = {0};
    enum json_token token = json_reader_next(&reader->json, &error);
    if (token != JSON_OBJECT_BEGIN)
        return token != JSON_FAILED && json_reader_skip(&reader->json, token, &error);
    while ((token = json_reader_next(&reader->json, &error)) == JSON_KEY) {
        struct text_view text = TEXT(""), key = reader->json.text;
        bool is_class = text_equal(key, TEXT("class")), is_message = text_equal(key, TEXT("msg"));
        bool good = text_equal(key, TEXT("stacktrace")) ? read_frames(reader) : read_text(reader, &text);
        if (!good)
            return false;
        if (is_message && reader->more.size > 0)
            text_builder_add_c_string(&reader->more, ": ");
        if (is_class || is_message)
            text_builder_add(&reader->more, text);
    }
    return token == JSON_OBJECT_END;
}

static bool read_member(struct log_json *reader, struct text_view key, struct log_head *head, bool *has_time)
{
    struct text_view text = TEXT("");
    if (text_equal(key, TEXT("exception")))
        return read_exception(reader);
    if (text_equal(key, TEXT("msg")))
        return read_text(reader, &head->message);
    if (text_equal(key, TEXT("logger")))
        return read_text(reader, &head->logger);
    if (text_equal(key, TEXT("thread")) || text_equal(key, TEXT("thread_name")))
        return read_text(reader, &head->thread);
    bool is_time = text_equal(key, TEXT("ts")), is_level = text_equal(key, TEXT("level"));
    if (!read_text(reader, &text))
        return false;
    if (is_time)
        *has_time = log_time_cut(&text, &head->time_ms, &head->has_zone);
    if (is_level)
        head->level = log_level_of(text);
    return true;
}

/* "org.apache.spark.scheduler.DAGScheduler": the text layouts write the last word only. */
static struct text_view short_logger(struct text_view logger)
{
    size_t dot = text_find_last_byte(logger, '.');
    return dot == TEXT_NOT_FOUND ? logger : text_from(logger, dot + 1);
}

bool log_json_parse(struct log_json *reader, struct text_view line, struct log_head *head,
                    struct text_view *more)
{
    struct error error = {0};
    enum json_token token;
    bool has_time = false;
    *head = LOG_HEAD_EMPTY;
    arena_reset(&reader->texts);
    text_builder_clear(&reader->more);
    json_reader_reset_memory(&reader->json, line, 0);
    if (json_reader_next(&reader->json, &error) != JSON_OBJECT_BEGIN)
        return false;
    while ((token = json_reader_next(&reader->json, &error)) == JSON_KEY) {
        struct text_view key = arena_copy_text(&reader->texts, reader->json.text);
        if (key.data == NULL || !read_member(reader, key, head, &has_time))
            return false;
    }
    head->logger = short_logger(head->logger);
    *more = text_builder_view(&reader->more);
    return token == JSON_OBJECT_END && has_time && head->level != LOG_LEVEL_NONE;
}
