#include "spark/advice/advice_rule.h"

#include <stdarg.h>
#include <stdio.h>

void advice_say(struct advice_item *item, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(item->finding, sizeof(item->finding), format, arguments);
    va_end(arguments);
}

void advice_propose(struct advice_item *item, const char *remedy)
{
    snprintf(item->remedy, sizeof(item->remedy), "%s", remedy);
}

double advice_mean_cores(const struct advice_case *it)
{
    int64_t wall_ms = span_ms(it->application->start_ms, application_last_ms(it->application));
    return wall_ms == NO_MS || wall_ms <= 0 ? 0
                                            : core_timeline_all(it->sources->cores).there / (double)wall_ms;
}

int64_t advice_core_ms(const struct advice_case *it, int64_t wall_ms)
{
    return (int64_t)(advice_mean_cores(it) * (double)wall_ms);
}

void advice_save_share(struct advice_item *item, enum advice_certainty certainty, double factor)
{
    item->certainty = certainty;
    item->factor = factor < 0 ? 0 : factor > 1 ? 1 : factor;
}

void advice_save_divided(struct advice_item *item, enum advice_certainty certainty, int64_t max_ms)
{
    item->certainty = certainty;
    item->max_ms = max_ms < 1 ? 1 : max_ms;
}

void advice_save(const struct advice_case *it, struct advice_item *item, enum advice_certainty certainty,
                 int64_t wall_ms, const char *how)
{
    item->certainty = certainty;
    item->saved_wall_ms = wall_ms < 0 ? 0 : wall_ms;
    item->saved_core_ms = advice_core_ms(it, item->saved_wall_ms);
    snprintf(item->how, sizeof(item->how), "%s", how);
}

void advice_save_cores(struct advice_item *item, enum advice_certainty certainty, int64_t core_ms,
                       const char *how)
{
    item->certainty = certainty;
    item->saved_core_ms = core_ms < 0 ? 0 : core_ms;
    snprintf(item->how, sizeof(item->how), "%s", how);
}

bool advice_is_adaptive(const struct application *application)
{
    return !text_equal(application_property(application, "spark.sql.adaptive.enabled"), TEXT("false"));
}

bool advice_has_executors(const struct application *application)
{
    for (size_t i = 0; i < application->executor_count; i++)
        if (application->executors[i].cores > 0 &&
            !text_equal(application_text(application, application->executors[i].id), TEXT("driver")))
            return true;
    return false;
}

bool advice_ran_on(const struct advice_case *it, size_t stage, size_t executor)
{
    size_t bit = stage * it->application->executor_count + executor;
    return it->stage_executors == NULL || it->stage_executors[bit / 8] >> bit % 8 & 1;
}
