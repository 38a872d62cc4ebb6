#include "commands/suggestion.h"

#include <string.h>

#define NAME_LIMIT 40

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete or replace; a swap of two neighbours counts as one. Both fit NAME_LIMIT. */
static size_t edit_distance(struct text_view from, struct text_view to)
{
    size_t rows[3][NAME_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= to.size; j++)
        last[j] = j;
    memcpy(before, last, sizeof(rows[0]));
    for (size_t i = 1; i <= from.size; i++) {
        row[0] = i;
        for (size_t j = 1; j <= to.size; j++) {
            bool differs = from.data[i - 1] != to.data[j - 1];
            row[j] = smaller(smaller(last[j], row[j - 1]) + 1, last[j - 1] + differs);
            if (i > 1 && j > 1 && from.data[i - 1] == to.data[j - 2] && from.data[i - 2] == to.data[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        size_t *next = before;
        before = last;
        last = row;
        row = next;
    }
    return last[to.size];
}

/* A third of the letters may be wrong; names below three letters get no suggestion. */
void suggestion_consider(struct suggestion *suggestion, struct text_view typed, const char *candidate)
{
    struct text_view name = text_of(candidate);
    if (typed.size < 3 || typed.size > NAME_LIMIT || name.size > NAME_LIMIT)
        return;
    size_t distance = edit_distance(typed, name);
    size_t longer = typed.size > name.size ? typed.size : name.size;
    if (distance > (longer + 2) / 3 || (suggestion->name != NULL && distance >= suggestion->distance))
        return;
    *suggestion = (struct suggestion){candidate, distance};
}
