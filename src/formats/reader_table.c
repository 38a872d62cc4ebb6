#include "formats/reader.h"

#define READER(name) extern const struct reader reader_##name;
#include "formats/reader_table.def"
#undef READER

const struct reader *const readers[] = {
#define READER(name) &reader_##name,
#include "formats/reader_table.def"
#undef READER
    NULL,
};

const struct reader *reader_by_name(struct text_view name)
{
    for (size_t i = 0; readers[i] != NULL; i++)
        if (text_equal(name, text_of(readers[i]->name)))
            return readers[i];
    return NULL;
}

const struct reader *reader_recognize(struct text_view head)
{
    const struct reader *surest = NULL;
    int most = 0;
    for (size_t i = 0; readers[i] != NULL; i++) {
        int sure = readers[i]->recognizes(head);
        if (sure > most) {
            most = sure;
            surest = readers[i];
        }
    }
    return surest;
}
