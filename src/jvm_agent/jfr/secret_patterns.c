#include "jvm_agent/jfr/secret_patterns.h"

#include <stdlib.h>

#include "base/text_builder.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/vm/java_vm.h"

#define PATTERN_LIMIT_BYTES ((size_t)1 << 20)

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static void decode(const char *text, struct text_builder *decoded)
{
    for (; *text != '\0'; text++) {
        int high = *text == '%' ? hex_digit(text[1]) : -1, low = high < 0 ? -1 : hex_digit(text[2]);
        text_builder_add_byte(decoded, low < 0 ? *text : (char)(high * 16 + low));
        text += low < 0 ? 0 : 2;
    }
}

/* NULL: there is none. An expression that is too large is replaced by one that hides everything. */
static const char *shown(struct text_builder *text)
{
    if (text->failed)
        return "";
    return text->size == 0 ? NULL : text_builder_c_string(text);
}

static void declare(const struct arguments *arguments)
{
    struct text_builder keys, texts;
    text_builder_init(&keys, PATTERN_LIMIT_BYTES);
    text_builder_init(&texts, PATTERN_LIMIT_BYTES);
    decode(arguments->redact_keys == NULL ? "" : arguments->redact_keys, &keys);
    decode(arguments->redact_texts == NULL ? "" : arguments->redact_texts, &texts);
    redaction_patterns_declare(shown(&keys), shown(&texts));
    text_builder_release(&keys);
    text_builder_release(&texts);
}

static void read_property(const char *name, struct text_builder *text)
{
    char *value = NULL;
    if (java_vm.tools == NULL ||
        (*java_vm.tools)->GetSystemProperty(java_vm.tools, name, &value) != JVMTI_ERROR_NONE || value == NULL)
        return;
    text_builder_add_c_string(text, value);
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)value);
}

void secret_patterns_read(struct redaction_patterns *patterns)
{
    struct text_builder keys, texts;
    text_builder_init(&keys, PATTERN_LIMIT_BYTES);
    text_builder_init(&texts, PATTERN_LIMIT_BYTES);
    read_property("spark.redaction.regex", &keys);
    read_property("spark.redaction.string.regex", &texts);
    redaction_patterns_init(patterns, shown(&keys), shown(&texts));
    text_builder_release(&keys);
    text_builder_release(&texts);
}

void secret_patterns_declare(const struct arguments *arguments)
{
    struct redaction_patterns patterns;
    declare(arguments);
    secret_patterns_read(&patterns);
    if (patterns.hides_all)
        agent_log(LOG_WARN,
                  "spark.redaction.regex or spark.redaction.string.regex cannot be translated to a POSIX "
                  "expression: recordings have no values of properties and arguments, except harmless ones");
    redaction_patterns_release(&patterns);
}
