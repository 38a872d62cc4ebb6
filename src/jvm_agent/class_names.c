#include "jvm_agent/class_names.h"

#include <pthread.h>
#include <string.h>

#include "base/string_table.h"

#define LIMIT_BYTES ((size_t)64 << 20)

static pthread_mutex_t classes_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct string_table classes;
static bool opened;

static bool open_table(void)
{
    if (!opened)
        opened = string_table_init(&classes, LIMIT_BYTES);
    return opened;
}

uint32_t class_names_add(const char *signature)
{
    struct text_view name = text_of(signature);
    if (name.size > 2 && name.data[0] == 'L')
        name = text_part(name, 1, name.size - 2);
    pthread_mutex_lock(&classes_mutex);
    uint32_t number = open_table() ? string_table_add(&classes, name) : NO_STRING;
    pthread_mutex_unlock(&classes_mutex);
    return number == NO_STRING ? 0 : number;
}

struct text_view class_names_text(uint32_t number)
{
    pthread_mutex_lock(&classes_mutex);
    struct text_view text = open_table() ? string_table_text(&classes, number) : TEXT("");
    pthread_mutex_unlock(&classes_mutex);
    return text;
}

void class_names_clear(void)
{
    pthread_mutex_lock(&classes_mutex);
    if (opened)
        string_table_release(&classes);
    opened = false;
    pthread_mutex_unlock(&classes_mutex);
}
