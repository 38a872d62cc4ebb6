/*
 * table_stacks.c - the tables of the frames of stacks, and of all frames.
 */
#include "formats/parquet/profile_tables.h"

#include <stdlib.h>

/* ---- frames of stacks ---- */

static const struct parquet_column stack_frame_columns[] = {
    BLOCK_COLUMN,
    {"stack_id", PARQUET_INT32, PARQUET_DELTA, false},
    {"from_leaf", PARQUET_INT32, PARQUET_PLAIN, false},
    {"frame_id", PARQUET_INT32, PARQUET_PLAIN, false},
};

static bool write_stack_frames(const struct profile_tables *tables, struct parquet_file *file,
                               struct error *error)
{
    const struct stack_tree *tree = &tables->profile->stacks;
    size_t deepest = 0;
    uint32_t *path = NULL;
    bool good = true;
    for (uint32_t i = 0; good && i < tree->size; i++) {
        if (tables->stack_ids[i] == NO_STACK)
            continue;
        size_t depth = stack_tree_depth(tree, i), at = depth;
        if (depth > deepest) {
            free(path);
            deepest = depth * 2;
            path = malloc(deepest * sizeof(*path));
            good = path != NULL || error_set_memory(error);
        }
        for (uint32_t node = i; good && node != STACK_ROOT; node = tree->nodes[node].parent)
            path[--at] = tree->nodes[node].frame;
        for (size_t j = 0; good && j < depth; j++) {
            parquet_add_number(file, 0, tables->block);
            parquet_add_number(file, 1, tables->stack_ids[i]);
            parquet_add_number(file, 2, (int64_t)(depth - 1 - j));
            parquet_add_number(file, 3, path[j]);
            good = parquet_end_row(file, error);
        }
    }
    free(path);
    return good;
}

const struct profile_table table_stack_frames = {"stack_frames", stack_frame_columns,
                                                 COUNT_OF(stack_frame_columns), write_stack_frames};

/* ---- frames ---- */

static const struct parquet_column frame_columns[] = {
    BLOCK_COLUMN,
    {"frame_id", PARQUET_INT32, PARQUET_DELTA, false},
    {"name", PARQUET_TEXT, PARQUET_DELTA, false},
    {"file", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"line", PARQUET_INT32, PARQUET_PLAIN, true},
    {"kind", PARQUET_TEXT, PARQUET_DICTIONARY, false},
};

static bool write_frames(const struct profile_tables *tables, struct parquet_file *file, struct error *error)
{
    const struct profile *profile = tables->profile;
    bool good = true;
    for (size_t i = 0; good && i < profile->frames.size; i++) {
        const struct frame *frame = &profile->frames.frames[i];
        parquet_add_number(file, 0, tables->block);
        parquet_add_number(file, 1, (int64_t)i);
        parquet_add_text(file, 2, profile_text(profile, frame->name));
        profile_tables_add_text(file, 3, &profile->strings, frame->file);
        profile_tables_add(file, 4, frame->line == 0 ? NO_NUMBER : (int64_t)(int32_t)frame->line);
        parquet_add_text(file, 5, text_of(frame_kind_name(frame->kind)));
        good = parquet_end_row(file, error);
    }
    return good;
}

const struct profile_table table_frames = {"frames", frame_columns, COUNT_OF(frame_columns), write_frames};
