/*
 * Functions that newer glibc versions export with a newer symbol version, or that used to be inline: defined here, for
 * this library only, based on functions of glibc 2.17. They have precedence when the library is linked.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#define OLDEST "GLIBC_2.2.5"
#endif

/* libc uses reserved names for parameters. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* OLD(result, name, parameters, arguments): the function's oldest version. */
#define OLD(result, name, parameters, arguments)                 \
    result old_##name parameters;                                \
    __asm__(".symver old_" #name "," #name "@" OLDEST);          \
    __attribute__((visibility("hidden"))) result name parameters \
    {                                                            \
        return old_##name arguments;                             \
    }

OLD(int, dladdr, (const void *address, Dl_info *info), (address, info))
OLD(int, dlclose, (void *handle), (handle))
OLD(char *, dlerror, (void), ())
OLD(void *, dlopen, (const char *path, int mode), (path, mode))
OLD(void *, dlsym, (void *handle, const char *name), (handle, name))
#if !defined(__aarch64__)
#undef OLDEST
#define OLDEST "GLIBC_2.3.3"
#endif
OLD(int, dlinfo, (void *restrict handle, int request, void *restrict result), (handle, request, result))
#if !defined(__aarch64__)
#undef OLDEST
#define OLDEST "GLIBC_2.2.5"
#endif
OLD(int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
    (thread, attributes, run, context))
OLD(int, pthread_detach, (pthread_t thread), (thread))
OLD(void *, pthread_getspecific, (pthread_key_t key), (key))
OLD(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end))
OLD(int, pthread_join, (pthread_t thread, void **result), (thread, result))
OLD(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
OLD(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *before), (how, set, before))

/* On 64-bit machines struct stat64 is struct stat. */
__attribute__((visibility("hidden"))) int stat64(const char *path, struct stat64 *status);
int stat64(const char *path, struct stat64 *status)
{
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

__attribute__((visibility("hidden"))) int fstat64(int descriptor, struct stat64 *status);
int fstat64(int descriptor, struct stat64 *status)
{
    return (int)syscall(SYS_fstat, descriptor, status);
}

__attribute__((visibility("hidden"))) int fcntl64(int descriptor, int command, ...);
int fcntl64(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    return (int)syscall(SYS_fcntl, descriptor, command, argument);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
