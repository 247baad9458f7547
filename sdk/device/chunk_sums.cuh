// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_CHUNK_SUMS_CUH
#define SPANWISE_CHUNK_SUMS_CUH

// For CUDA C kernels; included by <spanwise/scan_blocks.cuh>. Sums that blocks pass to later ones.

namespace spanwise {

/// The sum of each chunk of a scan, which its block publishes for the blocks of later chunks. Each
/// 32-bit word of a sum is stored together with a ready flag in one 8-byte access, so a reader sees
/// when it is complete.
template <class A>
class ChunkSums {
  static_assert(sizeof(A) % 8 == 0, "the size of the accumulator must be a multiple of 8 bytes");
  static constexpr int count = sizeof(A) / 4;

 public:
  /// A sum as it is stored, ready or not.
  struct Words {
    unsigned long long words[count];
  };

  /// `words` are 0 before the kernel and aligned to 16 bytes; each chunk has sizeof(A) / 4 of them.
  __device__ __forceinline__ explicit ChunkSums(unsigned long long* words) : words_(words) {}

  __device__ __forceinline__ void publish(long long chunk, A a) const {
    unsigned int parts[count];
    memcpy(parts, &a, sizeof(A));
    unsigned long long* const at = words_ + chunk * count;
#pragma unroll
    for (int i = 0; i < count; i += 2)
      put_two(at + i, (unsigned long long)parts[i] << 32 | 1,
              (unsigned long long)parts[i + 1] << 32 | 1);
  }
  /// Loads a sum without waiting, so that several loads are in flight.
  __device__ __forceinline__ void load(long long chunk, Words& sum) const {
    const unsigned long long* const at = words_ + chunk * count;
#pragma unroll
    for (int i = 0; i < count; i += 2) get_two(at + i, sum.words[i], sum.words[i + 1]);
  }
  /// Waits until the sum is published and returns it; `sum` is what load() gave.
  __device__ __forceinline__ A wait_for(long long chunk, Words& sum) const {
    while (!is_ready(sum)) load(chunk, sum);
    unsigned int parts[count];
#pragma unroll
    for (int i = 0; i < count; ++i) parts[i] = (unsigned int)(sum.words[i] >> 32);
    A a;
    memcpy(&a, parts, sizeof(A));
    return a;
  }

 private:
  static __device__ __forceinline__ bool is_ready(const Words& sum) {
    unsigned int ready = 1;
#pragma unroll
    for (int i = 0; i < count; ++i) ready &= (unsigned int)sum.words[i];
    return ready != 0;
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

  unsigned long long* const words_;
};

}  // namespace spanwise

#endif
