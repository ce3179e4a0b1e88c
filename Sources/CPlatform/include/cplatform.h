// C functions that Swift's Glibc module does not provide. Header only: every function is `static inline`.
#ifndef LINKD_CPLATFORM_H
#define LINKD_CPLATFORM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <malloc.h>
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <pthread.h>
#endif

/// Returns the user and system time of this process in microseconds, or -1 if it is unknown.
static inline int64_t linkd_process_cpu_microseconds(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return -1;
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

/// Returns the time of the monotonic clock in nanoseconds. Safe in a signal handler.
static inline uint64_t linkd_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Keeps freed memory in the process, so that large, short-lived buffers cause no page faults.
static inline void linkd_keep_freed_memory(void) {
#if defined(__linux__) && defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 256 * 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 512 * 1024 * 1024);
    mallopt(M_TOP_PAD, 16 * 1024 * 1024);
#endif
}

/// Returns the peak memory of this process in bytes, or -1 if it is unknown.
static inline int64_t linkd_peak_memory_bytes(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return -1;
#if defined(__APPLE__)
    return (int64_t)usage.ru_maxrss;
#else
    return (int64_t)usage.ru_maxrss * 1024;
#endif
}

/// Returns the number of bytes that this process has allocated and not freed, or -1 if it is unknown.
static inline int64_t linkd_allocated_bytes(void) {
#if defined(__linux__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
#else
    return -1;
#endif
}

/// Gives the calling thread a low priority, so that it does not slow down the others.
static inline void linkd_lower_thread_priority(void) {
#if defined(__linux__)
    // On Linux, this is the calling thread only. Elsewhere it would be the process.
    (void)setpriority(PRIO_PROCESS, 0, 10);
#endif
}

/// Names the calling thread. Linux keeps the first 15 bytes.
static inline void linkd_name_thread(const char *name) {
#if defined(__linux__)
    (void)prctl(PR_SET_NAME, name);
#elif defined(__APPLE__)
    (void)pthread_setname_np(name);
#endif
}

/// Creates a file if necessary, and locks it until its descriptor is closed or the process ends.
///
/// Returns the descriptor, or -1 with `errno`, which is EWOULDBLOCK if another process has the lock.
static inline int linkd_lock_file(const char *path) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return -1;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

/// Creates an empty file for writing. Returns its descriptor, or -1 with `errno`.
static inline int linkd_create_file(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/// Prefetches `bytes` bytes at `address` into the cache. Any address is allowed, because a prefetch does not fault.
static inline void linkd_prefetch(const void *address, uintptr_t bytes) {
    for (uintptr_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch((const char *)address + offset, 0, 3);
}

#endif
