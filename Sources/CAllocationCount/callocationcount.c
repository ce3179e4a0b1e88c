// The functions of glibc that allocate memory, replaced by ones that count. Sanitizers replace them themselves, and
// other systems have no such names to call.
#include "callocationcount.h"

#include <errno.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LINKD_SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(LINKD_SANITIZED)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local int64_t bytes;
static _Thread_local int64_t allocations;

static void count(size_t size) {
    bytes += (int64_t)size;
    allocations += 1;
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *result = memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *memory = result;
    return 0;
}

int64_t linkd_thread_allocated_bytes(void) { return bytes; }
int64_t linkd_thread_allocations(void) { return allocations; }

#else

int64_t linkd_thread_allocated_bytes(void) { return -1; }
int64_t linkd_thread_allocations(void) { return -1; }

#endif
