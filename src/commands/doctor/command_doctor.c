#include <stdarg.h>
#include <stdio.h>

#include "base/json_text.h"
#include "commands/command.h"
#include "commands/doctor/doctor.h"
#include "commands/processes/process_choice.h"

extern const struct command command_doctor;

struct doctor_options {
    bool as_json;
};

static struct doctor_options chosen;

static const struct option options[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct doctor_options, as_json), NULL,
     "Print JSON, one object per line."},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {{"Output", options, &chosen}, {NULL, NULL, NULL}};
    return all;
}

static void write_json(struct output *output, const char *verdict, const char *subject, const char *text,
                       const char *fix)
{
    output_format(output, "{\"verdict\":\"%s\",\"subject\":", verdict);
    json_text_write(output, text_of(subject));
    output_c_string(output, ",\"text\":");
    json_text_write(output, text_of(text));
    if (fix != NULL) {
        output_c_string(output, ",\"fix\":");
        json_text_write(output, text_of(fix));
    }
    output_c_string(output, "}\n");
}

void doctor_say(struct doctor *doctor, enum doctor_verdict verdict, const char *subject, const char *fix,
                const char *format, ...)
{
    static const char *const words[] = {"good", "limited", "bad"};
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    doctor->findings++;
    doctor->bad += verdict == DOCTOR_BAD;
    if (doctor->as_json) {
        write_json(doctor->output, words[verdict], subject, text, fix);
        return;
    }
    output_format(doctor->output, "%-8s %-18s %s\n", words[verdict], subject, text);
    if (fix != NULL)
        output_format(doctor->output, "%-27s → %s\n", "", fix);
}

static bool examine(struct doctor *doctor, char **operands, int count, struct error *error)
{
    pid_t pid;
    doctor_system(doctor);
    for (int i = 0; i < count; i++)
        if (!process_choose(operands[i], &pid, error) || !doctor_process(doctor, pid, error))
            return false;
    return true;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    struct output output;
    int count, exit_code;
    chosen = (struct doctor_options){.as_json = false};
    if (!command_parse_options(&command_doctor, argc, argv, &count, &exit_code))
        return exit_code;
    struct doctor doctor = {.output = &output, .as_json = chosen.as_json};
    bool good = output_open(&output, "-", &error);
    if (good) {
        good = examine(&doctor, argv + 1, count, &error);
        good = output_finish(&output, good ? &error : NULL) && good;
        output_release(&output);
    }
    if (!good)
        command_complain(&command_doctor, "%s", error.message);
    return good && doctor.bad == 0 ? EXIT_GOOD : EXIT_FAILED;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "Check what can be profiled here, and how to fix what cannot",
    .usage = "[OPTIONS] [PID|CLASS|ROLE]",
    .details =
        "Without a process, only the machine or container is checked. Nothing is changed, and nothing\n"
        "is sent to the process. The exit status is 1 if something prevents profiling the process.\n",
    .examples = "  sparkflame doctor\n"
                "  sparkflame doctor 4711\n",
    .options = groups,
    .run = run,
};
