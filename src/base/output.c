#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)64 << 10)

static bool start(struct output *output, struct error *error)
{
    output->buffer = malloc(BUFFER_BYTES);
    if (output->buffer != NULL)
        return true;
    output_release(output);
    return error_set_memory(error);
}

bool output_open_descriptor(struct output *output, int descriptor, struct error *error)
{
    *output = (struct output){.descriptor = descriptor};
    return start(output, error);
}

bool output_open_memory(struct output *output, struct text_builder *builder, struct error *error)
{
    *output = (struct output){.descriptor = -1, .memory = builder};
    return start(output, error);
}

bool output_open_taker(struct output *output, void (*take)(void *context, const void *data, size_t size),
                       void *context, struct error *error)
{
    *output = (struct output){.descriptor = -1, .take = take, .take_context = context};
    return start(output, error);
}

mode_t output_file_mode(void)
{
    const char *asked = getenv("SPARKFLAME_FILE_MODE");
    char *end = NULL;
    unsigned long mode = asked == NULL ? 0 : strtoul(asked, &end, 8);
    return asked == NULL || *asked == '\0' || *end != '\0' || mode > 0777 ? 0600 : (mode_t)mode;
}

static bool open_directly(struct output *output, const char *path, struct error *error)
{
    output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (output->descriptor < 0)
        return error_set_system(error, "cannot write %s", path);
    output->close_descriptor = true;
    /* Only for messages: without memory they say "output". */
    output->path = strdup(path);
    return start(output, error);
}

static bool open_temporary(struct output *output, const char *path, mode_t mode, struct error *error)
{
    output->path = strdup(path);
    if (output->path == NULL || asprintf(&output->temporary_path, "%s.part-XXXXXX", path) < 0) {
        output->temporary_path = NULL;
        output_release(output);
        return error_set_memory(error);
    }
    output->descriptor = mkostemp(output->temporary_path, O_CLOEXEC); /* never an existing file, nor a link */
    if (output->descriptor < 0 || fchmod(output->descriptor, mode) != 0) {
        error_set_system(error, "cannot write %s", path);
        if (output->descriptor >= 0) {
            close(output->descriptor);
            unlink(output->temporary_path);
        }
        free(output->temporary_path);
        output->temporary_path = NULL;
        output_release(output);
        return false;
    }
    output->close_descriptor = true;
    return start(output, error);
}

bool output_open(struct output *output, const char *path, struct error *error)
{
    if (strcmp(path, "-") == 0)
        return output_open_descriptor(output, STDOUT_FILENO, error);
    *output = (struct output){.descriptor = -1};
    struct stat status;
    mode_t mode = output_file_mode();
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return error_set(error, ERROR_USAGE, "cannot write %s: it is a directory", path);
        if (!S_ISREG(status.st_mode))
            return open_directly(output, path, error);
        if (status.st_uid == geteuid())
            mode = status.st_mode & 0777;
    }
    return open_temporary(output, path, mode, error);
}

bool output_check(const char *path, struct error *error)
{
    struct stat status;
    struct output output;
    /* Opening and closing a pipe would signal the end to its reader. */
    if (strcmp(path, "-") == 0 ||
        (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        return true;
    if (!output_open(&output, path, error))
        return false;
    output_release(&output);
    return true;
}

static void fail(struct output *output)
{
    if (!output->failed)
        error_set_system(&output->failure, "cannot write %s", output->path == NULL ? "output" : output->path);
    output->failed = true;
}

static void write_out(struct output *output, const char *data, size_t size)
{
    if (output->memory != NULL) {
        text_builder_add(output->memory, (struct text_view){data, size});
        if (output->memory->failed && !output->failed) {
            output->failed = true;
            error_set_memory(&output->failure);
        }
        output->written_bytes += size;
        return;
    }
    if (output->take != NULL) {
        output->take(output->take_context, data, size);
        output->written_bytes += size;
        return;
    }
    while (size > 0 && !output->failed) {
        ssize_t wrote = write(output->descriptor, data, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            fail(output);
            return;
        }
        data += wrote;
        size -= (size_t)wrote;
        output->written_bytes += (uint64_t)wrote;
    }
}

static void flush(struct output *output)
{
    size_t used = output->used;
    output->used = 0;
    write_out(output, output->buffer, used);
}

void output_write(struct output *output, const void *data, size_t size)
{
    if (size > BUFFER_BYTES - output->used) {
        flush(output);
        if (size >= BUFFER_BYTES) {
            write_out(output, data, size);
            return;
        }
    }
    if (size > 0)
        memcpy(output->buffer + output->used, data, size);
    output->used += size;
}

char *output_room(struct output *output, size_t size)
{
    if (size > BUFFER_BYTES - output->used)
        flush(output);
    return output->buffer + output->used;
}

void output_text(struct output *output, struct text_view text)
{
    output_write(output, text.data, text.size);
}

void output_c_string(struct output *output, const char *text)
{
    output_write(output, text, strlen(text));
}

void output_byte(struct output *output, char byte)
{
    *output_room(output, 1) = byte;
    output->used++;
}

void output_u64(struct output *output, uint64_t number)
{
    output->used += text_format_u64(output_room(output, 20), number);
}

void output_i64(struct output *output, int64_t number)
{
    if (number < 0)
        output_byte(output, '-');
    output_u64(output, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void output_format(struct output *output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *room = output_room(output, OUTPUT_ROOM_BYTES);
    int size = vsnprintf(room, OUTPUT_ROOM_BYTES, format, arguments);
    va_end(arguments);
    if (size < OUTPUT_ROOM_BYTES) {
        output->used += size < 0 ? 0 : (size_t)size;
        return;
    }
    char *text = NULL;
    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        fail(output);
    else
        output_write(output, text, (size_t)size);
    free(size < 0 ? NULL : text);
}

/* Pipes and terminals cannot be synced: EINVAL or EROFS. */
static bool sync_descriptor(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

bool output_complete(struct output *output, struct error *error)
{
    flush(output);
    if (output->failed) {
        if (error != NULL)
            *error = output->failure;
        return false;
    }
    if (output->temporary_path == NULL || !output->close_descriptor)
        return true;
    if (!sync_descriptor(output->descriptor))
        return error_set_system(error, "cannot write %s", output->path);
    int closed = close(output->descriptor);
    output->close_descriptor = false;
    output->descriptor = -1;
    return closed == 0 || error_set_system(error, "cannot write %s", output->path);
}

static bool put_in_place(struct output *output, struct error *error)
{
    if (rename(output->temporary_path, output->path) != 0)
        return error_set_system(error, "cannot write %s", output->path);
    free(output->temporary_path);
    output->temporary_path = NULL;
    return true;
}

bool output_finish(struct output *output, struct error *error)
{
    bool good = output_complete(output, error);
    if (good && output->temporary_path != NULL)
        good = put_in_place(output, error);
    output_release(output);
    return good;
}

void output_release(struct output *output)
{
    if (output->close_descriptor)
        close(output->descriptor);
    if (output->temporary_path != NULL)
        unlink(output->temporary_path);
    free(output->temporary_path);
    free(output->path);
    free(output->buffer);
    *output = (struct output){.descriptor = -1};
}
