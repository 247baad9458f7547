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
        words_(words +
               (long long)line * (sums_per_line() * sum_words + (groups_ + supers_ + 1) / 2 * 2)) {}

  __device__ __forceinline__ unsigned int chunks() const { return chunks_; }
  // Indices of the sums of groups, and of 32 groups, for the blocks at position `reader` of a
  // group.
  __device__ __forceinline__ unsigned int group_sum(unsigned int group, unsigned int reader) const {
    return chunks_ + reader * groups_ + group;
  }
  __device__ __forceinline__ unsigned int super_sum(unsigned int super, unsigned int reader) const {
    return chunks_ + 32 * groups_ + reader * supers_ + super;
  }

  /// Writes the sum at index `index`, which wait_for() returns in other blocks.
  __device__ __forceinline__ void publish(unsigned int index, A a) const {
    unsigned int parts[sum_words];
    memcpy(parts, &a, sizeof(A));
    unsigned long long* const address = words_ + (long long)index * sum_words;
#pragma unroll
    for (int i = 0; i < sum_words; i += 2)
      store_pair(address + i, (unsigned long long)parts[i] << 32 | 1,
                 (unsigned long long)parts[i + 1] << 32 | 1);
  }
  /// Counts the sum of a chunk, or of a group, which has been published. Returns whether all sums
  /// of its group, or of its 32 groups, have been published now.
  __device__ __forceinline__ bool completes_group(unsigned int chunk) const {
    return groups_ > 0 && is_last_of_32(chunk / 32);
  }
  __device__ __forceinline__ bool completes_super(unsigned int group) const {
    return is_last_of_32(groups_ + group / 32);
  }
  /// Reads the sum at index `index`; false if it is not written yet, and then `a` is undefined.
  __device__ __forceinline__ bool get(unsigned int index, A& a) const {
    const unsigned long long* const address = words_ + (long long)index * sum_words;
    unsigned long long words[sum_words];
#pragma unroll
    for (int i = 0; i < sum_words; i += 2) load_pair(address + i, words[i], words[i + 1]);
    unsigned int parts[sum_words], ready = 1;
#pragma unroll
    for (int i = 0; i < sum_words; ++i) {
      ready &= (unsigned int)words[i];
      parts[i] = (unsigned int)(words[i] >> 32);
    }
    memcpy(&a, parts, sizeof(A));
    return ready != 0;
  }
  /// Waits until the sum is written and returns it.
  __device__ __forceinline__ A wait_for(unsigned int index) const {
    A a;
    while (!get(index, a)) {
    }
    return a;
  }

 private:
  static constexpr int sum_words = sizeof(A) / 4;  // 8-byte words of a sum

  __device__ __forceinline__ unsigned int sums_per_line() const {
    return chunks_ + 32 * (groups_ + supers_);
  }
  // Counts up; the counters follow the sums of the line.
  __device__ __forceinline__ bool is_last_of_32(unsigned int counter) const {
    return atomicAdd(words_ + (long long)sums_per_line() * sum_words + counter, 1ull) == 31;
  }

  // Two words in one access; the compiler would split volatile accesses.
  static __device__ __forceinline__ void store_pair(unsigned long long* address,
                                                    unsigned long long x, unsigned long long y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(x), "l"(y)
                 : "memory");
#else
    *(volatile unsigned long long*)address = x;
    *(volatile unsigned long long*)(address + 1) = y;
#endif
  }
  static __device__ __forceinline__ void load_pair(const unsigned long long* address,
                                                   unsigned long long& x, unsigned long long& y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x), "=l"(y)
                 : "l"(address)
                 : "memory");
#else
    x = *(const volatile unsigned long long*)address;
    y = *(const volatile unsigned long long*)(address + 1);
#endif
  }

  const unsigned int chunks_, groups_, supers_;
  unsigned long long* const words_;
};

}  // namespace spanwise

#endif
