#include "collector/sender_names.h"

#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

/* As many bits as a number of JavaScript has. */
#define NUMBER_MASK ((UINT64_C(1) << 53) - 1)

static bool is_name_byte(char byte)
{
    return recording_id_is_valid((struct text_view){&byte, 1});
}

void sender_set_id(char to[RECORDING_ID_BYTES + 1], struct text_view text)
{
    text = text_part(text, 0, RECORDING_ID_BYTES);
    if (text.size == 0)
        return;
    bool only_dots = true;
    for (size_t i = 0; i < text.size; i++) {
        to[i] = text.data[i] == '.' || is_name_byte(text.data[i]) ? text.data[i] : '_';
        only_dots = only_dots && to[i] == '.';
    }
    to[text.size] = '\0';
    if (only_dots)
        to[0] = '_';
}

void sender_add_label(struct stored_recording *recording, struct text_view name, struct text_view value)
{
    char line[RECORDING_LABEL_NAME_BYTES + 1 + RECORDING_LABEL_VALUE_BYTES];
    struct error error = {0};
    size_t size = 0;
    name = text_part(name, 0, RECORDING_LABEL_NAME_BYTES);
    for (size_t i = 0; i < name.size; i++)
        line[size++] =
            name.data[i] != '-' && (name.data[i] == '.' || is_name_byte(name.data[i])) ? name.data[i] : '_';
    line[size++] = '=';
    struct text_view rest = text_part(value, 0, RECORDING_LABEL_VALUE_BYTES);
    for (size_t step; (step = utf8_character_size(rest)) > 0; rest = text_from(rest, step)) {
        memcpy(line + size, rest.data, step);
        if ((unsigned char)line[size] < ' ' || line[size] == '\x7f')
            line[size] = ' ';
        size += step;
    }
    bool added = recording_add_label(recording, (struct text_view){line, size}, &error);
    (void)added; /* too many, too long, or known: it is left out */
}

void sender_number(struct stored_recording *recording, struct text_view when, struct text_view body)
{
    uint64_t parts[3] = {hash_bytes(recording->labels, strlen(recording->labels)),
                         hash_bytes(when.data, when.size), hash_bytes(body.data, body.size)};
    recording->sequence = hash_bytes(parts, sizeof(parts)) & NUMBER_MASK;
}
