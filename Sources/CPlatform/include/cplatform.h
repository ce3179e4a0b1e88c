// C functions that Swift's Glibc module does not provide. Header only: every function is `static inline`.
#ifndef LINKD_CPLATFORM_H
#define LINKD_CPLATFORM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/// Gives freed memory back to the system, such as after work that needed much more than the rest will.
static inline void linkd_release_freed_memory(void) {
#if defined(__linux__) && defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/// Lets all threads allocate from one heap, so that what one thread frees is used again by the others.
///
/// glibc gives each thread a heap of its own. With many threads that each hold large values at times, the process grows
/// for a long time until every heap has had its largest value.
static inline void linkd_use_one_heap(void) {
#if defined(__linux__) && defined(__GLIBC__)
    mallopt(M_ARENA_MAX, 1);
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

/// Opens standard input, output, and error where they are closed, so that no other file gets their descriptors.
static inline void linkd_open_standard_files(void) {
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        // The system returns the lowest free descriptor.
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", O_RDWR);
    }
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

/// Releases the lock of `linkd_lock_file` and closes the file.
///
/// A process that is being started holds a copy of the descriptor until its program is loaded. Closing alone would
/// leave the file locked until then.
static inline void linkd_unlock_file(int descriptor) {
    flock(descriptor, LOCK_UN);
    close(descriptor);
}

/// Replaces a file by a new one with `bytes` zero bytes, and maps it.
///
/// The bytes are written first, because a store into a mapped file without space on the disk ends the process. Returns
/// the address, or NULL with `errno`.
static inline void *linkd_map_new_file(const char *path, uintptr_t bytes) {
    static const char zeros[4096];
    (void)unlink(path);
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return 0;
    void *address = MAP_FAILED;
    if (bytes <= sizeof zeros && write(descriptor, zeros, bytes) == (ssize_t)bytes)
        address = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    int code = errno;
    close(descriptor);
    errno = code;
    return address == MAP_FAILED ? 0 : address;
}

/// Releases the mapping of a file.
static inline void linkd_unmap(void *address, uintptr_t bytes) { (void)munmap(address, bytes); }

/// Opens a regular file for reading without waiting. Returns its descriptor, or -1 with `errno`.
///
/// Other kinds of files are refused with EINVAL, for example a named pipe, which opening or reading can wait for. With
/// `follows`, a symbolic link at the end of the path is followed.
static inline int linkd_open_regular_file(const char *path, int follows) {
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
    if (descriptor < 0) return -1;
    struct stat info;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) return descriptor;
    close(descriptor);
    errno = EINVAL;
    return -1;
}

/// Returns whether opening a file can wait for another process: it is a named pipe or a socket.
static inline int linkd_may_wait(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

/// Reads at most `limit` bytes of a regular file without waiting. Returns their number, or -1 with `errno`.
static inline intptr_t linkd_read_regular_file(const char *path, void *buffer, uintptr_t limit) {
    int descriptor = linkd_open_regular_file(path, 0);
    if (descriptor < 0) return -1;
    intptr_t count = read(descriptor, buffer, limit);
    close(descriptor);
    return count;
}

/// The record that a lane resolves, in a mapped file that outlives the process.
struct linkd_crash_page {
    uint64_t magic;
    /// 1 while the record is resolved.
    uint64_t is_active;
    int64_t offset;
    int32_t partition;
    uint32_t topic_length;
    uint8_t topic[256];
};

/// Records that a record is resolved from now on.
static inline void linkd_crash_begin(struct linkd_crash_page *page, int32_t partition, int64_t offset) {
    page->partition = partition;
    page->offset = offset;
    // An atomic store is kept although nothing in the process reads it.
    __atomic_store_n(&page->is_active, 1, __ATOMIC_RELEASE);
}

/// Records that no record is resolved.
static inline void linkd_crash_end(struct linkd_crash_page *page) {
    __atomic_store_n(&page->is_active, 0, __ATOMIC_RELEASE);
}

/// Writes a text to a file, which must exist.
static inline void linkd_write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

/// Limits this process to `seconds` from now, to no core file, and, on Linux, to `bytes` more memory than it has.
///
/// If the system runs out of memory, it ends this process before others.
static inline void linkd_limit_process(uint32_t seconds, uint64_t bytes) {
    alarm(seconds);
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
#if defined(__linux__)
    linkd_write_text("/proc/self/oom_score_adj", "1000");
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return;
    unsigned long long pages = 0;
    if (fscanf(file, "%llu", &pages) == 1) {
        rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
        struct rlimit limit = {most, most};
        (void)setrlimit(RLIMIT_AS, &limit);
    }
    fclose(file);
#else
    (void)bytes;
#endif
}

#endif
