#include "spark/report/report.h"

static bool sum_up_samples(struct report *report, struct error *error)
{
    struct stage_stacks stacks;
    if (!stage_stacks_init(&stacks, report->profile, error))
        return false;
    bool good = stage_methods_init(&report->methods, &stacks, error) &&
                sql_operators_init(&report->operators, report->application, &stacks, error);
    stage_stacks_release(&stacks);
    return good;
}

static bool sum_up_time(struct report *report, struct error *error)
{
    return time_spent_sum_up(&report->time_spent, report->application, &report->cores, &report->curves) ||
           error_set_memory(error);
}

bool report_init(struct report *report, const struct report_sources *sources, struct error *error)
{
    static const struct metrics no_metrics;
    *report = (struct report){.application = sources->application,
                              .log = sources->log,
                              .metrics = sources->metrics,
                              .profile = sources->profile,
                              .baseline = sources->baseline};
    struct advice_sources advised = {.application = sources->application,
                                     .statistics = &report->statistics,
                                     .cores = &report->cores,
                                     .what_if = &report->what_if,
                                     .disabled = sources->disabled_rules,
                                     .disabled_count = sources->disabled_rule_count,
                                     .log = sources->log,
                                     .metrics = sources->metrics,
                                     .profile = sources->profile};
    bool good = stage_statistics_init(&report->statistics, sources->application, error) &&
                core_timeline_init(&report->cores, sources->application, error) &&
                what_if_init(&report->what_if, sources->application, &report->cores, error) &&
                metric_curves_init(&report->curves, sources->metrics != NULL ? sources->metrics : &no_metrics,
                                   error) &&
                sum_up_samples(report, error) && sum_up_time(report, error) &&
                advice_init(&report->advice, &advised, error);
    if (good)
        cost_work_out(&report->cost, sources->application, &report->cores, &sources->prices);
    else
        report_release(report);
    return good;
}

void report_release(struct report *report)
{
    stage_statistics_release(&report->statistics);
    what_if_release(&report->what_if);
    core_timeline_release(&report->cores);
    metric_curves_release(&report->curves);
    stage_methods_release(&report->methods);
    sql_operators_release(&report->operators);
    advice_release(&report->advice);
    stage_comparison_release(&report->comparison);
}
