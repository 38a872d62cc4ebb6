/*
 * A module of C functions to be found between Python frames. The Python API that it uses is declared here, so that one
 * source works with every version without its headers; the declarations are those of interpreters with a GIL.
 */
#include <stddef.h>

typedef struct object object;
typedef object *(*function)(object *self, object *argument);

struct method {
    const char *name;
    function call;
    int flags;
    const char *documentation;
};

struct module_definition {
    size_t reference_count;
    void *type, *init, *copy;
    size_t index;
    const char *name, *documentation;
    size_t state_size;
    struct method *methods;
    void *unused[4];
};

extern object *PyModule_Create2(struct module_definition *definition, int version);
extern object *PyObject_CallObject(object *callable, object *arguments);
extern object *PyLong_FromLong(long value);

#define ONE_ARGUMENT 8

static volatile unsigned long sum;

__attribute__((noinline)) void native_leaf(void)
{
    for (unsigned long i = 0; i < 2000000; i++)
        sum += i;
}

__attribute__((noinline)) void native_outer(void)
{
    native_leaf();
    sum++;
}

__attribute__((noinline)) object *native_calls_back(object *callable)
{
    object *result = PyObject_CallObject(callable, NULL);
    sum++;
    return result;
}

static object *module_work(object *self, object *argument)
{
    (void)self;
    (void)argument;
    native_outer();
    return PyLong_FromLong(1);
}

static object *module_call(object *self, object *argument)
{
    (void)self;
    return native_calls_back(argument);
}

static struct method methods[] = {
    {"work", module_work, ONE_ARGUMENT, NULL},
    {"call", module_call, ONE_ARGUMENT, NULL},
    {NULL, NULL, 0, NULL},
};

static struct module_definition definition = {
    .reference_count = 1, .name = "native_module", .state_size = (size_t)-1, .methods = methods};

__attribute__((visibility("default"))) object *PyInit_native_module(void)
{
    return PyModule_Create2(&definition, 1013);
}
