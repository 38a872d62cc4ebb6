#include "model/readable_name.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(char byte)
{
    return is_digit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

static size_t skip_digits(struct text_view name, size_t at)
{
    while (at < name.size && is_digit(name.data[at]))
        at++;
    return at;
}

/* Bytes of "0x1f…" at `at`; 0 when there is none. */
static size_t hex_size(struct text_view name, size_t at)
{
    struct text_view rest = text_from(name, at);
    if (!text_starts_with(rest, TEXT("0x")))
        return 0;
    size_t size = 2;
    while (size < rest.size && is_hex(rest.data[size]))
        size++;
    return size > 2 ? size : 0;
}

/*
 * The part that names one JVM's instance of a lambda or hidden class:
 *   $$Lambda$1234/0x00007f..   $$Lambda/0x..   $$Lambda+0x..   $$Lambda$14.1234   LambdaForm$MH/0x..   /123456789
 * Returns the bytes to leave out at `at`, where '$', '/', '+' or '.' stands.
 */
static size_t instance_size(struct text_view name, size_t at)
{
    char first = name.data[at];
    if (first != '/' && first != '+' && first != '.')
        return 0;
    size_t hex = hex_size(name, at + 1);
    if (hex > 0)
        return 1 + hex;
    size_t digits = skip_digits(name, at + 1) - at - 1;
    bool ends = at + 1 + digits == name.size || name.data[at + 1 + digits] == '.';
    return first == '/' && digits > 0 && ends ? 1 + digits : 0;
}

/* Classes numbered in order of creation: removes the number. */
static const struct text_view numbered[] = {
    {"$$Lambda$", 9},
    {"$Proxy", 6},
    {"GeneratedMethodAccessor", 23},
    {"GeneratedConstructorAccessor", 28},
    {"GeneratedSerializationConstructorAccessor", 41},
};

static size_t numbered_prefix(struct text_view rest)
{
    for (size_t i = 0; i < COUNT_OF(numbered); i++)
        if (text_starts_with(rest, numbered[i]) && rest.size > numbered[i].size &&
            is_digit(rest.data[numbered[i].size]))
            return numbered[i].size;
    return 0;
}

void normalized_name_add(struct text_view name, struct text_builder *text)
{
    size_t at = 0;
    while (at < name.size && !text->failed) {
        size_t prefix = numbered_prefix(text_from(name, at));
        if (prefix > 0) {
            bool lambda = text_starts_with(text_from(name, at), TEXT("$$Lambda$"));
            text_builder_add(text, text_part(name, at, lambda ? prefix - 1 : prefix));
            at = skip_digits(name, at + prefix);
            continue;
        }
        size_t instance = instance_size(name, at);
        if (instance == 0)
            text_builder_add_byte(text, name.data[at++]);
        else
            at += instance;
    }
}

/* Cuts a trailing "$12" off. */
static struct text_view without_number(struct text_view name)
{
    size_t size = name.size;
    while (size > 0 && is_digit(name.data[size - 1]))
        size--;
    if (size < name.size && size > 0 && name.data[size - 1] == '$')
        name.size = size - 1;
    return name;
}

struct java_name {
    struct text_view class_name; /* with package, without '.' */
    struct text_view method;
};

static bool split_java(struct text_view name, struct java_name *java)
{
    size_t dot = text_find_last_byte(name, '.');
    if (dot == TEXT_NOT_FOUND || dot + 1 == name.size)
        return false;
    *java = (struct java_name){text_part(name, 0, dot), text_from(name, dot + 1)};
    return true;
}

static struct text_view last_part(struct text_view class_name)
{
    size_t slash = text_find_last_byte(class_name, '/');
    size_t dot = text_find_last_byte(class_name, '.');
    size_t cut = slash != TEXT_NOT_FOUND ? slash : dot;
    return cut == TEXT_NOT_FOUND ? class_name : text_from(class_name, cut + 1);
}

/* "$anonfun$map$1$adapted", "lambda$map$3", "$anonfun$new$2" and the like: the method that holds the closure. */
static bool closure_owner(struct text_view method, struct text_view *owner)
{
    if (text_starts_with(method, TEXT("$anonfun$")))
        *owner = text_from(method, 9);
    else if (text_starts_with(method, TEXT("lambda$")))
        *owner = text_from(method, 7);
    else
        return false;
    if (text_ends_with(*owner, TEXT("$adapted")))
        owner->size -= 8;
    *owner = without_number(*owner);
    if (owner->size == 0 || (owner->size == 1 && owner->data[0] == '$'))
        *owner = TEXT("anonymous");
    return true;
}

/* "apply$mcV$sp": Scala's specialised copies of a method. */
static struct text_view without_specialization(struct text_view method)
{
    size_t at = text_find(method, TEXT("$mc"));
    bool specialized = at != TEXT_NOT_FOUND && at > 0 && text_ends_with(method, TEXT("$sp"));
    return specialized ? text_part(method, 0, at) : method;
}

static bool add_spark_generated(struct java_name java, struct text_builder *text)
{
    struct text_view class_name = last_part(java.class_name);
    if (text_find(java.class_name, TEXT("catalyst/expressions/GeneratedClass$")) == TEXT_NOT_FOUND &&
        text_find(java.class_name, TEXT("catalyst.expressions.GeneratedClass$")) == TEXT_NOT_FOUND)
        return false;
    struct text_view kind = text_from(class_name, 15);
    size_t stage = text_find(kind, TEXT("ForCodegenStage"));
    text_builder_add(text, TEXT("generated "));
    if (stage != TEXT_NOT_FOUND) {
        text_builder_add(text, TEXT("stage "));
        text_builder_add(text, text_from(kind, stage + 15));
    } else {
        text_builder_add(text, kind);
    }
    text_builder_add_byte(text, '.');
    text_builder_add(text, java.method);
    return true;
}

static void add_java(struct java_name java, struct text_builder *text)
{
    struct text_view owner;
    size_t lambda = text_find(java.class_name, TEXT("$$Lambda"));
    if (lambda != TEXT_NOT_FOUND) {
        text_builder_add(text, text_part(java.class_name, 0, lambda));
        text_builder_add(text, TEXT(" lambda."));
        text_builder_add(text, without_specialization(java.method));
    } else if (closure_owner(java.method, &owner)) {
        normalized_name_add(java.class_name, text);
        text_builder_add_byte(text, '.');
        text_builder_add(text, owner);
        text_builder_add(text, TEXT(" closure"));
    } else {
        normalized_name_add(java.class_name, text);
        text_builder_add_byte(text, '.');
        text_builder_add(text, without_specialization(java.method));
    }
}

void readable_name_add(struct text_view name, enum frame_kind kind, struct text_builder *text)
{
    struct java_name java;
    bool may_be_java = kind == FRAME_UNKNOWN || frame_kind_is_java(kind);
    if (!may_be_java || !split_java(name, &java))
        text_builder_add(text, name);
    else if (!add_spark_generated(java, text))
        add_java(java, text);
}
