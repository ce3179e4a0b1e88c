// The API of LMDB, the embedded store of the device registry, and what Swift cannot use of the system's limits.
#include <lmdb.h>
#include <stdint.h>
#include <sys/resource.h>

/// Returns the limit of the size of files of this process in bytes, or the greatest number if there is none.
static inline uint64_t linkd_file_size_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return (uint64_t)limit.rlim_cur;
}
