/*
 * otlp_profile_head.h - what a Profile of a message says beside its samples: what their values are, and times.
 */
#ifndef FORMATS_OTLP_PROFILE_HEAD_H
#define FORMATS_OTLP_PROFILE_HEAD_H

#include "formats/otlp/otlp_message.h"
#include "model/profile.h"

struct otlp_profile_head {
    struct text_view event; /* its name in the model */
    enum event_unit unit;
    double factor; /* from a value to the unit */
    double counts; /* how often something was seen of which the value is 1; 0: unknown */
    uint64_t time_ns, duration_ns;
};

bool otlp_profile_head_read(struct otlp_profile_head *head, const struct otlp_tables *tables,
                            struct text_view profile, struct error *error) MUST_CHECK;

#endif
