/*
 * tar_reader.h - the files in a tar archive (ustar, GNU and POSIX headers), one after the other, as they come from a
 * byte source.
 *
 *     tar_reader_init(&tar, source);
 *     while (tar_reader_next(&tar, &member, error) && member.name.size > 0)
 *         …
 *     tar_reader_release(&tar);
 *
 * Owns: the name of the current file. Borrows the source.
 * Threads: one at a time.
 * Limit: TAR_MEMBER_LIMIT_BYTES for one file, which is held in memory, TAR_NAME_LIMIT_BYTES for headers with names.
 */
#ifndef INPUT_TAR_READER_H
#define INPUT_TAR_READER_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "input/byte_source.h"

#define TAR_MEMBER_LIMIT_BYTES ((uint64_t)4 << 30)
#define TAR_NAME_LIMIT_BYTES ((uint64_t)1 << 20)

struct tar_member {
    struct text_view name; /* empty: the end of the archive */
    struct text_view bytes;
};

struct tar_reader {
    struct byte_source *source;
    struct text_builder name;
    uint64_t unread; /* bytes of the current file, with what fills its last block */
    bool has_name;   /* of a header before the file's own */
};

void tar_reader_init(struct tar_reader *tar, struct byte_source *source);
void tar_reader_release(struct tar_reader *tar);
/* Folders, links and devices are skipped. The member is valid until the next call. */
bool tar_reader_next(struct tar_reader *tar, struct tar_member *member, struct error *error) MUST_CHECK;

#endif
