#include "commands/compatibility/asprof_picture.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands/command.h"

extern const struct command command_flame;

const char *asprof_picture_format(const char *output, const char *file)
{
    static const struct {
        const char *output, *ending, *format;
    } formats[] = {
        {"html", ".html", "html"},
        {"svg", ".svg", "svg"},
        {"pprof", ".pb.gz", "pprof"},
    };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (output != NULL && strcmp(output, formats[i].output) == 0)
            return formats[i].format;
        if (output == NULL && file != NULL && text_ends_with(text_of(file), text_of(formats[i].ending)))
            return formats[i].format;
    }
    return NULL;
}

static bool write_all(int descriptor, struct text_view bytes)
{
    while (bytes.size > 0) {
        ssize_t written = write(descriptor, bytes.data, bytes.size);
        if (written <= 0)
            return false;
        bytes = text_from(bytes, (size_t)written);
    }
    return true;
}

static bool run_flame(const struct asprof_picture *picture, const char *input, const char *file)
{
    char *words[16] = {"flame",
                       (char *)input,
                       "--input-format",
                       "folded",
                       "-q",
                       "-f",
                       (char *)picture->format,
                       "-o",
                       file[0] == '\0' ? "-" : (char *)file};
    int count = 9;
    bool is_picture = strcmp(picture->format, "pprof") != 0;
    if (is_picture && picture->title != NULL) {
        words[count++] = "--title";
        words[count++] = (char *)picture->title;
    }
    if (is_picture && picture->min_width != NULL) {
        words[count++] = "--minwidth";
        words[count++] = (char *)picture->min_width;
    }
    if (picture->reverse)
        words[count++] = "--reverse";
    if (is_picture && picture->inverted)
        words[count++] = "--inverted";
    return command_flame.run(count, words) == EXIT_GOOD;
}

bool asprof_picture_draw(const struct asprof_picture *picture, struct text_view folded, const char *file)
{
    char path[32];
    if (folded.size == 0) {
        fprintf(stderr, "[ERROR] no samples to draw\n");
        return false;
    }
    int descriptor = memfd_create("folded", MFD_CLOEXEC);
    bool good = descriptor >= 0 && write_all(descriptor, folded);
    if (!good)
        perror("[ERROR] cannot keep the samples");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    good = good && run_flame(picture, path, file);
    if (descriptor >= 0)
        close(descriptor);
    return good;
}
