// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_PREFIX_STATE_CUH
#define SPANWISE_PREFIX_STATE_CUH

// For CUDA C kernels; included by <spanwise/scan_blocks.cuh>. Sums that blocks pass to later ones.

namespace spanwise {

/// The sums that the blocks of a line pass to later blocks: the sum of each chunk, of each group of
/// 32 chunks, and of each 32 groups. Each 32-bit word of a sum is stored together with a ready flag
/// in one 8-byte access, so a reader sees when it is complete. Sums of groups are stored 32 times,
/// once for the blocks of each position within a group: many readers of one address would delay its
/// write. The block that publishes the last sum of a group publishes the group's sum, so that no
/// block waits for another to do so.
template <class A>
class TilePrefixState {
  static_assert(sizeof(A) % 8 == 0, "the size of the accumulator must be a multiple of 8 bytes");

 public:
  /// `words` are 0 before the kernel and aligned to 16 bytes; each line has scan_words() of them,
  /// and this object uses those of line `line`.
  __device__ __forceinline__ TilePrefixState(unsigned long long* words, unsigned int line,
                                             unsigned int chunks)
      : chunks_(chunks),
        groups_(chunks > 32 ? (chunks + 31) / 32 : 0),
        supers_((groups_ + 31) / 32),
        words_(words + (long long)line * (places() * count + (groups_ + supers_ + 1) / 2 * 2)) {}

  __device__ __forceinline__ unsigned int chunks() const { return chunks_; }
  // Indices of the sums of groups, and of 32 groups, for the blocks at position `reader` of a
  // group.
  __device__ __forceinline__ unsigned int group_sum(unsigned int group, unsigned int reader) const {
    return chunks_ + reader * groups_ + group;
  }
  __device__ __forceinline__ unsigned int super_sum(unsigned int super, unsigned int reader) const {
    return chunks_ + 32 * groups_ + reader * supers_ + super;
  }

  /// Writes the sum at index `place`, which wait_for() returns in other blocks.
  __device__ __forceinline__ void publish(unsigned int place, A a) const {
    unsigned int parts[count];
    memcpy(parts, &a, sizeof(A));
    unsigned long long* const at = words_ + (long long)place * count;
#pragma unroll
    for (int i = 0; i < count; i += 2)
      put_two(at + i, (unsigned long long)parts[i] << 32 | 1,
              (unsigned long long)parts[i + 1] << 32 | 1);
  }
  /// Counts the sum of a chunk, or of a group, which has been published; whether its group, or its
  /// 32 groups, are now complete.
  __device__ __forceinline__ bool completes_group(unsigned int chunk) const {
    return groups_ > 0 && is_last(chunk / 32);
  }
  __device__ __forceinline__ bool completes_super(unsigned int group) const {
    return is_last(groups_ + group / 32);
  }
  /// Reads the sum at index `place`; false if it is not written yet, and then `a` is undefined.
  __device__ __forceinline__ bool get(unsigned int place, A& a) const {
    const unsigned long long* const at = words_ + (long long)place * count;
    unsigned long long words[count];
#pragma unroll
    for (int i = 0; i < count; i += 2) get_two(at + i, words[i], words[i + 1]);
    unsigned int parts[count], ready = 1;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      ready &= (unsigned int)words[i];
      parts[i] = (unsigned int)(words[i] >> 32);
    }
    memcpy(&a, parts, sizeof(A));
    return ready != 0;
  }
  /// Waits until the sum is written and returns it.
  __device__ __forceinline__ A wait_for(unsigned int place) const {
    A a;
    while (!get(place, a)) {
    }
    return a;
  }

 private:
  static constexpr int count = sizeof(A) / 4;

  __device__ __forceinline__ unsigned int places() const {
    return chunks_ + 32 * (groups_ + supers_);
  }
  __device__ __forceinline__ bool is_last(unsigned int counter) const {
    return atomicAdd(words_ + (long long)places() * count + counter, 1ull) == 31;
  }

  // Two words in one access; the compiler would split volatile accesses.
  static __device__ __forceinline__ void put_two(unsigned long long* at, unsigned long long x,
                                                 unsigned long long y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(x), "l"(y) : "memory");
#else
    *(volatile unsigned long long*)at = x;
    *(volatile unsigned long long*)(at + 1) = y;
#endif
  }
  static __device__ __forceinline__ void get_two(const unsigned long long* at,
                                                 unsigned long long& x, unsigned long long& y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x), "=l"(y)
                 : "l"(at)
                 : "memory");
#else
    x = *(const volatile unsigned long long*)at;
    y = *(const volatile unsigned long long*)(at + 1);
#endif
  }

  const unsigned int chunks_, groups_, supers_;
  unsigned long long* const words_;
};

}  // namespace spanwise

#endif
