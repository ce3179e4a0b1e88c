// Counts the memory that a thread allocates. Only the benchmarks link this module.
#ifndef LINKD_CALLOCATIONCOUNT_H
#define LINKD_CALLOCATIONCOUNT_H

#include <stdint.h>

/// Returns the number of bytes that the calling thread has allocated, whether freed or not, or -1 if it is not counted.
int64_t linkd_thread_allocated_bytes(void);

/// Returns the number of allocations of the calling thread, or -1 if they are not counted.
int64_t linkd_thread_allocations(void);

#endif
