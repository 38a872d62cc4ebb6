#include "jvm_agent/jfr/label_details.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"

#define NO_CHUNK UINT32_MAX

struct detail {
    uint64_t hash; /* of the label */
    char *text;    /* the label and its details, concatenated */
    uint32_t label_size, labels_size;
    uint32_t chunk; /* last one that contains it */
};

static struct detail details[LABEL_DETAILS_LIMIT];
static size_t count;      /* number ever set: the oldest are replaced */
static size_t text_bytes; /* of all */

static struct text_view label_of(const struct detail *detail)
{
    return (struct text_view){detail->text, detail->label_size};
}

static struct text_view labels_of(const struct detail *detail)
{
    return (struct text_view){detail->text + detail->label_size, detail->labels_size};
}

static struct detail *find(struct text_view label)
{
    uint64_t hash = hash_bytes(label.data, label.size);
    size_t known = count < LABEL_DETAILS_LIMIT ? count : LABEL_DETAILS_LIMIT;
    for (size_t i = 0; i < known; i++)
        if (details[i].hash == hash && text_equal(label_of(&details[i]), label))
            return &details[i];
    return NULL;
}

static void forget(struct detail *detail)
{
    text_bytes -= (size_t)detail->label_size + detail->labels_size;
    free(detail->text);
    *detail = (struct detail){.chunk = NO_CHUNK};
}

/* Removes the oldest ones first. */
static void make_room(size_t bytes)
{
    for (size_t i = 0; i < LABEL_DETAILS_LIMIT && text_bytes + bytes > LABEL_DETAILS_LIMIT_BYTES; i++)
        forget(&details[(count + i) % LABEL_DETAILS_LIMIT]);
}

bool label_details_set(struct text_view label, struct text_view labels)
{
    struct detail *detail = find(label);
    if (label.size == 0 || (detail != NULL && text_equal(labels_of(detail), labels)))
        return false;
    char *text = malloc(label.size + labels.size);
    if (text == NULL)
        return false;
    memcpy(text, label.data, label.size);
    memcpy(text + label.size, labels.data, labels.size);
    if (detail == NULL)
        detail = &details[count++ % LABEL_DETAILS_LIMIT];
    forget(detail);
    make_room(label.size + labels.size);
    text_bytes += label.size + labels.size;
    *detail = (struct detail){hash_bytes(label.data, label.size), text, (uint32_t)label.size,
                              (uint32_t)labels.size, NO_CHUNK};
    return true;
}

void label_details_use(struct text_view tag, struct text_builder *events, uint32_t chunk, uint64_t time_ns)
{
    struct text_view label = text_cut(&tag, ';');
    struct detail *detail = label.size == 0 ? NULL : find(label);
    if (detail == NULL || detail->chunk == chunk)
        return;
    detail->chunk = chunk;
    size_t begin = jfr_event_begin(events, JFR_LABEL_DETAILS);
    jfr_put_time(events, time_ns);
    jfr_put_text(events, label_of(detail));
    jfr_put_text(events, labels_of(detail));
    jfr_event_end(events, begin);
}
