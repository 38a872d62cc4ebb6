#include "spark/log/log_head.h"

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct text_view skip_blanks(struct text_view text)
{
    while (text.size > 0 && is_blank(text.data[0]))
        text = text_from(text, 1);
    return text;
}

static const struct {
    struct text_view name;
    enum log_level level;
} levels[] = {
    {TEXT("TRACE"), LOG_LEVEL_TRACE},  {TEXT("DEBUG"), LOG_LEVEL_DEBUG},  {TEXT("INFO"), LOG_LEVEL_INFO},
    {TEXT("WARN"), LOG_LEVEL_WARN},    {TEXT("ERROR"), LOG_LEVEL_ERROR},  {TEXT("FATAL"), LOG_LEVEL_FATAL},
    {TEXT("WARNING"), LOG_LEVEL_WARN}, {TEXT("SEVERE"), LOG_LEVEL_ERROR}, {TEXT("CRITICAL"), LOG_LEVEL_FATAL},
};

enum log_level log_level_of(struct text_view name)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        if (text_equal(name, levels[i].name))
            return levels[i].level;
    return LOG_LEVEL_NONE;
}

const char *log_level_name(enum log_level level)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        if (levels[i].level == level)
            return levels[i].name.data;
    return "NONE";
}

static struct text_view peek_word(struct text_view text)
{
    size_t size = 0;
    while (size < text.size && !is_blank(text.data[size]))
        size++;
    return text_part(text, 0, size);
}

/* "[a thread's name [1]]": brackets may nest in it. */
static bool cut_bracketed(struct text_view *text, struct text_view *inner)
{
    if (text->size == 0 || text->data[0] != '[')
        return false;
    size_t depth = 0;
    for (size_t i = 0; i < text->size; i++) {
        depth += text->data[i] == '[';
        depth -= text->data[i] == ']';
        if (depth == 0) {
            *inner = text_part(*text, 1, i - 1);
            *text = skip_blanks(text_from(*text, i + 1));
            return true;
        }
    }
    return false;
}

/* Level and thread come in either order; the thread, when it is there, in brackets. */
static bool cut_level_and_thread(struct text_view *rest, struct log_head *head)
{
    struct text_view inner;
    for (int i = 0; i < 3; i++) {
        struct text_view word = peek_word(*rest);
        if (head->level == LOG_LEVEL_NONE && (head->level = log_level_of(word)) != LOG_LEVEL_NONE)
            *rest = skip_blanks(text_from(*rest, word.size));
        else if (head->thread.size == 0 && cut_bracketed(rest, &inner)) {
            enum log_level level = log_level_of(text_trim(inner));
            if (level != LOG_LEVEL_NONE && head->level == LOG_LEVEL_NONE)
                head->level = level;
            else
                head->thread = inner;
        } else
            break;
    }
    return head->level != LOG_LEVEL_NONE;
}

/* "Utils: …", "Utils:62 - …", "Utils - …"; else all is the message. */
static void cut_logger(struct text_view rest, struct log_head *head)
{
    head->message = rest;
    struct text_view word = peek_word(rest);
    struct text_view after = skip_blanks(text_from(rest, word.size));
    bool has_dash = text_starts_with(after, TEXT("- ")) || text_equal(after, TEXT("-"));
    if (word.size > 1 && word.data[word.size - 1] == ':') {
        head->logger = text_part(word, 0, word.size - 1);
        head->message = after;
    } else if (word.size > 0 && has_dash) {
        size_t colon = text_find_last_byte(word, ':');
        head->logger = colon == TEXT_NOT_FOUND ? word : text_part(word, 0, colon);
        head->message = skip_blanks(text_from(after, 1));
    }
}

bool log_head_parse(struct text_view line, struct log_head *head)
{
    *head = LOG_HEAD_EMPTY;
    struct text_view rest = line;
    if (rest.size < 17 || !log_time_cut(&rest, &head->time_ms, &head->has_zone))
        return false;
    rest = skip_blanks(rest);
    if (!cut_level_and_thread(&rest, head))
        return false;
    cut_logger(rest, head);
    return true;
}
