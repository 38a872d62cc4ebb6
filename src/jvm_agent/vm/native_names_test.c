#include "jvm_agent/vm/native_names.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jvm_agent/vm/native_modules.h"
#include "unit_test.h"

static bool has_library(frame_word frame, const char *library)
{
    struct native_name name;
    native_names_find(frame, &name);
    return text_equal(name.library, text_of(library));
}

#define PAGE_BYTES ((uintptr_t)4096)

/* Nothing else may take the place meanwhile. */
static void reserve(void *address, size_t size)
{
    void *mapped = mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(mapped == address);
}

static void map_file(const char *path, void *address, size_t size)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(descriptor >= 0);
    void *mapped = mmap(address, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    CHECK(mapped == address);
    close(descriptor);
}

/* Libraries that come and go: an address belongs to several of them. */
TEST(a_name_is_that_of_the_library_that_is_mapped)
{
    Dl_info info;
    void *library = dlopen(HOOKED_LAZY, RTLD_LAZY);
    void *function = library == NULL ? NULL : dlsym(library, "getpid_of_library");
    CHECK(function != NULL && dladdr(function, &info) != 0);
    void *begin = info.dli_fbase;
    frame_word frame = frame_address(AGENT_FRAME_NATIVE, (uintptr_t)function);
    const char *file = strrchr(HOOKED_LAZY, '/') + 1, *other = strrchr(HOOKED_NOW, '/') + 1;
    native_modules_refresh();
    CHECK(has_library(frame, file));
    size_t size = (((uintptr_t)function - (uintptr_t)begin) / PAGE_BYTES + 1) * PAGE_BYTES;
    CHECK(dlclose(library) == 0);
    reserve(begin, size);
    native_modules_refresh();
    CHECK(has_library(frame, file)); /* samples from before */
    map_file(HOOKED_NOW, begin, size);
    library = dlopen(HOOKED_LAZY, RTLD_LAZY); /* the loader counts it */
    CHECK(library != NULL);
    native_modules_refresh();
    CHECK(has_library(frame, other));
    CHECK(has_library(frame, other));
    native_names_release();
    CHECK(has_library(frame, other));
    native_names_release();
    dlclose(library);
    munmap(begin, size);
}

TEST(the_limit_holds)
{
    size_t limit = 256 << 10, most = 0;
    native_names_limit(limit);
    for (uintptr_t i = 1; i < 100000; i++) {
        struct native_name name;
        native_names_find(frame_address(AGENT_FRAME_STUB, i * 64), &name);
        CHECK(text_equal(name.function, TEXT("[stub]")));
        most = native_names_bytes() > most ? native_names_bytes() : most;
    }
    CHECK(most > limit / 2 && most < limit * 2);
    native_names_release();
    CHECK_INT(native_names_bytes(), 0);
    native_names_limit(NATIVE_NAMES_LIMIT_BYTES);
}
