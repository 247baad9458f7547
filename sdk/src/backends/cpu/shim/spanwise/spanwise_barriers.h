// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Barriers and warp collectives. While a thread waits the worker runs others, so threadIdx is
// restored afterwards, and so is the state of the lane in modules whose warps run in step.

#define SW_WAITING(call)                                                     \
  const unsigned sw_x = threadIdx.x, sw_y = threadIdx.y, sw_z = threadIdx.z; \
  const SW_LANE_STATE;                                                       \
  call;                                                                      \
  SW_SET_LANE_STATE;                                                         \
  threadIdx.x = sw_x;                                                        \
  threadIdx.y = sw_y;                                                        \
  threadIdx.z = sw_z

SW_FN void sw_barrier(int line) { SW_WAITING(sw_rt->barrier(sw_worker, line)); }
SW_FN void sw_watch(const unsigned* word, unsigned value, int line) {
  SW_WAITING(sw_rt->watch(sw_worker, word, value, line));
}
// bar.sync and bar.arrive of `count` threads; without a number, of all.
SW_FN void sw_named_barrier(unsigned id, unsigned count, int waits, int line) {
  SW_WAITING(sw_rt->named_barrier(sw_worker, id, count, waits, line));
}
SW_FN int sw_barrier_vote(int op, int predicate, int line) {
  int result;
  SW_WAITING(result = sw_rt->barrier_vote(sw_worker, op, predicate, line));
  return result;
}
SW_FN unsigned long long sw_warp(int op, unsigned mask, unsigned long long value, int lane,
                                 int width, int line) {
  unsigned long long result;
  SW_WAITING(result = sw_rt->warp(sw_worker, op, mask, value, lane, width, line));
  return result;
}
SW_FN unsigned sw_active_mask(int line) {
  unsigned result;
  SW_WAITING(result = sw_rt->active_mask(sw_worker, line));
  return result;
}
#undef SW_WAITING

// Macros, so that messages name the line of the call.
#define __syncthreads() sw_barrier(__LINE__)
#define __barrier_sync(id) (void(id), sw_barrier(__LINE__))
#define __barrier_sync_count(id, count) sw_named_barrier(id, count, 1, __LINE__)
#define __syncthreads_count(predicate) \
  sw_barrier_vote(sw_barrier_count, (predicate) ? 1 : 0, __LINE__)
#define __syncthreads_and(predicate) sw_barrier_vote(sw_barrier_and, (predicate) ? 1 : 0, __LINE__)
#define __syncthreads_or(predicate) sw_barrier_vote(sw_barrier_or, (predicate) ? 1 : 0, __LINE__)

// The bytes of a value, extended by zeros to 64 bits.
template <class SwT>
SW_FN unsigned long long sw_widen(const SwT& value) {
  static_assert(sizeof(SwT) <= 8, "a match compares at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(SwT));
  return bits;
}

template <class SwT>
SW_FN SwT sw_shuffle(int line, int op, unsigned mask, SwT value, int lane, int width = warpSize) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    sw_fail("the width of a warp shuffle must be 1, 2, 4, 8, 16 or 32", nullptr, line);
  // A shuffle moves 8 bytes; larger values take several.
  constexpr int words = (sizeof(SwT) + 7) / 8;
  unsigned long long bits[words] = {};
  __builtin_memcpy(bits, &value, sizeof(SwT));
  for (int i = 0; i < words; ++i) bits[i] = sw_warp(op, mask, bits[i], lane, width, line);
  __builtin_memcpy(&value, bits, sizeof(SwT));
  return value;
}
#define __shfl_sync(mask, ...) sw_shuffle(__LINE__, sw_warp_shuffle, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...) sw_shuffle(__LINE__, sw_warp_shuffle_up, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...) sw_shuffle(__LINE__, sw_warp_shuffle_down, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) sw_shuffle(__LINE__, sw_warp_shuffle_xor, mask, __VA_ARGS__)

// The shuffles and votes of CUDA 8, which have no mask: their lanes are those that arrive together.
#define __shfl(...) sw_shuffle(__LINE__, sw_warp_shuffle, sw_active_mask(__LINE__), __VA_ARGS__)
#define __shfl_up(...) \
  sw_shuffle(__LINE__, sw_warp_shuffle_up, sw_active_mask(__LINE__), __VA_ARGS__)
#define __shfl_down(...) \
  sw_shuffle(__LINE__, sw_warp_shuffle_down, sw_active_mask(__LINE__), __VA_ARGS__)
#define __shfl_xor(...) \
  sw_shuffle(__LINE__, sw_warp_shuffle_xor, sw_active_mask(__LINE__), __VA_ARGS__)
// In the place of such a macro, for sources that overload it. The types are CUDA's.
#define SW_SHUFFLE_FUNCTION(name, op, Lane)                               \
  template <class SwT>                                                    \
  SW_FN SwT name(SwT value, Lane lane, int width = warpSize) {            \
    return sw_shuffle(0, op, sw_active_mask(0), value, (int)lane, width); \
  }
#define __ballot(predicate) __ballot_sync(sw_active_mask(__LINE__), predicate)
#define __all(predicate) __all_sync(sw_active_mask(__LINE__), predicate)
#define __any(predicate) __any_sync(sw_active_mask(__LINE__), predicate)

struct sw_syncwarp {
  int line;
  __attribute__((always_inline)) void operator()(unsigned mask = 0xffffffffu) const {
    sw_warp(sw_warp_sync, mask, 0, 0, warpSize, line);
  }
};
#define __syncwarp(...) sw_syncwarp{__LINE__}(__VA_ARGS__)
#define __ballot_sync(mask, predicate) \
  ((unsigned)sw_warp(sw_warp_ballot, mask, (predicate) ? 1 : 0, 0, warpSize, __LINE__))
#define __all_sync(mask, predicate) \
  ((int)sw_warp(sw_warp_all, mask, (predicate) ? 1 : 0, 0, warpSize, __LINE__))
#define __any_sync(mask, predicate) \
  ((int)sw_warp(sw_warp_any, mask, (predicate) ? 1 : 0, 0, warpSize, __LINE__))
// 1 if the predicate is the same for all lanes.
SW_FN int sw_uniform(int line, unsigned mask, bool predicate) {
  return sw_warp(sw_warp_match_all, mask, predicate ? 1 : 0, 0, warpSize, line) != 0;
}
#define __uni_sync(mask, predicate) sw_uniform(__LINE__, mask, predicate)
#define __activemask() sw_active_mask(__LINE__)

template <class SwT>
SW_FN unsigned sw_match_any(int line, unsigned mask, SwT value) {
  return (unsigned)sw_warp(sw_warp_match_any, mask, sw_widen(value), 0, warpSize, line);
}
template <class SwT>
SW_FN unsigned sw_match_all(int line, unsigned mask, SwT value, int* all) {
  const auto lanes = (unsigned)sw_warp(sw_warp_match_all, mask, sw_widen(value), 0, warpSize, line);
  *all = lanes != 0;
  return lanes;
}
#define __match_any_sync(mask, value) sw_match_any(__LINE__, mask, value)
#define __match_all_sync(mask, value, all) sw_match_all(__LINE__, mask, value, all)

SW_FN unsigned sw_reduce(int line, int op, unsigned mask, unsigned value) {
  return (unsigned)sw_warp(op, mask, value, 0, warpSize, line);
}
SW_FN int sw_reduce(int line, int op, unsigned mask, int value) {
  return (int)sw_warp(op, mask, (unsigned)value, 0, warpSize, line);
}
#define SW_REDUCE(name, T, op) \
  SW_FN T name(int line, unsigned mask, T value) { return sw_reduce(line, op, mask, value); }
SW_REDUCE(sw_reduce_min, int, sw_warp_min_signed)
SW_REDUCE(sw_reduce_min, unsigned, sw_warp_min_unsigned)
SW_REDUCE(sw_reduce_max, int, sw_warp_max_signed)
SW_REDUCE(sw_reduce_max, unsigned, sw_warp_max_unsigned)
#undef SW_REDUCE
#define __reduce_add_sync(mask, value) sw_reduce(__LINE__, sw_warp_add, mask, value)
#define __reduce_min_sync(mask, value) sw_reduce_min(__LINE__, mask, value)
#define __reduce_max_sync(mask, value) sw_reduce_max(__LINE__, mask, value)
#define __reduce_and_sync(mask, value) sw_reduce(__LINE__, sw_warp_and, mask, (unsigned)(value))
#define __reduce_or_sync(mask, value) sw_reduce(__LINE__, sw_warp_or, mask, (unsigned)(value))
#define __reduce_xor_sync(mask, value) sw_reduce(__LINE__, sw_warp_xor, mask, (unsigned)(value))
