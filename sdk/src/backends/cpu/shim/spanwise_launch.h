// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the threads of a block are run. What the generated end of the file asks for is
// sw_launcher<&kernel, has_barrier>::entry.

// Generated behind the user's source: sets the variables that stand for extern __shared__ arrays.
static void sw_bind_dynamic_shared();

template <int... I>
struct sw_indices {};
#if defined(__clang__)
template <class T, T... I>
using sw_make_indices_helper = sw_indices<I...>;
template <int N>
using sw_make_indices = __make_integer_seq<sw_make_indices_helper, int, N>;
#else
template <int N>
using sw_make_indices = sw_indices<__integer_pack(N)...>;
#endif

// One argument, where its type wants it to be; the caller's copy may be unaligned.
template <int I, class T>
struct sw_held {
  alignas(T) unsigned char bytes[sizeof(T)];
  const T& value() const { return *reinterpret_cast<const T*>(bytes); }
};
template <class Indices, class... T>
struct sw_arguments;
template <int... I, class... T>
struct sw_arguments<sw_indices<I...>, T...> : sw_held<I, T>... {
  explicit sw_arguments([[maybe_unused]] void* const* from) {
    (__builtin_memcpy(sw_held<I, T>::bytes, from[I], sizeof(T)), ...);
  }
};

// Offsets in the argument block: each parameter at the next multiple of its alignment.
template <class... T>
struct sw_parameter_list {
  sw_parameter list[sizeof...(T) + 1] = {};
  constexpr sw_parameter_list() {
    unsigned offset = 0, i = 0;
    ((offset = (offset + alignof(T) - 1) / alignof(T) * alignof(T), list[i].offset = offset,
      list[i].size = sizeof(T), offset += sizeof(T), ++i),
     ...);
  }
};

// The end of the 32-bit index range, less the largest block: below it blockIdx.x * blockDim.x +
// threadIdx.x does not wrap, which is what the compiler has to know to vectorise.
#define SW_MOST_INDEX (0x7fffffffu - 1024u)

template <auto K, class F>
struct sw_code;
template <auto K, class... T>
struct sw_code<K, void (*)(T...)> {
  using Indices = sw_make_indices<sizeof...(T)>;
  using Arguments = sw_arguments<Indices, T...>;
  static constexpr sw_parameter_list<T...> parameters{};

  static void enter_launch(const sw_range* r) {
    sw_worker = r->worker;
    sw_dynamic_shared = static_cast<char*>(r->dynamic_shared);
    sw_bind_dynamic_shared();
    blockDim.x = r->block.x;
    blockDim.y = r->block.y;
    blockDim.z = r->block.z;
    gridDim.x = r->grid.x;
    gridDim.y = r->grid.y;
    gridDim.z = r->grid.z;
  }
  static void enter_block(unsigned x, unsigned y, unsigned z) {
    blockIdx.x = x;
    blockIdx.y = y;
    blockIdx.z = z;
  }

  // Threads one by one, to be run by the library, which lets them wait for one another.
  template <int... I>
  static void call(const Arguments& a, sw_indices<I...>) {
    K(static_cast<const sw_held<I, T>&>(a).value()...);
  }
  static void thread(const void* arguments, unsigned x, unsigned y, unsigned z) {
    threadIdx.x = x;
    threadIdx.y = y;
    threadIdx.z = z;
    call(*static_cast<const Arguments*>(arguments), Indices{});
  }
  static void run_threads(const sw_range* r) {
    const Arguments arguments(r->arguments);
    enter_launch(r);
    sw_rt->run_blocks(r, enter_block, thread, &arguments);
  }

  // Rows of threads of blocks first .. last - 1 along x, as loops. Each builtin is set from a
  // scalar here, where the compiler sees it.
  __attribute__((flatten, noinline)) static void row(unsigned first, unsigned last, unsigned by,
                                                     unsigned bz, const sw_range* r, unsigned y,
                                                     unsigned z, T... arguments) {
    const unsigned nx = r->block.x;
    if (nx == 0 || nx > 1024u) __builtin_unreachable();
    blockDim.x = nx;
    blockDim.y = r->block.y;
    blockDim.z = r->block.z;
    gridDim.x = r->grid.x;
    gridDim.y = r->grid.y;
    gridDim.z = r->grid.z;
    blockIdx.y = by;
    blockIdx.z = bz;
    threadIdx.y = y;
    threadIdx.z = z;
    for (unsigned n = first; n < last; ++n) {
#ifdef SW_REVERSE
      const unsigned bx = first + (last - 1 - n);
#else
      const unsigned bx = n;
#endif
      if (bx * nx > SW_MOST_INDEX) __builtin_unreachable();
      blockIdx.x = bx;
      // The loop counts the global index, so that a guard such as `if (i < n)` compares the counter
      // itself: the compiler then splits the loop there, instead of masking every store.
      const int begin = (int)(bx * nx), end = begin + (int)nx;
#ifdef SW_REVERSE
      for (int i = end - 1; i >= begin; --i) {
#else
      for (int i = begin; i < end; ++i) {
#endif
        threadIdx.x = (unsigned)i - (unsigned)begin;
        K(arguments...);
      }
    }
  }

  template <int... I>
  static void run_row(const Arguments& a, const sw_range* r, unsigned first, unsigned last,
                      unsigned by, unsigned bz, unsigned y, unsigned z, sw_indices<I...>) {
    row(first, last, by, bz, r, y, z, static_cast<const sw_held<I, T>&>(a).value()...);
  }
  static void run_block(const Arguments& a, const sw_range* r, unsigned bx, unsigned by,
                        unsigned bz) {
    for (unsigned zi = 0; zi < r->block.z; ++zi) {
      for (unsigned yi = 0; yi < r->block.y; ++yi) {
#ifdef SW_REVERSE
        const unsigned z = r->block.z - 1 - zi, y = r->block.y - 1 - yi;
#else
        const unsigned z = zi, y = yi;
#endif
        run_row(a, r, bx, bx + 1, by, bz, y, z, Indices{});
      }
    }
  }
  static void run_loops(const sw_range* r) {
    // Where the index would wrap, which takes 2^31 threads along x, the promise in row() is false.
    if ((unsigned long long)r->grid.x * r->block.x > SW_MOST_INDEX) return run_threads(r);
    const Arguments arguments(r->arguments);
    enter_launch(r);
    const bool flat = r->block.y == 1 && r->block.z == 1;
    for (unsigned long long b = r->first; b < r->last;) {
      const unsigned bx = (unsigned)(b % r->grid.x);
      const unsigned long long rest = b / r->grid.x;
      const unsigned by = (unsigned)(rest % r->grid.y), bz = (unsigned)(rest / r->grid.y);
      unsigned long long count = 1;
      if (flat) {
        count = r->grid.x - bx;
        if (count > r->last - b) count = r->last - b;
        run_row(arguments, r, bx, bx + (unsigned)count, by, bz, 0, 0, Indices{});
      } else {
        run_block(arguments, r, bx, by, bz);
      }
      b += count;
    }
  }
};
template <auto K, class... T>
struct sw_code<K, void (*)(T...) noexcept> : sw_code<K, void (*)(T...)> {};

template <auto K, bool HasBarrier, class F = decltype(K)>
struct sw_launcher;
template <auto K, bool HasBarrier, class... T>
struct sw_launcher<K, HasBarrier, void (*)(T...)> {
  using Code = sw_code<K, void (*)(T...)>;
  static constexpr sw_kernel entry(const char* name) {
    if constexpr (HasBarrier)
      return {name, Code::run_threads, Code::parameters.list, sizeof...(T), 1};
    else
      return {name, Code::run_loops, Code::parameters.list, sizeof...(T), 0};
  }
};
