#include "model/stitch.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"

#define MOST_TASKS ((size_t)1 << 30)
#define NO_NODE STACK_ROOT

enum sample_role {
    ROLE_WAIT,        /* wall: Java waits at the boundary */
    ROLE_PYTHON_WALL, /* wall: the worker */
    ROLE_JAVA_WALL,   /* wall: Java elsewhere */
    ROLE_PYTHON_CPU,
    ROLE_RUNNER_CPU, /* CPU: Java below a frame of a runner */
    ROLE_NONE,
};

/* What a stack is, by its innermost node. */
struct stack_facts {
    uint32_t boundary; /* the runner's frame, when nothing but reading comes after it; NO_NODE */
    uint32_t runner;   /* the innermost frame of a runner; NO_NODE */
    bool is_python;
};

/* A sample that has a task. */
struct stitch_item {
    uint32_t task;
    uint32_t role;
    size_t sample;
};

struct stitch {
    struct profile *profile;
    struct stack_facts *facts;
    struct sample *samples; /* as they were */
    size_t sample_count;
    bool *is_gone; /* of each of them: replaced by others */
    struct stitch_item *items;
    size_t item_count;
    struct id_map tasks;
    uint32_t cpu, wall; /* events; EVENT_LIMIT: none */
    uint32_t *path;     /* frames of one stack */
    size_t path_capacity;
};

/* The samples of one role of one task. */
struct item_list {
    const struct stitch_item *items;
    size_t size;
    double weight;
};

static bool starts_with_one_of(struct text_view name, const struct text_view *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_starts_with(name, prefixes[i]))
            return true;
    return false;
}

/* Names are as recorded (org/apache) or made readable (org.apache). */
static bool is_runner(struct text_view name)
{
    static const struct text_view packages[] = {
        {"org/apache/spark/api/python/", 28},
        {"org.apache.spark.api.python.", 28},
        {"org/apache/spark/sql/execution/python/", 38},
        {"org.apache.spark.sql.execution.python.", 38},
    };
    /* It starts workers, which do not serve a task yet. */
    static const struct text_view factories[] = {
        {"org/apache/spark/api/python/PythonWorkerFactory", 47},
        {"org.apache.spark.api.python.PythonWorkerFactory", 47},
    };
    return starts_with_one_of(name, packages, COUNT_OF(packages)) &&
           !starts_with_one_of(name, factories, COUNT_OF(factories));
}

/* Frames between a runner and its read or write system call. */
static bool is_transfer(struct text_view name, enum frame_kind kind)
{
    static const struct text_view packages[] = {
        {"java/io/", 8},
        {"java.io.", 8},
        {"java/net/", 9},
        {"java.net.", 9},
        {"java/nio/", 9},
        {"java.nio.", 9},
        {"sun/nio/", 8},
        {"sun.nio.", 8},
        {"jdk/internal/", 13},
        {"jdk.internal.", 13},
        {"java/util/concurrent/locks/", 27},
        {"java.util.concurrent.locks.", 27},
        {"org/apache/arrow/vector/ipc/", 28},
        {"org.apache.arrow.vector.ipc.", 28},
    };
    return kind == FRAME_NATIVE || kind == FRAME_CPP || kind == FRAME_KERNEL ||
           starts_with_one_of(name, packages, COUNT_OF(packages));
}

/* Parents come before their children. */
static bool describe_stacks(struct stitch *stitch)
{
    const struct profile *profile = stitch->profile;
    const struct stack_tree *tree = &profile->stacks;
    stitch->facts = calloc(tree->size + 1, sizeof(*stitch->facts));
    if (stitch->facts == NULL)
        return false;
    for (uint32_t i = 1; i < tree->size; i++) {
        const struct stack_node *node = &tree->nodes[i];
        const struct stack_facts *parent = &stitch->facts[node->parent];
        struct text_view name = profile_frame_name(profile, node->frame);
        enum frame_kind kind = profile->frames.frames[node->frame].kind;
        bool runner = is_runner(name);
        stitch->facts[i].runner = runner ? i : parent->runner;
        stitch->facts[i].boundary = runner ? i : is_transfer(name, kind) ? parent->boundary : NO_NODE;
        stitch->facts[i].is_python = node->parent == STACK_ROOT ? kind == FRAME_PYTHON : parent->is_python;
    }
    return true;
}

static uint32_t find_event(const struct profile *profile, struct text_view name)
{
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (text_equal(profile_text(profile, profile->events[i].name), name))
            return i;
    return EVENT_LIMIT;
}

static bool runs(const struct profile *profile, uint32_t context)
{
    uint32_t state = context_table_value(&profile->contexts, context, LABEL_STATE);
    return state != 0 && text_equal(profile_text(profile, state), TEXT("runnable"));
}

static enum sample_role role_of(const struct stitch *stitch, const struct sample *sample)
{
    const struct stack_facts *facts = &stitch->facts[sample->stack];
    if (sample->event == stitch->cpu)
        return facts->is_python ? ROLE_PYTHON_CPU : facts->runner != NO_NODE ? ROLE_RUNNER_CPU : ROLE_NONE;
    if (sample->event != stitch->wall)
        return ROLE_NONE;
    if (facts->is_python)
        return ROLE_PYTHON_WALL;
    return facts->boundary != NO_NODE && !runs(stitch->profile, sample->context) ? ROLE_WAIT : ROLE_JAVA_WALL;
}

/* A number for the task of a label set; NO_ID: none, or out of memory (*failed). */
static uint32_t task_of(struct stitch *stitch, uint32_t context, bool *failed)
{
    const struct context_table *contexts = &stitch->profile->contexts;
    uint32_t task = context_table_value(contexts, context, LABEL_TASK);
    uint32_t application = context_table_value(contexts, context, LABEL_APPLICATION);
    if (task == 0)
        return NO_ID;
    uint32_t *place = id_map_place(&stitch->tasks, (uint64_t)application << 32 | task);
    if (place == NULL) {
        *failed = true;
        return NO_ID;
    }
    if (*place == NO_ID)
        *place = (uint32_t)stitch->tasks.size;
    return *place;
}

static bool list_items(struct stitch *stitch)
{
    bool failed = false;
    size_t capacity = 0;
    for (size_t i = 0; i < stitch->sample_count && !failed; i++) {
        const struct sample *sample = &stitch->samples[i];
        enum sample_role role = role_of(stitch, sample);
        uint32_t task = role == ROLE_NONE ? NO_ID : task_of(stitch, sample->context, &failed);
        if (task == NO_ID)
            continue;
        failed = !array_reserve(&stitch->items, &capacity, stitch->item_count + 1, MOST_TASKS);
        if (!failed)
            stitch->items[stitch->item_count++] = (struct stitch_item){task, role, i};
    }
    return !failed;
}

/* By task, role, and the order in which they were seen. */
static int compare_items(const void *left, const void *right)
{
    const struct stitch_item *a = left, *b = right;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    if (a->role != b->role)
        return a->role < b->role ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static const struct sample *sample_of(const struct stitch *stitch, const struct stitch_item *item)
{
    return &stitch->samples[item->sample];
}

static uint32_t join_stacks(struct stitch *stitch, uint32_t boundary, uint32_t python)
{
    struct stack_tree *tree = &stitch->profile->stacks;
    size_t count = 0;
    for (uint32_t node = python; node != STACK_ROOT; node = tree->nodes[node].parent) {
        if (!array_reserve(&stitch->path, &stitch->path_capacity, count + 1, SIZE_MAX / 8))
            return NO_STACK;
        stitch->path[count++] = tree->nodes[node].frame;
    }
    return stack_tree_path(tree, boundary, stitch->path, count);
}

/* One sample of `count`, like `like`, with the Python stack below the boundary. */
static bool add_joined(struct stitch *stitch, const struct sample *like, double count, uint32_t boundary,
                       uint32_t python)
{
    struct sample joined = *like;
    joined.stack = join_stacks(stitch, boundary, python);
    joined.count = count;
    joined.value = like->count == 0 ? count : like->value * (count / like->count);
    return profile_add_sample(stitch->profile, &joined);
}

static uint32_t boundary_of(const struct stitch *stitch, const struct stitch_item *item)
{
    const struct stack_facts *facts = &stitch->facts[sample_of(stitch, item)->stack];
    return facts->boundary != NO_NODE ? facts->boundary : facts->runner;
}

/* Two sequences of samples, the second scaled to the length of the first. */
struct pairing {
    const struct item_list *others;
    double scale; /* from a weight of the others to one of the first */
    size_t at;    /* in the others */
    double left;  /* of that one, already scaled */
    double carry; /* below one, so that whole numbers come out whole */
};

static void advance(const struct stitch *stitch, struct pairing *pairing)
{
    while (pairing->left <= 1e-9 && pairing->at + 1 < pairing->others->size)
        pairing->left = sample_of(stitch, &pairing->others->items[++pairing->at])->count * pairing->scale;
}

/* Pairs each sample of the first sequence with the overlapping ones of the second. `first_is_java`: the boundary is
 * the first's, the Python stack the second's; otherwise the other way round. */
static bool pair(struct stitch *stitch, const struct item_list *first, const struct item_list *second,
                 bool first_is_java)
{
    struct pairing pairing = {.others = second, .scale = first->weight / second->weight};
    pairing.left = sample_of(stitch, &second->items[0])->count * pairing.scale;
    for (size_t i = 0; i < first->size; i++) {
        const struct sample *sample = sample_of(stitch, &first->items[i]);
        double wanted = sample->count;
        stitch->is_gone[first->items[i].sample] = true;
        while (wanted > 1e-9) {
            advance(stitch, &pairing);
            const struct stitch_item *other = &second->items[pairing.at];
            bool is_last = pairing.at + 1 == second->size || pairing.left >= wanted;
            double taken = is_last ? wanted : pairing.left;
            wanted -= taken;
            pairing.left -= taken;
            double whole = floor(taken + pairing.carry + 0.5);
            pairing.carry += taken - whole;
            const struct stitch_item *java = first_is_java ? &first->items[i] : other;
            const struct stitch_item *python = first_is_java ? other : &first->items[i];
            if (whole > 0 && !add_joined(stitch, sample, whole, boundary_of(stitch, java),
                                         sample_of(stitch, python)->stack))
                return false;
        }
    }
    return true;
}

static void drop(struct stitch *stitch, const struct item_list *list)
{
    for (size_t i = 0; i < list->size; i++)
        stitch->is_gone[list->items[i].sample] = true;
}

/* The task's items, by role. */
static bool stitch_task(struct stitch *stitch, const struct item_list *roles)
{
    const struct item_list *waits = &roles[ROLE_WAIT];
    const struct item_list *boundary = waits->weight > 0 ? waits : &roles[ROLE_RUNNER_CPU];
    if (roles[ROLE_PYTHON_WALL].weight > 0) {
        if (waits->weight > 0 && !pair(stitch, waits, &roles[ROLE_PYTHON_WALL], true))
            return false;
        /* Java's thread tells where the task's time went. */
        if (waits->weight > 0 || roles[ROLE_JAVA_WALL].weight > 0)
            drop(stitch, &roles[ROLE_PYTHON_WALL]);
    }
    return roles[ROLE_PYTHON_CPU].weight <= 0 || boundary->weight <= 0 ||
           pair(stitch, &roles[ROLE_PYTHON_CPU], boundary, false);
}

static bool stitch_tasks(struct stitch *stitch)
{
    size_t i = 0;
    while (i < stitch->item_count) {
        struct item_list roles[ROLE_NONE] = {{.items = NULL}};
        uint32_t task = stitch->items[i].task;
        for (; i < stitch->item_count && stitch->items[i].task == task; i++) {
            struct item_list *list = &roles[stitch->items[i].role];
            list->items = list->size == 0 ? &stitch->items[i] : list->items;
            list->size++;
            list->weight += sample_of(stitch, &stitch->items[i])->count;
        }
        if (!stitch_task(stitch, roles))
            return false;
    }
    return true;
}

static bool keep_the_rest(struct stitch *stitch)
{
    for (size_t i = 0; i < stitch->sample_count; i++)
        if (!stitch->is_gone[i] && !profile_add_sample(stitch->profile, &stitch->samples[i]))
            return false;
    return true;
}

static bool run(struct stitch *stitch)
{
    if (!describe_stacks(stitch) || !list_items(stitch))
        return false;
    if (stitch->item_count > 0)
        qsort(stitch->items, stitch->item_count, sizeof(*stitch->items), compare_items);
    stitch->is_gone = calloc(stitch->sample_count + 1, sizeof(*stitch->is_gone));
    return stitch->is_gone != NULL && stitch_tasks(stitch) && keep_the_rest(stitch);
}

bool stitch_profile(struct profile *profile, struct error *error)
{
    struct stitch stitch = {.profile = profile};
    stitch.cpu = find_event(profile, TEXT("cpu"));
    stitch.wall = find_event(profile, TEXT("wall"));
    stitch.samples = profile_take_samples(profile, &stitch.sample_count);
    id_map_init(&stitch.tasks);
    bool good = run(&stitch) || error_set_memory(error);
    id_map_release(&stitch.tasks);
    free(stitch.samples);
    free(stitch.facts);
    free(stitch.items);
    free(stitch.is_gone);
    free(stitch.path);
    return good;
}
