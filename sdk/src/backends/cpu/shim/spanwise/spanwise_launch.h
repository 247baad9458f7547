// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the threads of a block. The generated end of the file uses sw_launcher<&kernel, has_barrier,
// Counter>::entry.

// Generated after the user's source: sets the pointers that replace extern __shared__ arrays.
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

// A copy of one argument, aligned for its type; the caller's may be unaligned.
template <int I, class T>
struct sw_argument {
  alignas(T) unsigned char bytes[sizeof(T)];
  const T& value() const { return *reinterpret_cast<const T*>(bytes); }
};
template <class Indices, class... T>
struct sw_arguments;
template <int... I, class... T>
struct sw_arguments<sw_indices<I...>, T...> : sw_argument<I, T>... {
  explicit sw_arguments([[maybe_unused]] void* const* sources) {
    (__builtin_memcpy(sw_argument<I, T>::bytes, sources[I], sizeof(T)), ...);
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

// The compiler's spelling of the types: "... [with T = {float*, int}]" (GCC) or "... [T = <float *,
// int>]" (Clang).
template <class... T>
struct sw_type_list {
  static const char* text() { return __PRETTY_FUNCTION__; }
};

// The end of the 32-bit index range, less the largest block: below it blockIdx.x * blockDim.x +
// threadIdx.x does not overflow, which the compiler must be able to assume to vectorize.
#define SW_MAX_INDEX (0x7fffffffu - 1024u)

// The i-th of first .. last - 1, in the order of config cpu_thread_order, which defines SW_REVERSE.
#ifdef SW_REVERSE
#define SW_IN_ORDER(i, first, last) ((first) + ((last) - 1 - (i)))
#else
#define SW_IN_ORDER(i, first, last) (i)
#endif

template <auto K, class Counter, class F>
struct sw_code;
template <auto K, class Counter, class... T>
struct sw_code<K, Counter, void (*)(T...)> {
  using Indices = sw_make_indices<sizeof...(T)>;
  using Arguments = sw_arguments<Indices, T...>;
  static constexpr sw_parameter_list<T...> parameters{};

  static void enter_launch(const sw_range* r) {
    sw_worker = r->worker;
#ifdef SW_KERNEL_CHECK
    sw_checking = r->checked;
#endif
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

  // Single threads, which the library runs and suspends at barriers.
  template <int... I>
  static void call(const Arguments& a, sw_indices<I...>) {
    K(static_cast<const sw_argument<I, T>&>(a).value()...);
  }
  static void thread(const void* arguments, unsigned x, unsigned y, unsigned z) {
    threadIdx.x = x;
    threadIdx.y = y;
    threadIdx.z = z;
#ifdef SW_WARP_STEP
    sw_has_stored = sw_polls = 0;
#endif
    call(*static_cast<const Arguments*>(arguments), Indices{});
  }
  static void run_threads(const sw_range* r) {
    const Arguments arguments(r->arguments);
    enter_launch(r);
    sw_rt->run_blocks(r, enter_block, thread, &arguments);
  }
  // The same for kernels that otherwise run as loops, where the index could overflow or the thread
  // of a fault is sought: cold, to save compile time.
  __attribute__((cold)) static void slow_thread(const void* arguments, unsigned x, unsigned y,
                                                unsigned z) {
    thread(arguments, x, y, z);
  }
  __attribute__((cold)) static void run_slowly(const sw_range* r) {
    const Arguments arguments(r->arguments);
    enter_launch(r);
    sw_rt->run_blocks(r, enter_block, slow_thread, &arguments);
  }

  // The blocks of a kernel that is split at its barriers; Block runs one. NeedsWarpRows: the rows
  // of a block's threads must be whole warps.
  template <auto Block, int... I>
  static void call_block(const Arguments& a, sw_indices<I...>) {
    Block(static_cast<const sw_argument<I, T>&>(a).value()...);
  }
  template <auto Block, bool NeedsWarpRows>
  static void run_split(const sw_range* r) {
    if ((unsigned long long)r->grid.x * r->block.x > SW_MAX_INDEX)
      return NeedsWarpRows ? run_threads(r) : run_slowly(r);
    if (NeedsWarpRows && r->block.x % 32 != 0 && r->block.y * r->block.z != 1)
      return run_threads(r);
    const Arguments arguments(r->arguments);
    enter_launch(r);
    for (unsigned long long n = r->first; n < r->last; ++n) {
      const unsigned long long b = SW_IN_ORDER(n, r->first, r->last), row = b / r->grid.x;
      enter_block((unsigned)(b % r->grid.x), (unsigned)(row % r->grid.y),
                  (unsigned)(row / r->grid.y));
      call_block<Block>(arguments, Indices{});
    }
  }

  // Runs the threads of blocks first .. last - 1 along x as loops: row by row of the blocks'
  // threads, each row for all blocks, so that the innermost loops access memory in order. Threads
  // that never wait may run in any order. Each built-in variable is set from a scalar here, where
  // the compiler sees it.
  __attribute__((flatten, noinline)) static void rows(unsigned first, unsigned last,
                                                      unsigned block_y, unsigned block_z,
                                                      const sw_range* r, T... arguments) {
    const unsigned nx = r->block.x, ny = r->block.y, nz = r->block.z;
    if (nx == 0 || nx > 1024u) __builtin_unreachable();
    blockDim.x = nx;
    blockDim.y = ny;
    blockDim.z = nz;
    gridDim.x = r->grid.x;
    gridDim.y = r->grid.y;
    gridDim.z = r->grid.z;
    blockIdx.y = block_y;
    blockIdx.z = block_z;
    for (unsigned row = 0; row < ny * nz; ++row) {
      const unsigned yz = SW_IN_ORDER(row, 0u, ny * nz);
      const unsigned y = nz == 1 ? yz : yz % ny, z = nz == 1 ? 0 : yz / ny;
      threadIdx.y = y;
      threadIdx.z = z;
      for (unsigned block = first; block < last; ++block) {
        const unsigned bx = SW_IN_ORDER(block, first, last);
        if (bx * nx > SW_MAX_INDEX) __builtin_unreachable();
        blockIdx.x = bx;
        // The loop counter is the global index, in the type that the kernel uses for it: a guard
        // such as `if (i < n)` then compares the counter itself, and the compiler splits the loop
        // there instead of masking every store.
        const Counter begin = (Counter)(bx * nx), end = begin + (Counter)nx;
        for (Counter n = begin; n < end; ++n) {
          const Counter i = SW_IN_ORDER(n, begin, end);
          threadIdx.x = (unsigned)i - (unsigned)begin;
          K(arguments...);
        }
      }
    }
  }

  template <int... I>
  static void run_rows(const Arguments& a, const sw_range* r, unsigned first, unsigned last,
                       unsigned block_y, unsigned block_z, sw_indices<I...>) {
    rows(first, last, block_y, block_z, r, static_cast<const sw_argument<I, T>&>(a).value()...);
  }
  static void run_loops(const sw_range* r) {
    // If the index could overflow, from about 2^31 threads along x, the assumption in rows() does
    // not hold.
    if ((unsigned long long)r->grid.x * r->block.x > SW_MAX_INDEX) return run_slowly(r);
    const Arguments arguments(r->arguments);
    enter_launch(r);
    for (unsigned long long b = r->first; b < r->last;) {
      const unsigned bx = (unsigned)(b % r->grid.x);
      const unsigned long long row = b / r->grid.x;
      const unsigned block_y = (unsigned)(row % r->grid.y), block_z = (unsigned)(row / r->grid.y);
      unsigned long long count = r->grid.x - bx;
      if (count > r->last - b) count = r->last - b;
      run_rows(arguments, r, bx, bx + (unsigned)count, block_y, block_z, Indices{});
      b += count;
    }
  }
};

// For kernels with a 64-bit index, whose loop compilers do not split. An unsigned counter leads to
// masked stores, which are cheap only with the mask registers of AVX-512 and SVE.
#if defined(__AVX512F__) || defined(__ARM_FEATURE_SVE)
typedef unsigned sw_wide_counter;
#else
typedef int sw_wide_counter;
#endif

// The bounds of a kernel. SW_BOUNDS expands the text before the kernel's name, where the attributes
// are; the generated text defines SW_LAUNCH_BOUNDS and SW_CLUSTER_DIMS such that each ends one
// SW_OTHERS, which drops its arguments, and begins another.
constexpr sw_bounds sw_launch_bounds(unsigned max_threads, unsigned = 0, unsigned = 0) {
  return {max_threads, {}};
}
constexpr sw_bounds sw_cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1) {
  return {0, {x, y, z}};
}
constexpr sw_bounds operator|(const sw_bounds& a, const sw_bounds& b) {
  return {a.max_threads != 0 ? a.max_threads : b.max_threads,
          a.cluster.x != 0 ? a.cluster : b.cluster};
}
#define SW_OTHERS(...) \
  sw_bounds {}
#define SW_OPEN() (
#define SW_BOUNDS(...) SW_OTHERS(__VA_ARGS__)

// Counter, the type of the index in loops, is int, unsigned or sw_wide_counter: the library chooses
// it by the type of the variable that the kernel computes from blockIdx. A kernel may be declared
// noexcept, which is part of its type.
template <auto K, bool HasBarrier, class Counter, class F = decltype(K)>
struct sw_launcher {
  static_assert(sizeof(F) == 0,
                "a kernel returns nothing: declare it as __global__ void, and write results to "
                "arrays");
  static constexpr sw_kernel entry(const char*, sw_bounds) { return {}; }
};
template <auto K, bool HasBarrier, class Counter, class... T>
struct sw_launcher<K, HasBarrier, Counter, void (*)(T...)> {
  using Code = sw_code<K, Counter, void (*)(T...)>;
  static constexpr sw_kernel entry(const char* name, sw_bounds bounds) {
    // Threads that wait, and those whose accesses are observed, run one by one; others as loops.
#if defined(SW_KERNEL_CHECK) || defined(SW_WARP_STEP)
    constexpr bool runs_single_threads = true;
#else
    constexpr bool runs_single_threads = HasBarrier;
#endif
    if constexpr (runs_single_threads)
      return {name,
              Code::run_threads,
              Code::parameters.list,
              sizeof...(T),
              sw_type_list<T...>::text,
              /*run_slowly=*/Code::run_threads,
              bounds};
    else
      return {name,
              Code::run_loops,
              Code::parameters.list,
              sizeof...(T),
              sw_type_list<T...>::text,
              /*run_slowly=*/Code::run_slowly,
              bounds};
  }
};
template <auto K, bool HasBarrier, class Counter, class... T>
struct sw_launcher<K, HasBarrier, Counter, void (*)(T...) noexcept>
    : sw_launcher<K, HasBarrier, Counter, void (*)(T...)> {};

// A kernel that has the function Block for the threads of a block, split at its barriers.
template <auto K, auto Block, bool NeedsWarpRows, class F = decltype(K)>
struct sw_split_launcher;
template <auto K, auto Block, bool NeedsWarpRows, class... T>
struct sw_split_launcher<K, Block, NeedsWarpRows, void (*)(T...)> {
  using Code = sw_code<K, int, void (*)(T...)>;
  static constexpr sw_kernel entry(const char* name, sw_bounds bounds) {
    return {name,
            Code::template run_split<Block, NeedsWarpRows>,
            Code::parameters.list,
            sizeof...(T),
            sw_type_list<T...>::text,
            /*run_slowly=*/NeedsWarpRows ? Code::run_threads : Code::run_slowly,
            bounds};
  }
};
template <auto K, auto Block, bool NeedsWarpRows, class... T>
struct sw_split_launcher<K, Block, NeedsWarpRows, void (*)(T...) noexcept>
    : sw_split_launcher<K, Block, NeedsWarpRows, void (*)(T...)> {};
