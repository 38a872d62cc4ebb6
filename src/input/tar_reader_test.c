#include "input/tar_reader.h"

#include <stdio.h>
#include <string.h>

#include "failing_memory.h"
#include "unit_test.h"

#define ARCHIVE_LIMIT ((size_t)1 << 20)

static void add_member(struct text_builder *archive, const char *name, char type, const char *magic,
                       struct text_view bytes)
{
    char block[512] = {0};
    unsigned sum = 0;
    memcpy(block, name, strlen(name) < 100 ? strlen(name) : 100);
    snprintf(block + 124, 12, "%011zo", bytes.size);
    memset(block + 148, ' ', 8);
    block[156] = type;
    memcpy(block + 257, magic, strlen(magic));
    for (size_t i = 0; i < sizeof(block); i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    text_builder_add(archive, (struct text_view){block, sizeof(block)});
    text_builder_add(archive, bytes);
    while (archive->size % 512 != 0)
        text_builder_add_byte(archive, '\0');
}

static void end_archive(struct text_builder *archive)
{
    for (size_t i = 0; i < 1024; i++)
        text_builder_add_byte(archive, '\0');
}

/* "NAME=BYTES " of each file, and the error. */
static const char *read_archive(struct text_view bytes)
{
    static char found[2000];
    struct error error = {0};
    struct tar_reader tar;
    struct tar_member member;
    size_t used = 0;
    bool good = false;
    struct byte_source *source = byte_source_open_memory(bytes, "tar", &error);
    found[0] = '\0';
    if (source == NULL)
        return "no memory";
    tar_reader_init(&tar, source);
    while ((good = tar_reader_next(&tar, &member, &error)) && member.name.size > 0)
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%.*s=%.*s ", TEXT_FORMAT(member.name),
                                 TEXT_FORMAT(member.bytes));
    snprintf(found + used, sizeof(found) - used, "%s", good ? "" : error.message);
    tar_reader_release(&tar);
    byte_source_close(source);
    return found;
}

static struct text_builder make_archive(void)
{
    struct text_builder archive;
    text_builder_init(&archive, ARCHIVE_LIMIT);
    add_member(&archive, "a/1.jfr", '0', "ustar", TEXT("one"));
    add_member(&archive, "folder/", '5', "ustar", TEXT(""));
    add_member(&archive, "empty", '0', "ustar", TEXT(""));
    add_member(&archive, "././@LongLink", 'L', "ustar  ", TEXT("a/long/name\0"));
    add_member(&archive, "a/lo", '0', "ustar  ", TEXT("two"));
    add_member(&archive, "PaxHeaders/x", 'x', "ustar",
               TEXT("21 mtime=1700000.500\n18 path=p/\xc3\xa4 name\n"));
    add_member(&archive, "short", '0', "ustar", TEXT("three"));
    add_member(&archive, "last", '0', "ustar", TEXT("four"));
    end_archive(&archive);
    return archive;
}

TEST(files_have_their_names)
{
    struct text_builder archive = make_archive();
    CHECK_TEXT(read_archive(text_builder_view(&archive)),
               "a/1.jfr=one empty= a/long/name=two p/\xc3\xa4 name=three last=four ");
    text_builder_release(&archive);
}

TEST(what_is_damaged_is_refused)
{
    struct text_builder archive = make_archive();
    struct text_view bytes = text_builder_view(&archive);
    CHECK_TEXT(read_archive(text_part(bytes, 0, 514)), "byte 512: a file in the tar archive is cut short");
    CHECK_TEXT(read_archive(text_part(bytes, 0, 1024)),
               "a/1.jfr=one byte 1024: the tar archive ends too early");
    CHECK_TEXT(read_archive(text_part(bytes, 0, 0)), "byte 0: the tar archive ends too early");
    archive.data[3] = 'x';
    CHECK_TEXT(read_archive(bytes), "byte 0: no tar archive, or a damaged one");
    text_builder_release(&archive);
    text_builder_init(&archive, ARCHIVE_LIMIT);
    add_member(&archive, "x", 'x', "ustar", TEXT("200 path=a\n"));
    CHECK_TEXT(read_archive(text_builder_view(&archive)),
               "byte 512: an extended header of the tar archive is damaged");
    text_builder_release(&archive);
}

TEST(without_memory_it_fails)
{
    struct text_builder archive = make_archive();
    FAIL_EACH_ALLOCATION
    {
        const char *found = read_archive(text_builder_view(&archive));
        CHECK(text_ends_with(text_of(found), TEXT("last=four ")) || failing_memory_failed());
    }
    text_builder_release(&archive);
}
