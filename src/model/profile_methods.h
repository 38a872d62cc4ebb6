/*
 * profile_methods.h - what each method of a profile took, itself and with what it called; and of one method, which
 * others call it, which it calls, and what it took in each application.
 *
 * A method is the text of a frame in the chosen style. One that calls itself counts once for a stack; its caller is
 * that of the outermost call, and what it calls is what the innermost one does.
 *
 * Owns: its names and arrays, until profile_methods_release(). Borrows the profile, whose stacks are in its tree.
 * Threads: one at a time.
 */
#ifndef MODEL_PROFILE_METHODS_H
#define MODEL_PROFILE_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "model/frame_name.h"
#include "model/profile.h"
#include "model/weight.h"

#define NO_METHOD UINT32_MAX

struct profile_methods_options {
    uint32_t event; /* of the profile */
    enum weight weight;
    struct name_style names;
    struct text_view focus; /* the one method; empty: none */
};

struct method_sum {
    double self, total;
    double calls_focus, called_by_focus;
};

/* The one method in an application. */
struct method_application {
    uint32_t name; /* string of the profile; 0: of no known application */
    double self, total;
    double all; /* of all methods */
};

struct profile_methods {
    struct string_table names;  /* a method's number is that of its name; 0 is none */
    struct method_sum *methods; /* names.size of them */
    double total;
    uint32_t focus;       /* NO_METHOD: the profile does not have it */
    double focus_is_root; /* of the one method: called by none */
    struct method_application *applications;
    size_t application_count, application_capacity;
};

/* To be released in any case. False: out of memory. */
bool profile_methods_init(struct profile_methods *sums, const struct profile *profile,
                          const struct profile_methods_options *options, struct error *error) MUST_CHECK;
void profile_methods_release(struct profile_methods *sums);

static inline struct text_view profile_methods_name(const struct profile_methods *sums, uint32_t method)
{
    return string_table_text(&sums->names, method);
}

#endif
