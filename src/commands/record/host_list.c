#include "commands/record/host_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void host_list_init(struct host_list *list)
{
    *list = (struct host_list){.count = 0};
}

void host_list_release(struct host_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    host_list_init(list);
}

bool host_name_is_valid(struct text_view name)
{
    static const char others[] = "._-:@";
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    struct text_view host = name, user = text_cut(&host, '@');
    bool has_user = user.size < name.size;
    if (has_user && (user.size == 0 || strchr(".-", user.data[0]) != NULL))
        return false;
    host = has_user ? host : user;
    return host.size > 0 && name.size <= HOST_NAME_BYTES && strchr(".-@", host.data[0]) == NULL &&
           text_find_byte(host, '@') == TEXT_NOT_FOUND;
}

bool host_list_has(const struct host_list *list, struct text_view name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strlen(list->names[i]) == name.size && strncasecmp(list->names[i], name.data, name.size) == 0)
            return true;
    return false;
}

/* For messages: without bytes that a terminal would obey. */
static void copy_printable(char *to, size_t room, struct text_view text)
{
    size_t size = text.size < room - 1 ? text.size : room - 1;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        to[i] = byte < ' ' || byte >= 0x7f ? '?' : (char)byte;
    }
    to[size] = '\0';
}

bool host_list_add(struct host_list *list, struct text_view name, struct error *error)
{
    char shown[80];
    copy_printable(shown, sizeof(shown), name);
    if (!host_name_is_valid(name))
        return error_set(error, ERROR_USAGE, "\"%s\" is not a host name", shown);
    if (host_list_has(list, name))
        return error_set(error, ERROR_USAGE, "host %s is given twice", shown);
    if (list->count == HOST_LIST_LIMIT)
        return error_set(error, ERROR_USAGE, "more than %d hosts", HOST_LIST_LIMIT);
    if (list->names == NULL)
        list->names = calloc(HOST_LIST_LIMIT, sizeof(*list->names));
    char *copy = list->names == NULL ? NULL : strndup(name.data, name.size);
    if (copy == NULL)
        return error_set_memory(error);
    list->names[list->count++] = copy;
    return true;
}

bool host_list_parse(struct host_list *list, struct text_view text, struct error *error)
{
    while (text.size > 0) {
        struct text_view rest = text_cut(&text, '\n');
        rest = text_trim(text_cut(&rest, '#'));
        while (rest.size > 0)
            if (!host_list_add(list, text_trim(text_cut(&rest, ',')), error))
                return false;
    }
    return list->count > 0 || error_set(error, ERROR_USAGE, "no host given");
}

static bool read_file(struct host_list *list, const char *path, struct error *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_set_system(error, "%s", path);
    char *bytes = malloc(HOST_LIST_FILE_BYTES + 1);
    size_t size = bytes == NULL ? 0 : fread(bytes, 1, HOST_LIST_FILE_BYTES + 1, file);
    bool good = bytes != NULL || error_set_memory(error);
    if (good && ferror(file))
        good = error_set_system(error, "%s", path);
    if (good && size > HOST_LIST_FILE_BYTES)
        good = error_set(error, ERROR_USAGE, "%s: larger than %zu bytes", path, HOST_LIST_FILE_BYTES);
    if (good && !host_list_parse(list, (struct text_view){bytes, size}, error))
        good = error_prefix(error, "%s", path);
    fclose(file);
    free(bytes);
    return good;
}

bool host_list_read(struct host_list *list, const char *argument, struct error *error)
{
    return argument[0] == '@' ? read_file(list, argument + 1, error)
                              : host_list_parse(list, text_of(argument), error);
}
