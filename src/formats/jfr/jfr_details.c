#include "formats/jfr/jfr_details.h"

#define TEXT_LIMIT_BYTES ((size_t)1 << 28)

bool jfr_details_init(struct jfr_details *details)
{
    id_map_init(&details->by_label);
    return string_table_init(&details->texts, TEXT_LIMIT_BYTES);
}

void jfr_details_release(struct jfr_details *details)
{
    string_table_release(&details->texts);
    id_map_release(&details->by_label);
}

bool jfr_details_add(struct jfr_details *details, struct text_view label, struct text_view labels)
{
    uint32_t from = string_table_add(&details->texts, label);
    uint32_t to = string_table_add(&details->texts, labels);
    return from != NO_STRING && to != NO_STRING && id_map_set(&details->by_label, from, to);
}

struct text_view jfr_details_find(const struct jfr_details *details, struct text_view text)
{
    struct text_view label = text_cut(&text, ';');
    uint32_t from = label.size == 0 ? NO_STRING : string_table_find(&details->texts, label);
    uint32_t to = from == NO_STRING ? NO_ID : id_map_get(&details->by_label, from);
    return to == NO_ID ? TEXT("") : string_table_text(&details->texts, to);
}
