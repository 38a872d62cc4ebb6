#include "symbols/demangle.h"

#include <string.h>

#include "symbols/demangle_output.h"

void demangle_output_add(struct demangle_output *output, const char *text, size_t length)
{
    if (output->full || length >= output->size - output->length) {
        output->full = true;
        return;
    }
    memcpy(output->text + output->length, text, length);
    output->length += length;
    output->text[output->length] = '\0';
}

void demangle_output_add_text(struct demangle_output *output, const char *text)
{
    demangle_output_add(output, text, strlen(text));
}

void demangle_output_add_number(struct demangle_output *output, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof(digits);
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    demangle_output_add(output, digits + at, sizeof(digits) - at);
}

char demangle_output_last(const struct demangle_output *output)
{
    return output->length == 0 ? '\0' : output->text[output->length - 1];
}

static void copy_cut(const char *name, char *out, size_t size)
{
    size_t length = strnlen(name, size - 1);
    memcpy(out, name, length);
    out[length] = '\0';
}

bool demangle(const char *name, enum demangle_style style, char *out, size_t size)
{
    if (size == 0)
        return false;
    bool name_only = style == DEMANGLE_NAME_ONLY;
    struct demangle_output output = {.text = out, .size = size};
    out[0] = '\0';
    if (demangle_rust(name, name_only, &output) && !output.full && output.length > 0)
        return true;
    output = (struct demangle_output){.text = out, .size = size};
    if (demangle_cpp(name, name_only, &output) && !output.full && output.length > 0)
        return true;
    copy_cut(name, out, size);
    return false;
}
