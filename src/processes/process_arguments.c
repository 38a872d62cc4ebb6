#include "processes/process_arguments.h"

#include <stdio.h>

#include "base/attributes.h"

struct text_view argument_after(struct text_view arguments, const char *option)
{
    while (arguments.size > 0)
        if (text_equal(text_cut(&arguments, '\0'), text_of(option)))
            return text_cut(&arguments, '\0');
    return TEXT("");
}

struct text_view argument_value(struct text_view items, const char *prefix, const char *name)
{
    struct text_view start = text_of(prefix), key = text_of(name);
    while (items.size > 0) {
        struct text_view value = text_cut(&items, '\0');
        if (!text_starts_with(value, start))
            continue;
        value = text_from(value, start.size);
        if (text_equal(text_cut(&value, '='), key))
            return value;
    }
    return TEXT("");
}

bool argument_present(struct text_view arguments, const char *exact)
{
    while (arguments.size > 0)
        if (text_equal(text_cut(&arguments, '\0'), text_of(exact)))
            return true;
    return false;
}

/* Options of the java launcher whose value is the next argument. */
static bool takes_next(struct text_view option)
{
    static const char *const options[] = {"-cp",
                                          "-classpath",
                                          "--class-path",
                                          "-p",
                                          "--module-path",
                                          "--upgrade-module-path",
                                          "--add-modules",
                                          "--add-opens",
                                          "--add-exports",
                                          "--add-reads",
                                          "--patch-module",
                                          "--limit-modules",
                                          "-d",
                                          "--describe-module",
                                          "--source",
                                          "--enable-native-access"};
    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (text_equal(option, text_of(options[i])))
            return true;
    return false;
}

struct text_view java_main_class(struct text_view arguments)
{
    text_cut(&arguments, '\0');
    while (arguments.size > 0) {
        struct text_view argument = text_cut(&arguments, '\0');
        if (text_equal(argument, TEXT("-jar")) || text_equal(argument, TEXT("-m")) ||
            text_equal(argument, TEXT("--module")))
            return text_cut(&arguments, '\0');
        if (takes_next(argument))
            text_cut(&arguments, '\0');
        else if (argument.size > 0 && argument.data[0] != '-' && argument.data[0] != '@')
            return argument;
    }
    return TEXT("");
}

struct text_view python_program(struct text_view arguments, bool *is_module)
{
    *is_module = false;
    text_cut(&arguments, '\0');
    while (arguments.size > 0) {
        struct text_view argument = text_cut(&arguments, '\0');
        if (text_equal(argument, TEXT("-m"))) {
            *is_module = true;
            return text_cut(&arguments, '\0');
        }
        if (text_equal(argument, TEXT("-c")))
            return argument;
        if (text_equal(argument, TEXT("-W")) || text_equal(argument, TEXT("-X")))
            text_cut(&arguments, '\0');
        else if (argument.size > 0 && argument.data[0] != '-')
            return argument;
    }
    return TEXT("");
}

static bool is_number(struct text_view text)
{
    uint64_t number;
    return text.size > 0 && text_to_u64(text, &number);
}

struct text_view application_of_container(struct text_view container, char *room)
{
    if (!text_starts_with(container, TEXT("container_")))
        return TEXT("");
    container = text_from(container, 10);
    struct text_view part = text_cut(&container, '_');
    if (part.size > 1 && part.data[0] == 'e') /* the resource manager's epoch */
        part = text_cut(&container, '_');
    struct text_view sequence = text_cut(&container, '_');
    if (!is_number(part) || !is_number(sequence))
        return TEXT("");
    int size = snprintf(room, 64, "application_%.*s_%.*s", TEXT_FORMAT(part), TEXT_FORMAT(sequence));
    return size > 0 && size < 64 ? (struct text_view){room, (size_t)size} : TEXT("");
}
