#include "collector/http/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char type_name[] = "multipart/form-data";

bool multipart_is_type(const char *content_type)
{
    return content_type != NULL && strncasecmp(content_type, type_name, sizeof(type_name) - 1) == 0;
}

static bool equals_ignoring_case(struct text_view text, const char *word)
{
    return text.size == strlen(word) && strncasecmp(text.data, word, text.size) == 0;
}

/* The value of a parameter of a header, "NAME=VALUE" or "NAME="VALUE"" behind a semicolon; empty: there is none. */
static struct text_view parameter(struct text_view header, const char *name)
{
    text_cut(&header, ';');
    while (header.size > 0) {
        header = text_trim(header);
        size_t equals = text_find_byte(header, '=');
        if (equals == TEXT_NOT_FOUND)
            break;
        struct text_view key = text_trim(text_part(header, 0, equals));
        struct text_view value;
        header = text_from(header, equals + 1);
        if (header.size > 0 && header.data[0] == '"') {
            header = text_from(header, 1);
            value = text_cut(&header, '"');
            text_cut(&header, ';');
        } else {
            value = text_trim(text_cut(&header, ';'));
        }
        if (equals_ignoring_case(key, name))
            return value;
    }
    return TEXT("");
}

bool multipart_init(struct multipart *multipart, const char *content_type, struct text_view body,
                    struct error *error)
{
    struct text_view boundary = parameter(text_of(content_type), "boundary");
    *multipart = (struct multipart){.rest = body};
    if (boundary.size == 0 || boundary.size > MULTIPART_BOUNDARY_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "the content type has no boundary of 1 to %d characters",
                         MULTIPART_BOUNDARY_BYTES);
    snprintf(multipart->delimiter, sizeof(multipart->delimiter), "\r\n--%.*s", TEXT_FORMAT(boundary));
    /* The first delimiter needs no line end before it. */
    struct text_view first = text_from(text_of(multipart->delimiter), 2);
    if (!text_starts_with(body, first)) {
        size_t at = text_find(body, text_of(multipart->delimiter));
        if (at == TEXT_NOT_FOUND)
            return error_set(error, ERROR_BAD_INPUT, "the boundary is not in the body");
        multipart->rest = text_from(body, at + 2);
    }
    multipart->rest = text_from(multipart->rest, first.size);
    return true;
}

/* Cuts the lines up to an empty one off *rest. */
static bool read_header(struct text_view *rest, struct text_view *name, struct error *error)
{
    struct text_view head = text_part(*rest, 0, MULTIPART_HEADER_BYTES);
    size_t end = text_find(head, TEXT("\r\n\r\n"));
    if (end == TEXT_NOT_FOUND)
        return error_set(error, ERROR_BAD_INPUT, "a part of the body has no header that ends within %d bytes",
                         MULTIPART_HEADER_BYTES);
    *rest = text_from(*rest, end + 4);
    head = text_part(head, 0, end);
    *name = TEXT("");
    while (head.size > 0) {
        struct text_view value = text_trim(text_cut(&head, '\n'));
        struct text_view key = text_cut(&value, ':');
        if (equals_ignoring_case(key, "content-disposition"))
            *name = parameter(value, "name");
    }
    return true;
}

bool multipart_next(struct multipart *multipart, struct multipart_part *part, struct error *error)
{
    struct text_view *rest = &multipart->rest;
    if (multipart->ended || text_starts_with(*rest, TEXT("--"))) {
        multipart->ended = true;
        return false;
    }
    if (multipart->parts++ == MULTIPART_PARTS)
        return error_set(error, ERROR_BAD_INPUT, "the body has more than %d parts", MULTIPART_PARTS);
    if (!text_starts_with(*rest, TEXT("\r\n")))
        return error_set(error, ERROR_BAD_INPUT, "a boundary in the body is not the end of its line");
    *rest = text_from(*rest, 2);
    if (!read_header(rest, &part->name, error))
        return false;
    struct text_view delimiter = text_of(multipart->delimiter);
    size_t end = text_find(*rest, delimiter);
    if (end == TEXT_NOT_FOUND)
        return error_set(error, ERROR_BAD_INPUT, "the last part of the body has no end");
    part->content = text_part(*rest, 0, end);
    *rest = text_from(*rest, end + delimiter.size);
    return true;
}
