// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the generated text of kernels that are split at their barriers uses: loops over the threads
// of a block, and shuffles and votes over the values that the threads have stored.

// The built-in variables as constants, and the limits that the library checks.
#define SW_SPLIT_KERNEL                                                              \
  const uint3 blockIdx = ::blockIdx;                                                 \
  const sw_dim blockDim = ::blockDim, gridDim = ::gridDim;                           \
  if (blockDim.x - 1u > 1023u || blockDim.y - 1u > 1023u || blockDim.z - 1u > 63u || \
      blockIdx.x * blockDim.x > SW_MAX_INDEX)                                        \
    __builtin_unreachable();                                                         \
  const unsigned sw_count = blockDim.x * blockDim.y * blockDim.z;                    \
  if (sw_count > 1024u) __builtin_unreachable();                                     \
  (void)gridDim;                                                                     \
  (void)blockIdx

#ifdef SW_REVERSE
#define SW_NTH(n, count) ((count) - 1 - (n))
#else
#define SW_NTH(n, count) (n)
#endif
// Threads of a block depend on one another at barriers only. The counter along x is an int, so that
// it, and sums with it in int, do not wrap around: compilers then see consecutive elements.
#ifdef __clang__
#define SW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SW_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define SW_ALL_ROWS                                     \
  for (unsigned sw_nz = 0; sw_nz < blockDim.z; ++sw_nz) \
    for (unsigned sw_ny = 0; sw_ny < blockDim.y; ++sw_ny)
#define SW_THREADS SW_ALL_ROWS SW_INDEPENDENT for (int sw_nx = 0; sw_nx < (int)blockDim.x; ++sw_nx)
// The threads sw_begin to sw_end - 1 of each row.
#define SW_ROWS \
  SW_ALL_ROWS for (int sw_begin = 0, sw_end = (int)blockDim.x; sw_end >= 0; sw_end = -1)
#ifdef SW_REVERSE
#define SW_ROW_THREADS                                                                            \
  SW_INDEPENDENT for (int sw_nx = (int)blockDim.x - sw_end, sw_last = (int)blockDim.x - sw_begin; \
                      sw_nx < sw_last; ++sw_nx)
#else
#define SW_ROW_THREADS SW_INDEPENDENT for (int sw_nx = sw_begin; sw_nx < sw_end; ++sw_nx)
#endif
#define SW_FIRST_INDEX                          \
  const int sw_nx = SW_NTH(0, (int)blockDim.x); \
  SW_LOCAL_INDEX
#define SW_LOCAL_INDEX                                                                       \
  const uint3 threadIdx{(unsigned)SW_NTH(sw_nx, (int)blockDim.x), SW_NTH(sw_ny, blockDim.y), \
                        SW_NTH(sw_nz, blockDim.z)};                                          \
  [[maybe_unused]] const unsigned sw_i =                                                     \
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x
#define SW_SHARED_INDEX        \
  SW_LOCAL_INDEX;              \
  ::threadIdx.x = threadIdx.x; \
  ::threadIdx.y = threadIdx.y; \
  ::threadIdx.z = threadIdx.z

// An element of the array in which a variable that lives across barriers becomes one.
#define SW_FITS(array) \
  static_assert(sizeof(array) <= 256 * 1024, "too large for all threads of a block")
template <class SwT>
struct sw_storage_of {
  typedef SwT type;
};
template <class SwT>
struct sw_storage_of<const SwT> {
  typedef SwT type;
};
template <class SwT>
using sw_storage = typename sw_storage_of<SwT>::type;
template <class SwT>
SwT sw_value_of(SwT);

// A shared array of an inlined function: the same in all its calls.
template <unsigned SwArray, class SwT>
SwT& sw_function_shared() {
  static __thread __attribute__((aligned(16))) SwT array;
  return array;
}
#define SW_FUNCTION_SHARED(name, number, ...) auto& name = sw_function_shared<number, __VA_ARGS__>()

template <class SwT>
constexpr bool sw_is_integer = false;
#define SW_INTEGER(type) \
  template <>            \
  constexpr bool sw_is_integer<type> = true
SW_INTEGER(signed char);
SW_INTEGER(unsigned char);
SW_INTEGER(short);
SW_INTEGER(unsigned short);
SW_INTEGER(int);
SW_INTEGER(unsigned);
SW_INTEGER(long);
SW_INTEGER(unsigned long);
SW_INTEGER(long long);
SW_INTEGER(unsigned long long);
#undef SW_INTEGER
// a + b in the type SwT, where they are integers; `sum` for other types.
template <class SwT, class SwA, class SwB, class SwSum>
SW_FN SwT sw_sum(SwA a, SwB b, SwSum sum) {
  if constexpr (sw_is_integer<SwA> && sw_is_integer<SwB>)
    return (SwT)a + (SwT)b;
  else
    return (SwT)sum;
}

// Limits the threads of a row to those with `value < bound`, or `value <= bound`: `value` is the
// first thread's and grows by one. The comparison is that of C++: an unsigned bound makes negative
// values large ones, which become 0 within the row.
template <class SwValue, class SwBound>
SW_FN void sw_clip(int& begin, int& end, SwValue value, SwBound bound, bool is_inclusive) {
  typedef decltype(value + bound) Common;
  const Common first = (Common)value, last = (Common)bound;
  int skipped = 0;
  if constexpr ((Common)-1 > (Common)0)
    if (first > (Common)-1025 && first >= last) skipped = (int)((Common)0 - first);
  const Common start = skipped > 0 ? (Common)0 : first;
  unsigned long long count = 0;
  if (start < last || (is_inclusive && start == last))
    count = (unsigned long long)last - (unsigned long long)start + (is_inclusive ? 1 : 0);
  if (begin < skipped) begin = skipped;
  if (count < 1024u && (int)count + skipped < end) end = (int)count + skipped;
}

template <class SwT>
SW_FN void sw_put(unsigned char* values, unsigned i, SwT value) {
  static_assert(sizeof(SwT) <= 8, "shuffles of larger values run on fibers");
  reinterpret_cast<SwT*>(values)[i] = value;
}
template <class SwT>
SW_FN void sw_put_vote(unsigned char* values, unsigned i, SwT value) {
  values[i] = value ? 1 : 0;
}
// The lane that lane `lane` reads, as in BlockRunner; a lane reads its own value where the source
// takes no part.
template <class SwT>
SW_FN SwT sw_shuffled(const unsigned char* values, const unsigned char* active, unsigned i,
                      unsigned count, int op, int line, int argument, int width = warpSize) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    sw_fail("the width of a warp shuffle must be 1, 2, 4, 8, 16 or 32", nullptr, line);
  const unsigned lane = i & 31u, segment = (unsigned)width - 1, distance = (unsigned)argument;
  const unsigned first = lane & ~segment, last = first | segment;
  unsigned source = lane;
  if (op == sw_warp_shuffle)
    source = first | (distance & segment);
  else if (op == sw_warp_shuffle_up)
    source = lane - first >= distance ? lane - distance : lane;
  else if (op == sw_warp_shuffle_down)
    source = last - lane >= distance ? lane + distance : lane;
  else
    source = (lane ^ distance) <= last ? lane ^ distance : lane;
  unsigned from = (i & ~31u) | source;
  if (from >= count || (active != nullptr && !active[from])) from = i;
  return reinterpret_cast<const SwT*>(values)[from];
}
SW_FN void sw_warp_votes(const unsigned char* values, const unsigned char* active, unsigned count,
                         int op, unsigned* results) {
  for (unsigned warp = 0; warp * 32 < count; ++warp) {
    unsigned set = 0, present = 0;
    for (unsigned lane = 0; lane < 32 && warp * 32 + lane < count; ++lane) {
      const unsigned i = warp * 32 + lane;
      const unsigned takes_part = active == nullptr || active[i] ? 1u : 0u;
      present |= takes_part << lane;
      set |= (takes_part & values[i]) << lane;
    }
    results[warp] = op == sw_warp_ballot ? set : op == sw_warp_any ? set != 0 : set == present;
  }
}
// Whether a thread has both flags.
SW_FN bool sw_any(const unsigned char* first, const unsigned char* second, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (first[i] & second[i]) return true;
  return false;
}
SW_FN int sw_block_vote(const unsigned char* values, const unsigned char* active, unsigned count,
                        int op) {
  int set = 0, present = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int takes_part = active == nullptr || active[i] ? 1 : 0;
    present += takes_part;
    set += takes_part & values[i];
  }
  return op == sw_barrier_and ? set == present : op == sw_barrier_or ? set > 0 : set;
}
