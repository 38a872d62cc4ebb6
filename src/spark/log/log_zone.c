#include "spark/log/log_zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text_view.h"
#include "spark/log/log_time.h"

/* Clocks are changed on such borders only. */
#define SPAN_MS (INT64_C(15) * 60 * 1000)
#define LONGEST_REGION 100
/* As java.time has it; no zone of a country is further from UTC than 14 hours. */
#define MOST_MINUTES (18 * 60)

/* The C library silently treats an unknown zone as UTC. */
static bool is_known_region(const char *name)
{
    const char *folder = getenv("TZDIR");
    char path[4096];
    if (strchr(name, '/') == NULL || strstr(name, "..") != NULL || strlen(name) > LONGEST_REGION)
        return false;
    int size = snprintf(path, sizeof(path), "%s/%s", folder == NULL ? "/usr/share/zoneinfo" : folder, name);
    return size > 0 && (size_t)size < sizeof(path) && access(path, R_OK) == 0;
}

bool log_zone_parse(struct log_zone *zone, const char *text, struct error *error)
{
    struct text_view rest = text_of(text);
    int minutes;
    *zone = (struct log_zone){.known_span = INT64_MIN};
    if (log_time_cut_zone(&rest, &minutes) && rest.size == 0 && abs(minutes) <= MOST_MINUTES) {
        zone->ahead_ms = (int64_t)minutes * 60000;
        return true;
    }
    if (!is_known_region(text))
        return error_set(error, ERROR_USAGE,
                         "%s: is not a time zone; it must be like +02:00, CEST, or Europe/Berlin", text);
    if (setenv("TZ", text, 1) != 0)
        return error_set_memory(error);
    tzset();
    zone->is_region = true;
    return true;
}

int64_t log_zone_to_utc(struct log_zone *zone, int64_t local_ms)
{
    int64_t span = local_ms / SPAN_MS;
    if (zone->is_region && span != zone->known_span) {
        time_t seconds = (time_t)(local_ms / 1000), utc;
        struct tm parts;
        gmtime_r(&seconds, &parts);
        parts.tm_isdst = -1;
        utc = mktime(&parts);
        zone->known_span = span;
        zone->ahead_ms = ((int64_t)seconds - (int64_t)utc) * 1000;
    }
    return local_ms - zone->ahead_ms;
}
