#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/csv_text.h"
#include "base/file_list.h"
#include "base/output.h"
#include "commands/command.h"
#include "formats/jfr/jfr_chunk.h"
#include "spark/metrics/metrics.h"
#include "spark/report/plain_text.h"

extern const struct command command_metrics;

static struct metrics_options {
    const char *output;
    int format; /* text, csv, json */
    bool quiet;
} options;

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"output", 'o', OPTION_TEXT, offsetof(struct metrics_options, output), "FILE",
         "Write to FILE (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, offsetof(struct metrics_options, format), "text|csv|json",
         "A table of minimum, mean and maximum, or all points as CSV or JSON", "text csv json"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct metrics_options, quiet), NULL,
         "Print no warnings or notices"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Options", own, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* ---- reading ---- */

static bool read_file(struct metrics *metrics, const char *path, struct error *error)
{
    struct byte_source *source = byte_source_open(path, error);
    if (source == NULL)
        return error_prefix(error, "%s", path);
    uint64_t broken = metrics->broken;
    bool is_recording = jfr_is_chunk(byte_source_peek(source, JFR_HEADER_BYTES, error));
    bool good = (is_recording ? metrics_read_recording(metrics, source, error)
                              : metrics_read(metrics, source, error)) ||
                error_prefix(error, "%s", path);
    byte_source_close(source);
    if (good && metrics->broken > broken && !options.quiet)
        command_complain(&command_metrics, "%s: %" PRIu64 " broken record%s skipped, first in line %" PRIu64,
                         path, metrics->broken - broken, metrics->broken - broken == 1 ? "" : "s",
                         metrics->first_broken_line);
    metrics->broken = 0;
    return good;
}

static bool read_path(struct metrics *metrics, const char *path, struct error *error)
{
    struct stat status;
    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return read_file(metrics, path, error);
    struct file_list list = {.paths = NULL};
    bool good = file_list_read(&list, path, error);
    for (size_t i = 0; good && i < list.size; i++)
        good = read_file(metrics, list.paths[i], error);
    file_list_release(&list);
    return good;
}

/* ---- writing ---- */

static struct text_view text_number(const struct metrics *metrics, uint32_t number)
{
    return string_table_text(&metrics->strings, number);
}

static void write_table(const struct metrics *metrics, struct output *output)
{
    char least[32], mean[32], most[32];
    output_format(output, "%-28s %-18s %-26s %8s %12s %12s %12s\n", "process", "metric", "part", "points",
                  "least", "mean", "most");
    for (size_t i = 0; i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        double average = series->size == 0 ? 0 : series->sum / (double)series->size;
        bool is_size = strcmp(series->unit, "bytes") == 0;
        if (is_size) {
            plain_bytes(least, sizeof(least), (int64_t)series->least);
            plain_bytes(mean, sizeof(mean), (int64_t)average);
            plain_bytes(most, sizeof(most), (int64_t)series->most);
        } else {
            snprintf(least, sizeof(least), "%.6g", series->least);
            snprintf(mean, sizeof(mean), "%.6g", average);
            snprintf(most, sizeof(most), "%.6g", series->most);
        }
        output_format(output, "%-28.40s %-18.40s %-26.40s %8zu %12s %12s %12s %s\n",
                      string_table_c_string(&metrics->strings, series->process),
                      string_table_c_string(&metrics->strings, series->metric),
                      string_table_c_string(&metrics->strings, series->part), series->size, least, mean, most,
                      is_size ? "" : series->unit);
    }
}

static void write_csv(const struct metrics *metrics, struct output *output)
{
    output_c_string(output, "time_ms,process,role,metric,part,unit,value\n");
    for (size_t i = 0; i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        for (size_t j = 0; j < series->size; j++) {
            output_i64(output, series->points[j].time_ms);
            output_byte(output, ',');
            csv_text_write(output, text_number(metrics, series->process));
            output_byte(output, ',');
            csv_text_write(output, text_number(metrics, series->role));
            output_byte(output, ',');
            csv_text_write(output, text_number(metrics, series->metric));
            output_byte(output, ',');
            csv_text_write(output, text_number(metrics, series->part));
            output_format(output, ",%s,%.17g\n", series->unit, series->points[j].value);
        }
    }
}

static void write_json(const struct metrics *metrics, struct output *output)
{
    output_c_string(output, "{\"metrics\":");
    metrics_write_json(metrics, output);
    output_c_string(output, "}\n");
}

static bool write_out(const struct metrics *metrics, struct error *error)
{
    struct output output;
    if (!output_open(&output, options.output == NULL ? "-" : options.output, error))
        return false;
    if (options.format == FORMAT_CSV)
        write_csv(metrics, &output);
    else if (options.format == FORMAT_JSON)
        write_json(metrics, &output);
    else
        write_table(metrics, &output);
    return output_finish(&output, error);
}

static int show(char **paths, int count)
{
    struct error error = {0};
    struct metrics metrics;
    int exit_code = EXIT_GOOD;
    if (!metrics_init(&metrics, &error)) {
        command_complain(&command_metrics, "%s", error.message);
        return EXIT_FAILED;
    }
    for (int i = 0; i < count; i++) {
        uint64_t before = metrics.records;
        if (!read_path(&metrics, paths[i], &error)) {
            command_complain(&command_metrics, "%s", error.message);
            exit_code = EXIT_FAILED;
        } else if (metrics.records == before) {
            command_complain(&command_metrics, "%s: contains no metrics", paths[i]);
            exit_code = EXIT_FAILED;
        }
    }
    metrics_finish(&metrics);
    if (metrics.records > 0 && !write_out(&metrics, &error)) {
        command_complain(&command_metrics, "%s", error.message);
        exit_code = EXIT_FAILED;
    }
    metrics_release(&metrics);
    return exit_code;
}

static int run(int argc, char **argv)
{
    int operand_count, exit_code;
    options = (struct metrics_options){.format = FORMAT_TEXT};
    if (!command_parse_options(&command_metrics, argc, argv, &operand_count, &exit_code))
        return exit_code;
    if (operand_count == 0)
        return command_usage_error(&command_metrics, "no file given");
    return show(argv + 1, operand_count);
}

const struct command command_metrics = {
    .name = "metrics",
    .summary = "Show memory, CPU, GC, threads and I/O over time, as profilers recorded them",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .details =
        "Reads records of Uber's JVM profiler (CpuAndMemory, IO, ThreadInfo; raw or in a console log)\n"
        "and of PySpark profilers (s_1_1401_cpumem.json), kinds and processes mixed, and recordings\n"
        "of Java Flight Recorder and sparkflame (CPU load, heap, garbage collection, resident\n"
        "memory).\n",
    .examples = "  sparkflame metrics CpuAndMemory.json.gz s_1_*_cpumem.json.gz\n"
                "      one line per process and metric\n"
                "  sparkflame metrics -f csv -o metrics.csv profiles/\n"
                "      all points, for a spreadsheet\n",
    .options = groups,
    .run = run,
};
