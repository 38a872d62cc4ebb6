#include "symbols/elf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

int elf_file_test_variable = 7;

static const char *path_of_libc(void)
{
    Dl_info information;
    CHECK(dladdr((void *)(uintptr_t)&getenv, &information) != 0);
    return information.dli_fname;
}

static void first_line_of(const char *command, char *line, size_t size)
{
    FILE *stream = popen(command, "r");
    line[0] = '\0';
    if (fgets(line, (int)size, stream) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    pclose(stream);
}

TEST(finds_sections_and_symbols_of_this_program)
{
    struct error error = {0};
    struct elf_file file;
    struct elf_section section;
    struct elf_symbol symbol;
    CHECK_OK(error, elf_file_open(&file, "/proc/self/exe", &error));
    CHECK(elf_file_find_section(&file, ".text", &section));
    CHECK(section.flags & SHF_EXECINSTR);
    CHECK(section.data.size > 0 && section.data.size == section.size_in_memory);
    CHECK(!elf_file_find_section(&file, ".nothing", &section));
    CHECK(elf_file_find_symbol(&file, "elf_file_test_variable", &symbol));
    CHECK_INT(symbol.type, STT_OBJECT);
    CHECK(symbol.size >= sizeof(elf_file_test_variable)); /* sanitizers pad it */
    CHECK(!elf_file_find_symbol(&file, "elf_file_test_no_such_variable", &symbol));
    elf_file_release(&file);
}

/* What is mapped dies with the file; a copy does not. */
TEST(a_copy_outlives_its_file)
{
    struct error error = {0};
    struct elf_file file;
    struct elf_symbol symbol;
    char path[] = "/tmp/elf_file_test_XXXXXX", command[128];
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
    CHECK_INT(system(command), 0);
    CHECK_OK(error, elf_file_copy(&file, path, true, &error));
    CHECK_INT(ftruncate(descriptor, 0), 0);
    CHECK(elf_file_find_symbol(&file, "elf_file_test_variable", &symbol));
    CHECK_INT(symbol.type, STT_OBJECT);
    elf_file_release(&file);
    CHECK(!elf_file_copy(&file, path, true, &error));
    close(descriptor);
    unlink(path);
}

TEST(a_copy_has_the_dynamic_symbols)
{
    struct error error = {0};
    struct elf_file file;
    struct elf_symbol symbol;
    struct elf_segment segment;
    CHECK_OK(error, elf_file_copy(&file, path_of_libc(), false, &error));
    CHECK(elf_file_find_symbol(&file, "getenv", &symbol));
    CHECK(!elf_file_find_symbol(&file, "getenv_of_nobody", &symbol));
    CHECK(elf_file_segment(&file, 0, &segment) && segment.type != 0);
    elf_file_release(&file);
}

/* What names and unwinds code is as in the file; the code itself is not there. */
TEST(a_copy_of_code_has_symbols_frames_and_notes)
{
    struct error error = {0};
    struct elf_file file, copy;
    struct elf_section expected, got;
    struct elf_symbol symbol;
    struct text_view build_id, copied_id;
    static const char *const names[] = {".symtab", ".strtab", ".dynsym", ".dynstr", ".eh_frame", ".rela.dyn"};
    CHECK_OK(error, elf_file_open(&file, "/proc/self/exe", &error));
    CHECK_OK(error, elf_file_copy_code(&copy, "/proc/self/exe", &error));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CHECK(elf_file_find_section(&file, names[i], &expected));
        CHECK(elf_file_find_section(&copy, names[i], &got) && text_equal(got.data, expected.data));
    }
    CHECK(elf_file_find_symbol(&copy, "elf_file_test_variable", &symbol));
    CHECK_INT(elf_file_build_id(&copy, &copied_id), elf_file_build_id(&file, &build_id));
    CHECK(elf_file_find_section(&copy, ".text", &got) && got.data.data[0] == 0);
    elf_file_release(&file);
    elf_file_release(&copy);
}

/* Not even opened: that may have effects. */
TEST(a_device_is_not_copied)
{
    struct error error = {0};
    struct elf_file file;
    CHECK(!elf_file_copy_code(&file, "/dev/zero", &error));
    CHECK(strstr(error.message, "not a regular file") != NULL);
    CHECK(!elf_file_copy(&file, "/tmp", false, &error));
    CHECK(file.data == NULL);
}

TEST(reads_the_build_id_that_readelf_reads)
{
    struct error error = {0};
    struct elf_file file;
    struct text_view build_id;
    char command[1024], expected[256], got[256];
    snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p'", path_of_libc());
    first_line_of(command, expected, sizeof(expected));
    CHECK_OK(error, elf_file_open(&file, path_of_libc(), &error));
    CHECK_INT(elf_file_build_id(&file, &build_id), expected[0] != '\0');
    for (size_t i = 0; expected[0] != '\0' && i < build_id.size; i++)
        snprintf(got + 2 * i, 3, "%02x", (unsigned char)build_id.data[i]);
    if (expected[0] != '\0')
        CHECK_TEXT(got, expected);
    elf_file_release(&file);
}

TEST(refuses_what_is_no_elf_file)
{
    struct error error = {0};
    struct elf_file file;
    char path[] = "/tmp/elf_file_testXXXXXX";
    int descriptor = mkstemp(path);
    CHECK(!elf_file_open(&file, path, &error));
    CHECK(strstr(error.message, "empty") != NULL);
    CHECK(write(descriptor, "#!/bin/sh\nexit 0\n", 17) == 17);
    CHECK(!elf_file_open(&file, path, &error));
    CHECK(strstr(error.message, "not an ELF file") != NULL);
    close(descriptor);
    unlink(path);
    CHECK(!elf_file_open(&file, path, &error));
    CHECK(strstr(error.message, "No such file") != NULL);
    CHECK(!elf_file_open(&file, "/tmp", &error));
    CHECK(file.data == NULL);
}

/* Any damage must be refused or give nothing, never read outside. */
TEST(survives_a_damaged_file)
{
    struct error error = {0};
    struct elf_file good, bad;
    struct elf_section section;
    struct elf_symbol symbol;
    struct text_view view;
    uint32_t checksum;
    CHECK_OK(error, elf_file_open(&good, "/proc/self/exe", &error));
    size_t size = good.size < 65536 ? good.size : 65536;
    char *copy = malloc(good.size);
    for (size_t at = 0; at < sizeof(Elf64_Ehdr); at++) {
        memcpy(copy, good.data, good.size);
        copy[at] = (char)(copy[at] ^ 0xff);
        if (!elf_file_from_memory(&bad, copy, at % 2 == 0 ? good.size : size, NULL))
            continue;
        elf_file_find_section(&bad, ".text", &section);
        elf_file_build_id(&bad, &view);
        elf_file_debug_link(&bad, &view, &checksum);
        elf_file_find_symbol(&bad, "main", &symbol);
        elf_file_release(&bad);
    }
    free(copy);
    elf_file_release(&good);
}
