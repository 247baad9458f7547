// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cooperative groups within a block: the block, its tiles of up to 32 threads, and the threads that
// have converged (CUDA C++ Programming Guide 13.0, "Cooperative Groups"). A grid has sizes and
// ranks, but only a grid of one block can wait. Clusters need a GPU. Error messages give the
// caller's line.

namespace cooperative_groups {
namespace sw_detail {

SW_FN unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
SW_FN unsigned lane() { return sw_linear_thread() % 32; }

// The position of the set bit number `rank` of `mask`.
SW_FN unsigned lane_of(unsigned mask, unsigned rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return (unsigned)__builtin_ctz(mask);
}
// The bits of `lanes` at the set positions of `mask`, made contiguous.
SW_FN unsigned packed(unsigned lanes, unsigned mask) {
  unsigned out = 0;
  for (unsigned bit = 0; mask != 0; mask &= mask - 1, ++bit)
    out |= (lanes >> __builtin_ctz(mask) & 1u) << bit;
  return out;
}

// The base of tiles and coalesced groups: some lanes of one warp, in order.
template <class SwGroup>
class lanes_of_a_warp {
 public:
  __attribute__((always_inline)) void sync(int line = __builtin_LINE()) const {
    sw_warp(sw_warp_sync, self().mask(), 0, 0, warpSize, line);
  }
  unsigned long long num_threads() const { return self().size(); }
  template <class SwT>
  SwT shfl(SwT value, unsigned rank, int line = __builtin_LINE()) const {
    return value_of_rank(value, rank < self().size() ? rank : self().thread_rank(), line);
  }
  template <class SwT>
  SwT shfl_up(SwT value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = self().thread_rank();
    return value_of_rank(value, rank >= delta ? rank - delta : rank, line);
  }
  template <class SwT>
  SwT shfl_down(SwT value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = self().thread_rank();
    return value_of_rank(value, rank + delta < self().size() ? rank + delta : rank, line);
  }
  int any(int predicate, int line = __builtin_LINE()) const {
    return (int)sw_warp(sw_warp_any, self().mask(), predicate != 0, 0, warpSize, line);
  }
  int all(int predicate, int line = __builtin_LINE()) const {
    return (int)sw_warp(sw_warp_all, self().mask(), predicate != 0, 0, warpSize, line);
  }
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    const unsigned mask = self().mask();
    return packed((unsigned)sw_warp(sw_warp_ballot, mask, predicate != 0, 0, warpSize, line), mask);
  }
  template <class SwT>
  unsigned match_any(SwT value, int line = __builtin_LINE()) const {
    return packed(sw_match_any(line, self().mask(), value), self().mask());
  }
  template <class SwT>
  unsigned match_all(SwT value, int& all, int line = __builtin_LINE()) const {
    return packed(sw_match_all(line, self().mask(), value, &all), self().mask());
  }

 private:
  const SwGroup& self() const { return static_cast<const SwGroup&>(*this); }
  template <class SwT>
  SwT value_of_rank(SwT value, unsigned rank, int line) const {
    const unsigned mask = self().mask();
    return sw_shuffle(line, sw_warp_shuffle, mask, value, (int)lane_of(mask, rank));
  }
};

}  // namespace sw_detail

class thread_block {
 public:
  __attribute__((always_inline)) static void sync(int line = __builtin_LINE()) { sw_barrier(line); }
  static unsigned thread_rank() { return sw_linear_thread(); }
  static unsigned size() { return sw_detail::block_size(); }
  static unsigned num_threads() { return sw_detail::block_size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
SW_FN thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  __attribute__((always_inline)) static void sync(int line = __builtin_LINE()) {
    if (num_blocks() != 1)
      sw_fail(
          "synchronisation of a whole grid (grid_group::sync) needs a GPU, unless the grid has one "
          "block",
          nullptr, line);
    sw_barrier(line);
  }
  static bool is_valid() { return true; }
  static unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long size() { return num_blocks() * sw_detail::block_size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long thread_rank() {
    return block_rank() * sw_detail::block_size() + sw_linear_thread();
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
};
SW_FN grid_group this_grid() { return {}; }

template <unsigned SwSize, class SwParent = void>
class thread_block_tile : public sw_detail::lanes_of_a_warp<thread_block_tile<SwSize, SwParent>> {
  static_assert(SwSize >= 1 && SwSize <= 32 && (SwSize & (SwSize - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads on the CPU");

 public:
  thread_block_tile() = default;
  template <class SwOther>
  thread_block_tile(const thread_block_tile<SwSize, SwOther>&) {}
  static unsigned size() { return SwSize; }
  static unsigned thread_rank() { return sw_linear_thread() % SwSize; }
  static unsigned meta_group_rank() { return sw_linear_thread() / SwSize; }
  static unsigned meta_group_size() { return (sw_detail::block_size() + SwSize - 1) / SwSize; }
  static unsigned mask() {
    return (SwSize == 32 ? ~0u : (1u << SwSize % 32) - 1) << sw_detail::lane() / SwSize * SwSize;
  }
  template <class SwT>
  SwT shfl_xor(SwT value, unsigned lanes, int line = __builtin_LINE()) const {
    return sw_shuffle(line, sw_warp_shuffle_xor, mask(), value, (int)lanes, (int)SwSize);
  }
};
template <class SwGroup>
SW_FN unsigned thread_rank(const SwGroup& group) {
  return (unsigned)group.thread_rank();
}
template <class SwGroup>
SW_FN unsigned group_size(const SwGroup& group) {
  return (unsigned)group.size();
}

template <unsigned SwSize, class SwParent>
SW_FN thread_block_tile<SwSize, SwParent> tiled_partition(const SwParent&) {
  return {};
}

class coalesced_group : public sw_detail::lanes_of_a_warp<coalesced_group> {
 public:
  explicit coalesced_group(unsigned mask) : mask_(mask) {}
  unsigned size() const { return (unsigned)__builtin_popcount(mask_); }
  unsigned thread_rank() const {
    return (unsigned)__builtin_popcount(mask_ & ((1u << sw_detail::lane()) - 1));
  }
  unsigned mask() const { return mask_; }

 private:
  unsigned mask_;
};
SW_FN coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(sw_active_mask(line));
}

// A block, or some lanes of a warp.
class thread_group : public sw_detail::lanes_of_a_warp<thread_group> {
 public:
  explicit thread_group(unsigned mask) : mask_(mask) {}
  thread_group(const thread_block&) : mask_(0), is_block_(true) {}
  thread_group(const coalesced_group& group) : mask_(group.mask()) {}
  template <unsigned SwSize, class SwParent>
  thread_group(const thread_block_tile<SwSize, SwParent>& tile) : mask_(tile.mask()) {}
  __attribute__((always_inline)) void sync(int line = __builtin_LINE()) const {
    if (is_block_)
      thread_block::sync(line);
    else
      sw_detail::lanes_of_a_warp<thread_group>::sync(line);
  }
  unsigned size() const {
    return is_block_ ? sw_detail::block_size() : (unsigned)__builtin_popcount(mask_);
  }
  unsigned thread_rank() const {
    return is_block_ ? sw_linear_thread()
                     : (unsigned)__builtin_popcount(mask_ & ((1u << sw_detail::lane()) - 1));
  }
  unsigned mask() const { return mask_; }

 private:
  unsigned mask_;
  bool is_block_ = false;
};
// A tile whose size is given at run time.
template <class SwParent>
SW_FN thread_group tiled_partition(const SwParent&, unsigned size) {
  const unsigned lanes = size >= 32 ? ~0u : (1u << size) - 1;
  return thread_group(lanes << sw_detail::lane() / size * size);
}

// The threads of `group` with the same label or predicate.
template <class SwGroup>
SW_FN coalesced_group labeled_partition(const SwGroup& group, int label,
                                        int line = __builtin_LINE()) {
  return coalesced_group(sw_match_any(line, group.mask(), label));
}
template <class SwGroup>
SW_FN coalesced_group binary_partition(const SwGroup& group, bool predicate,
                                       int line = __builtin_LINE()) {
  return labeled_partition(group, predicate ? 1 : 0, line);
}

template <class SwGroup>
SW_FN void sync(const SwGroup& group, int line = __builtin_LINE()) {
  group.sync(line);
}

}  // namespace cooperative_groups
