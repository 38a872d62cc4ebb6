/* Calls functions of libc's through its import table; import_patch_test.c hooks them.
 * Built for lazy and immediate binding. */
#include <stdlib.h>
#include <unistd.h>

extern int function_that_is_not_there(void) __attribute__((weak));
int getpid_of_library(void);
int (*weak_of_library(void))(void);
char *own_getenv_of_library(const char *name);

/* Defined anew, and bound to itself. */
__attribute__((visibility("default"))) char *getenv(const char *name)
{
    return (char *)(name[0] == 0 ? "" : "own");
}

__attribute__((visibility("default"))) char *own_getenv_of_library(const char *name)
{
    return getenv(name);
}

__attribute__((visibility("default"))) int getpid_of_library(void)
{
    return getpid() + 0;
}

__attribute__((visibility("default"))) int (*weak_of_library(void))(void)
{
    return function_that_is_not_there;
}
