#include "jvm_attach/thread_dump.h"

#include "base/json_text.h"

struct dump_writer {
    struct output *output;
    struct text_view locks[64]; /* of the current thread, written after its frames */
    size_t lock_count;
    size_t threads;
    size_t frames; /* of the current thread */
    unsigned deadlocks;
    bool in_thread;
};

/* "cpu=27.52ms": the text after the key up to a blank. */
static struct text_view value_after(struct text_view line, struct text_view key)
{
    size_t at = text_find(line, key);
    if (at == TEXT_NOT_FOUND)
        return TEXT("");
    struct text_view rest = text_from(line, at + key.size);
    return text_cut(&rest, ' ');
}

static void write_text(struct dump_writer *writer, const char *name, struct text_view text)
{
    output_format(writer->output, "\"%s\":", name);
    json_text_write(writer->output, text);
}

static void close_thread(struct dump_writer *writer)
{
    if (!writer->in_thread)
        return;
    output_c_string(writer->output, writer->frames == 0 ? ",\"frames\":[],\"locks\":[" : "],\"locks\":[");
    for (size_t i = 0; i < writer->lock_count; i++) {
        output_c_string(writer->output, i > 0 ? "," : "");
        json_text_write(writer->output, writer->locks[i]);
    }
    output_c_string(writer->output, "]}");
    writer->in_thread = false;
}

/* A name may contain quotes: it ends at the one before the number, or before os_prio for threads of the VM. */
static size_t name_end(struct text_view line)
{
    static const char *const ends[] = {"\" #", "\" os_prio=", "\" prio=", "\" daemon "};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        size_t at = text_find(line, text_of(ends[i]));
        if (at != TEXT_NOT_FOUND)
            return at;
    }
    return TEXT_NOT_FOUND;
}

static void write_os_id(struct dump_writer *writer, struct text_view text)
{
    uint64_t id;
    bool known =
        text_starts_with(text, TEXT("0x")) ? text_to_hex64(text_from(text, 2), &id) : text_to_u64(text, &id);
    if (known)
        output_format(writer->output, ",\"os_id\":%llu", (unsigned long long)id);
}

static void open_thread(struct dump_writer *writer, struct text_view line)
{
    double cpu_ms;
    uint64_t id;
    size_t end = name_end(line);
    if (end == TEXT_NOT_FOUND)
        return;
    close_thread(writer);
    output_c_string(writer->output, writer->threads++ > 0 ? ",\n{" : "\n{");
    write_text(writer, "name", text_part(line, 1, end - 1));
    struct text_view rest = text_from(line, end + 1);
    if (text_to_u64(value_after(rest, TEXT(" #")), &id))
        output_format(writer->output, ",\"id\":%llu", (unsigned long long)id);
    write_os_id(writer, value_after(rest, TEXT("nid=")));
    output_format(writer->output, ",\"daemon\":%s",
                  text_find(rest, TEXT(" daemon ")) != TEXT_NOT_FOUND ? "true" : "false");
    struct text_view cpu = value_after(rest, TEXT("cpu="));
    if (text_ends_with(cpu, TEXT("ms")) && text_to_double(text_part(cpu, 0, cpu.size - 2), &cpu_ms))
        output_format(writer->output, ",\"cpu_ms\":%.2f", cpu_ms);
    writer->in_thread = true;
    writer->frames = writer->lock_count = 0;
}

static void write_state(struct dump_writer *writer, struct text_view line)
{
    output_byte(writer->output, ',');
    struct text_view state = text_trim(line);
    write_text(writer, "state", text_cut(&state, ' '));
}

/* "(java.base@17.0.15/Object.java:338)", "(Native Method)", "(Unknown Source)" */
static void write_place(struct dump_writer *writer, struct text_view place)
{
    uint64_t line;
    size_t slash = text_find_last_byte(place, '/');
    struct text_view file = slash == TEXT_NOT_FOUND ? place : text_from(place, slash + 1);
    if (text_equal(file, TEXT("Native Method"))) {
        output_c_string(writer->output, ",\"native\":true");
        return;
    }
    if (text_equal(file, TEXT("Unknown Source")) || file.size == 0)
        return;
    size_t colon = text_find_last_byte(file, ':');
    output_byte(writer->output, ',');
    write_text(writer, "file", colon == TEXT_NOT_FOUND ? file : text_part(file, 0, colon));
    if (colon != TEXT_NOT_FOUND && text_to_u64(text_from(file, colon + 1), &line))
        output_format(writer->output, ",\"line\":%llu", (unsigned long long)line);
}

static void write_frame(struct dump_writer *writer, struct text_view line)
{
    struct text_view method = text_cut(&line, '(');
    size_t end = text_find_last_byte(line, ')');
    output_c_string(writer->output, writer->frames++ > 0 ? ",{" : ",\"frames\":[{");
    write_text(writer, "method", method);
    write_place(writer, end == TEXT_NOT_FOUND ? line : text_part(line, 0, end));
    output_byte(writer->output, '}');
}

/* Frames and locks occur only inside a thread. */
static void write_line(struct dump_writer *writer, struct text_view line)
{
    static const struct text_view state = TEXT("java.lang.Thread.State:");
    struct text_view text = text_trim(line);
    if (line.size > 0 && line.data[0] == '"' && writer->deadlocks == 0) {
        open_thread(writer, line);
    } else if (text_starts_with(text, TEXT("Found ")) &&
               text_find(text, TEXT("deadlock")) != TEXT_NOT_FOUND) {
        close_thread(writer); /* the following lines repeat the threads concerned */
        writer->deadlocks += text_ends_with(text, TEXT(":"));
    } else if (!writer->in_thread) {
        return;
    } else if (text_starts_with(text, state)) {
        write_state(writer, text_from(text, state.size));
    } else if (text_starts_with(text, TEXT("at "))) {
        write_frame(writer, text_from(text, 3));
    } else if (text_starts_with(text, TEXT("- ")) && !text_equal(text, TEXT("- None")) &&
               writer->lock_count < COUNT_OF(writer->locks)) {
        writer->locks[writer->lock_count++] = text_from(text, 2);
    }
}

void thread_dump_write_json(struct output *output, struct text_view dump)
{
    struct dump_writer writer = {.output = output};
    size_t title = text_find(dump, TEXT("Full thread dump "));
    struct text_view vm = title == TEXT_NOT_FOUND ? TEXT("") : text_from(dump, title + 17);
    output_byte(output, '{');
    struct text_view vm_line = text_trim(text_cut(&vm, '\n'));
    if (text_ends_with(vm_line, TEXT(":")))
        vm_line.size--;
    write_text(&writer, "vm", vm_line);
    output_c_string(output, ",\"threads\":[");
    while (dump.size > 0)
        write_line(&writer, text_cut(&dump, '\n'));
    close_thread(&writer);
    output_format(output, "],\"deadlocks\":%u}", writer.deadlocks);
}
