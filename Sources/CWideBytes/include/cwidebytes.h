#ifndef CWIDEBYTES_H
#define CWIDEBYTES_H

// Instructions that Swift 6.3 does not emit: the first selected byte of a mask of sixteen bytes, and prefetches. A mask
// has 0xFF for each selected byte, and 0 for each other one.

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

typedef uint64_t wide_mask __attribute__((ext_vector_type(2)));

/// Returns whether a mask selects no byte, on every processor.
static inline bool wide_is_none_plain(wide_mask mask) { return (mask[0] | mask[1]) == 0; }

/// Returns the index of the first selected byte of a mask that is not empty, on every processor of little endian.
static inline int wide_first_plain(wide_mask mask) {
    return mask[0] != 0 ? __builtin_ctzll(mask[0]) >> 3 : 8 + (__builtin_ctzll(mask[1]) >> 3);
}

#if defined(__SSE2__)
static inline bool wide_is_none(wide_mask mask) { return _mm_movemask_epi8((__m128i)mask) == 0; }
static inline int wide_first(wide_mask mask) { return __builtin_ctz((unsigned)_mm_movemask_epi8((__m128i)mask)); }
#elif defined(__aarch64__) && defined(__ARM_NEON)
// NEON has no instruction for this. A narrowing shift leaves four bits of each byte.
static inline uint64_t wide_nibbles(wide_mask mask) {
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16((uint16x8_t)mask, 4)), 0);
}
static inline bool wide_is_none(wide_mask mask) { return wide_nibbles(mask) == 0; }
static inline int wide_first(wide_mask mask) { return __builtin_ctzll(wide_nibbles(mask)) >> 2; }
#else
static inline bool wide_is_none(wide_mask mask) { return wide_is_none_plain(mask); }
static inline int wide_first(wide_mask mask) { return wide_first_plain(mask); }
#endif

/// Prefetches `bytes` bytes at `address` into the cache. Any address is allowed, because a prefetch does not fault.
static inline void wide_prefetch(const void *address, uintptr_t bytes) {
    for (uintptr_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch((const char *)address + offset, 0, 3);
}

#endif
