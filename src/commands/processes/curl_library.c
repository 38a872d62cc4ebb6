#include "commands/processes/curl_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/auxv.h>

bool curl_library_load(struct curl_library *curl, struct error *error)
{
    if (getauxval(AT_BASE) == 0)
        return error_set(error, ERROR_UNSUPPORTED, "a static sparkflame cannot load libcurl");
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    if (library == NULL)
        library = dlopen("libcurl-gnutls.so.4", RTLD_NOW);
    if (library == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "libcurl is not installed (Debian: apt install libcurl4)");
    *(void **)&curl->easy_init = dlsym(library, "curl_easy_init");
    *(void **)&curl->easy_setopt = dlsym(library, "curl_easy_setopt");
    *(void **)&curl->easy_perform = dlsym(library, "curl_easy_perform");
    *(void **)&curl->easy_getinfo = dlsym(library, "curl_easy_getinfo");
    *(void **)&curl->easy_cleanup = dlsym(library, "curl_easy_cleanup");
    *(void **)&curl->easy_strerror = dlsym(library, "curl_easy_strerror");
    *(void **)&curl->list_append = dlsym(library, "curl_slist_append");
    *(void **)&curl->list_free = dlsym(library, "curl_slist_free_all");
    if (curl->easy_init == NULL || curl->easy_setopt == NULL || curl->easy_perform == NULL ||
        curl->easy_getinfo == NULL || curl->easy_cleanup == NULL || curl->easy_strerror == NULL ||
        curl->list_append == NULL || curl->list_free == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "this libcurl lacks the easy interface");
    return true;
}
