/*
 * fuzz_log_zone.c - gives libFuzzer's input to the reader of a log's time zone: its name, and the
 * system's file of a region.
 */
#include <stdlib.h>
#include <string.h>

#include "spark/log/log_zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times_ms[] = {INT64_C(-62135596800000), -1, 0, 1711846800000, 1729994400000,
                                       253402300799999};
    char text[256];
    struct log_zone zone = {0};
    struct error error = {0};
    if (size >= sizeof(text))
        return -1;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!log_zone_parse(&zone, text, &error)) {
        if (error.message[0] == '\0')
            abort();
        return 0;
    }
    for (size_t i = 0; i < sizeof(times_ms) / sizeof(*times_ms); i++) {
        int64_t ahead_ms = times_ms[i] - log_zone_to_utc(&zone, times_ms[i]);
        if (ahead_ms < -INT64_C(26) * 3600000 || ahead_ms > INT64_C(26) * 3600000)
            abort();
    }
    return 0;
}
