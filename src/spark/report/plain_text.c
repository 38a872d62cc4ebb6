#include "spark/report/plain_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/utf8.h"
#include "spark/application.h"

const char *plain_duration(char *text, size_t size, int64_t ms)
{
    double seconds = (double)ms / 1000;
    if (ms == NO_MS || ms < 0)
        snprintf(text, size, "-");
    else if (ms < 1000)
        snprintf(text, size, "%" PRId64 " ms", ms);
    else if (seconds < 120)
        snprintf(text, size, "%.1f s", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.1f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
    return text;
}

const char *plain_bytes(char *text, size_t size, int64_t count)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)count;
    size_t unit = 0;
    while (value >= 1024 && unit < 5) {
        value /= 1024;
        unit++;
    }
    if (count <= 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

void plain_write_safely(struct output *output, struct text_view text)
{
    while (text.size > 0) {
        size_t size = utf8_character_size(text);
        unsigned char first = (unsigned char)text.data[0];
        bool is_control = size == 1 && (first < 0x20 || first == 0x7f);
        bool is_c1 = size == 2 && first == 0xc2 && (unsigned char)text.data[1] < 0xa0;
        if (size == 0 || is_control || is_c1)
            output_byte(output, is_control ? ' ' : '?');
        else
            output_text(output, text_part(text, 0, size));
        text = text_from(text, size == 0 ? 1 : size);
    }
}

void plain_write_when(struct output *output, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char text[40] = "?";
    if (ms != NO_MS && gmtime_r(&seconds, &parts) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
    output_c_string(output, text);
}
