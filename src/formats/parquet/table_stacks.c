/*
 * table_stacks.c - the tables of stacks, of their frames, and of all frames.
 */
#include "formats/parquet/profile_tables.h"

#include <stdlib.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)

/* ---- stacks ---- */

static const struct parquet_column stack_columns[] = {
    {"stack_id", PARQUET_INT32, PARQUET_DELTA, false},
    {"hash", PARQUET_INT64, PARQUET_PLAIN, false},
    {"leaf_frame_id", PARQUET_INT32, PARQUET_PLAIN, true},
    {"depth", PARQUET_INT32, PARQUET_DICTIONARY, false},
};

/* FNV-1a, which is the same in every version and on every machine. */
static uint64_t hash_bytes_of(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * HASH_FACTOR;
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (size_t i = 0; i < 8; i++)
        hash = (hash ^ (number >> 8 * i & 0xff)) * HASH_FACTOR;
    return hash;
}

static uint64_t hash_text(uint64_t hash, struct text_view text)
{
    return hash_number(hash_bytes_of(hash, text.data, text.size), text.size);
}

static uint64_t hash_frame(const struct profile *profile, uint64_t hash, uint32_t number)
{
    const struct frame *frame = &profile->frames.frames[number];
    hash = hash_text(hash, profile_text(profile, frame->name));
    hash = hash_text(hash, profile_text(profile, frame->file));
    return hash_number(hash_number(hash, frame->line), frame->kind);
}

static bool write_stacks(const struct profile_tables *tables, struct parquet_file *file, struct error *error)
{
    const struct profile *profile = tables->profile;
    const struct stack_tree *tree = &profile->stacks;
    uint64_t *hashes = malloc((tree->size + 1) * sizeof(*hashes));
    uint32_t *depths = malloc((tree->size + 1) * sizeof(*depths));
    bool good = (hashes != NULL && depths != NULL) || error_set_memory(error);
    for (size_t i = 0; good && i < tree->size; i++) {
        const struct stack_node *node = &tree->nodes[i];
        bool is_root = i == STACK_ROOT;
        hashes[i] = is_root ? HASH_START : hash_frame(profile, hashes[node->parent], node->frame);
        depths[i] = is_root ? 0 : depths[node->parent] + 1;
        if (tables->stack_ids[i] == NO_STACK)
            continue;
        parquet_add_number(file, 0, tables->stack_ids[i]);
        parquet_add_number(file, 1, (int64_t)hashes[i]);
        profile_tables_add(file, 2, is_root ? NO_NUMBER : (int64_t)node->frame);
        parquet_add_number(file, 3, depths[i]);
        good = parquet_end_row(file, error);
    }
    free(hashes);
    free(depths);
    return good;
}

const struct profile_table table_stacks = {"stacks", stack_columns, COUNT_OF(stack_columns), write_stacks};

/* ---- frames of stacks ---- */

static const struct parquet_column stack_frame_columns[] = {
    {"stack_id", PARQUET_INT32, PARQUET_DELTA, false},
    {"depth", PARQUET_INT32, PARQUET_PLAIN, false},
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
            parquet_add_number(file, 0, tables->stack_ids[i]);
            parquet_add_number(file, 1, (int64_t)j);
            parquet_add_number(file, 2, path[j]);
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
    {"frame_id", PARQUET_INT32, PARQUET_DELTA, false}, {"name", PARQUET_TEXT, PARQUET_DELTA, false},
    {"class", PARQUET_TEXT, PARQUET_DELTA, true},      {"package", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"file", PARQUET_TEXT, PARQUET_DICTIONARY, true},  {"line", PARQUET_INT32, PARQUET_DELTA, true},
    {"kind", PARQUET_TEXT, PARQUET_DICTIONARY, false},
};

/* With dots instead of slashes. */
static void add_dotted(struct parquet_file *file, size_t column, struct text_view name,
                       struct text_builder *text)
{
    if (name.size == 0) {
        parquet_add_null(file, column);
        return;
    }
    text_builder_clear(text);
    for (size_t i = 0; i < name.size; i++)
        text_builder_add_byte(text, name.data[i] == '/' ? '.' : name.data[i]);
    parquet_add_text(file, column, text_builder_view(text));
}

/* Class and package of "pkg/Class.method". Frames without a known kind are Java's if they look like that. */
static void add_class(struct parquet_file *file, struct text_view name, enum frame_kind kind,
                      struct text_builder *text)
{
    size_t dot = text_find_last_byte(name, '.'), slash = text_find_last_byte(name, '/');
    bool has_package = slash != TEXT_NOT_FOUND;
    bool is_java = frame_kind_is_java(kind) || (kind == FRAME_UNKNOWN && has_package);
    bool has_class = is_java && dot != TEXT_NOT_FOUND && (!has_package || dot > slash);
    add_dotted(file, 2, has_class ? text_part(name, 0, dot) : TEXT(""), text);
    add_dotted(file, 3, has_class && has_package ? text_part(name, 0, slash) : TEXT(""), text);
}

static bool write_frames(const struct profile_tables *tables, struct parquet_file *file, struct error *error)
{
    const struct profile *profile = tables->profile;
    struct text_builder text;
    text_builder_init(&text, PARQUET_TEXT_LIMIT_BYTES);
    bool good = true;
    for (size_t i = 0; good && i < profile->frames.size; i++) {
        const struct frame *frame = &profile->frames.frames[i];
        struct text_view name = profile_text(profile, frame->name);
        parquet_add_number(file, 0, (int64_t)i);
        parquet_add_text(file, 1, name);
        add_class(file, name, frame->kind, &text);
        profile_tables_add_text(file, 4, &profile->strings, frame->file);
        profile_tables_add(file, 5, frame->line == 0 ? NO_NUMBER : (int64_t)(int32_t)frame->line);
        parquet_add_text(file, 6, text_of(frame_kind_name(frame->kind)));
        good = (!text.failed || error_set_memory(error)) && parquet_end_row(file, error);
    }
    text_builder_release(&text);
    return good;
}

const struct profile_table table_frames = {"frames", frame_columns, COUNT_OF(frame_columns), write_frames};
