#include "jvm_agent/handler/class_names.h"

#include <string.h>

void class_names_init(struct class_names *classes, size_t limit_bytes)
{
    memset(classes, 0, sizeof(*classes));
    pthread_mutex_init(&classes->mutex, NULL);
    classes->limit_bytes = limit_bytes;
}

void class_names_release(struct class_names *classes)
{
    if (classes->opened)
        string_table_release(&classes->names);
    classes->opened = false;
    atomic_store(&classes->used_bytes, 0);
    pthread_mutex_destroy(&classes->mutex);
}

static uint32_t add_locked(struct class_names *classes, struct text_view name)
{
    if (!classes->opened)
        classes->opened = string_table_init(&classes->names, classes->limit_bytes);
    if (!classes->opened || atomic_load(&classes->used_bytes) > classes->limit_bytes)
        return NO_STRING;
    uint32_t number = string_table_add(&classes->names, name);
    atomic_store(&classes->used_bytes, string_table_bytes(&classes->names));
    return number;
}

uint32_t class_names_add_name(struct class_names *classes, struct text_view name)
{
    pthread_mutex_lock(&classes->mutex);
    uint32_t number = add_locked(classes, name);
    pthread_mutex_unlock(&classes->mutex);
    if (number != NO_STRING)
        return number;
    atomic_fetch_add(&classes->refused, 1);
    return 0;
}

uint32_t class_names_add(struct class_names *classes, const char *signature)
{
    struct text_view name = text_of(signature);
    if (name.size > 2 && name.data[0] == 'L')
        name = text_part(name, 1, name.size - 2);
    return class_names_add_name(classes, name);
}

struct text_view class_names_text(struct class_names *classes, uint32_t number)
{
    pthread_mutex_lock(&classes->mutex);
    struct text_view text = classes->opened ? string_table_text(&classes->names, number) : TEXT("");
    pthread_mutex_unlock(&classes->mutex);
    return text;
}
