/*
 * jfr_schema.h - which pools and events of a chunk are read, and how, from its metadata.
 *
 * Chunks of one recording mostly repeat their metadata, so a schema is kept and used again.
 *
 * Owns: the metadata and all layouts, until jfr_schema_release().
 * Threads: one at a time.
 */
#ifndef FORMATS_JFR_SCHEMA_H
#define FORMATS_JFR_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "formats/jfr/jfr_metadata.h"
#include "model/profile.h"

/* Constants that we look up. */
enum jfr_pool {
    JFR_POOL_STACK_TRACE,
    JFR_POOL_METHOD,
    JFR_POOL_CLASS,
    JFR_POOL_SYMBOL,
    JFR_POOL_STRING,
    JFR_POOL_THREAD,
    JFR_POOL_THREAD_STATE,
    JFR_POOL_FRAME_TYPE,
    JFR_POOL_OLD_OBJECT,
    JFR_POOL_STACK_FRAME, /* of our compact recordings */
};
#define JFR_POOL_COUNT 10
#define JFR_NO_POOL UINT8_MAX

/* Slots of constants. */
enum {
    JFR_METHOD_CLASS = 0,
    JFR_METHOD_NAME = 1,
    JFR_METHOD_MODIFIERS = 2,
    JFR_CLASS_NAME = 0,
    JFR_CLASS_FILE = 1,
    JFR_TEXT = 0, /* of symbols, strings, states and frame types */
    JFR_THREAD_OS_NAME = 0,
    JFR_THREAD_OS_ID = 1,
    JFR_THREAD_JAVA_NAME = 2,
    JFR_THREAD_JAVA_ID = 3,
    JFR_OLD_OBJECT_CLASS = 0,
    JFR_TRACE_FRAMES = 0,
    JFR_FRAME_METHOD = 0,
    JFR_FRAME_LINE = 1,
    JFR_FRAME_TYPE = 2,
};
#define JFR_CONSTANT_SLOTS 4

/* Prefix of our event types, followed by the event's name, with $XX for bytes not allowed in Java names. */
#define JFR_OWN_PREFIX "sparkflame.sample_"
/* In methods that we write, the kind of code plus one is above the JVM's modifiers. */
#define JFR_KIND_SHIFT 20

/* Slots of events. */
enum jfr_event_slot {
    JFR_EVENT_TIME,
    JFR_EVENT_DURATION, /* of spans; else it may be the value */
    JFR_EVENT_THREAD,
    JFR_EVENT_STACK,
    JFR_EVENT_STATE,
    JFR_EVENT_CLASS,
    JFR_EVENT_VALUE,
    JFR_EVENT_COUNT,
    JFR_EVENT_TEXT, /* the tag of a span, the labels of a task, the name of a setting */
};
#define JFR_EVENT_SLOTS 9

enum jfr_event_role {
    JFR_ROLE_SAMPLE,
    JFR_ROLE_CPU_OR_WALL, /* a CPU sample, or a wall-clock one by async-profiler's thread state */
    JFR_ROLE_ALLOCATION_SAMPLE,
    JFR_ROLE_OLD_OBJECT,       /* its class is a constant of its own */
    JFR_ROLE_SPAN,             /* the thread had the tag for the duration */
    JFR_ROLE_LABELS,           /* the thread has these labels from now on */
    JFR_ROLE_RECORDING_LABELS, /* all samples of the chunk have these labels */
    JFR_ROLE_DETAILS,          /* labels implied by another label */
    JFR_ROLE_SETTING,          /* settings of the recording */
    JFR_ROLE_OTHER,            /* a sample of an event that is not wanted */
};

/* An event type and how it is read. */
struct jfr_event_kind {
    const char *type;
    const char *event;       /* its name in the profile */
    const char *value_field; /* NULL: the count */
    const char *class_field; /* shown as innermost frame; NULL */
    const char *allocation;  /* value of the label "allocation"; NULL */
    enum event_unit unit;
    enum jfr_event_role role;
};

/* An event type of this chunk that is read. */
struct jfr_event_plan {
    struct text_view event;
    struct text_view allocation;
    const struct jfr_layout *layout;
    enum event_unit unit;
    enum jfr_event_role role;
    bool is_known; /* stands in jfr_event_kinds */
    bool has_value;
    bool value_is_ticks;
    bool value_is_double;
    bool has_count;
    bool count_is_double;
    bool has_class;
    bool has_state;
    bool text_is_constant; /* a number in the pool of strings */
    uint8_t other_number;  /* among those with JFR_ROLE_OTHER, below JFR_OTHER_LIMIT */
};
/* Further ones share a number with others. */
#define JFR_OTHER_LIMIT 32

/* How a type is read. */
struct jfr_type_use {
    const struct jfr_layout *constants; /* made when needed */
    struct jfr_event_plan *plan;        /* NULL: such events are skipped */
    uint8_t pool;                       /* JFR_NO_POOL: such constants are skipped */
};

struct jfr_schema {
    struct jfr_metadata metadata;
    struct jfr_type_use *uses; /* by type index */
    const struct jfr_layout *pools[JFR_POOL_COUNT];
    const struct jfr_layout *frame; /* of a stack trace; NULL when there are none */
    bool frame_is_constant;         /* stacks refer to frames by number */
    bool frame_is_plain;      /* method, line, bytecode index, type: compressed integers in this order */
    bool method_name_is_text; /* not the number of a symbol */
    bool class_name_is_text;
    uint8_t other_count;             /* of plans with JFR_ROLE_OTHER, modulo 256 */
    struct text_view metadata_bytes; /* a copy, to recognize the same again */
};

/* Reads the metadata event at the cursor, which must end with the event. With `event` the types of
 * others get JFR_ROLE_OTHER; empty: all are wanted. */
bool jfr_schema_read(struct jfr_schema *schema, struct jfr_cursor cursor, struct text_view event,
                     struct error *error) MUST_CHECK;
void jfr_schema_release(struct jfr_schema *schema);
/* True if the metadata event at the cursor equals the one that was read. */
bool jfr_schema_is_of(const struct jfr_schema *schema, struct jfr_cursor cursor);
/* NULL for types that are not read. */
const struct jfr_event_plan *jfr_schema_plan(const struct jfr_schema *schema, uint64_t type);
/* How constants of the type are written; NULL with *error set when that is unknown. */
const struct jfr_layout *jfr_schema_constant(struct jfr_schema *schema, uint64_t type, uint8_t *pool,
                                             struct error *error) MUST_CHECK;

/* The table of event types, ended by an entry without a type. */
extern const struct jfr_event_kind jfr_event_kinds[];

#endif
