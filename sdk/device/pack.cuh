// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_PACK_CUH
#define SPANWISE_PACK_CUH

// For CUDA C kernels: #include <spanwise/pack.cuh>. Vectorized loads and stores. Compiled by NVRTC
// and by the host's C++ compiler, so it includes nothing.

namespace spanwise {

/// n consecutive elements, of 1, 2, 4, 8 or 16 bytes in total.
template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T x[n];
};

template <int bytes>
struct PackWord;
template <>
struct PackWord<16> {
  typedef uint4 type;
};
template <>
struct PackWord<8> {
  typedef uint2 type;
};
template <>
struct PackWord<4> {
  typedef unsigned int type;
};
template <>
struct PackWord<2> {
  typedef unsigned short type;
};
template <>
struct PackWord<1> {
  typedef unsigned char type;
};

/// load_pack() reads a pack from any memory, store_pack() writes one to global memory,
/// store_shared_pack() to shared memory, each with one instruction. `address` is aligned to the
/// whole pack. They copy a pack as one word, because a compiler may split a copy of its elements
/// into many small accesses.
template <int n, class T>
__device__ __forceinline__ Pack<T, n> load_pack(const T* address) {
  typedef typename PackWord<(int)sizeof(T) * n>::type Word;
  const Word word = *(const Word*)address;
  Pack<T, n> pack;
  memcpy(&pack, &word, sizeof(pack));
  return pack;
}
template <int n, class T>
__device__ __forceinline__ void store_pack(T* address, const Pack<T, n>& pack) {
  typedef typename PackWord<(int)sizeof(T) * n>::type Word;
  Word word;
  memcpy(&word, &pack, sizeof(pack));
  __stwb((Word*)address, word);
}
template <int n, class T>
__device__ __forceinline__ void store_shared_pack(T* address, const Pack<T, n>& pack) {
  typedef typename PackWord<(int)sizeof(T) * n>::type Word;
  Word word;
  memcpy(&word, &pack, sizeof(pack));
  *(Word*)address = word;
}

/// Copies a pack from global to shared memory, asynchronously where the GPU can, so that no
/// register is needed. commit_fetches() ends a group of such copies; wait_for_fetches<n>() waits
/// for those that the calling thread has started, except for the last n groups. Other threads see
/// them after a barrier.
template <int n, class T>
__device__ __forceinline__ void fetch_pack(T* shared, const T* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(SW_CPU)
  const unsigned int to = (unsigned int)__cvta_generic_to_shared(shared);
  if (sizeof(T) * n == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else if (sizeof(T) * n == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(global) : "memory");
  else if (sizeof(T) * n == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
  else
    store_shared_pack(shared, load_pack<n>(global));
#else
  store_shared_pack(shared, load_pack<n>(global));
#endif
}
__device__ __forceinline__ void commit_fetches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(SW_CPU)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int groups>
__device__ __forceinline__ void wait_for_fetches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(SW_CPU)
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

}  // namespace spanwise

#endif
