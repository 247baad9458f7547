// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace spanwise::cpu_backend {

/// Calls f(lane) for each set bit of `lanes`, a warp's mask.
template <class F>
void for_each_lane(unsigned lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The thread and the time of an access to memory; `none` for no access.
struct Stamp {
  enum Kind : std::uint64_t { none, plain, strong, unchanged };
  std::uint64_t time : 28 = 0;    ///< of AccessOrder
  std::uint64_t block : 24 = 0;   ///< linear index
  std::uint64_t thread : 10 = 0;  ///< linear index in the block
  /// `strong`: an atomic or volatile access. `unchanged`: a store of the value already in memory.
  std::uint64_t kind : 2 = none;
};

/// The order that barriers, warp collectives and fences create between the accesses of a launch's
/// threads (the happens-before relation). Blocks run one after the other.
///
/// Time is the number of such events so far. A __syncthreads() orders all earlier accesses of the
/// block; a warp collective orders those of its lanes and all that are ordered before them. A
/// thread releases at an address by a fence and a later atomic or volatile write there; an atomic
/// or volatile read of the address by another thread then orders everything that preceded the
/// fence. That is more than CUDA guarantees, so that correct protocols are never reported.
class AccessOrder {
 public:
  static constexpr std::uint64_t max_blocks = 1u << 24, max_time = (1u << 28) - 2;

  void start_block(std::uint64_t block, unsigned threads);
  void barrier();
  /// A collective of the lanes in the mask `lanes` of warp number `warp`.
  void collective(unsigned warp, unsigned lanes);
  void fence(unsigned thread) { fenced_[thread] = ++time_; }
  /// An atomic or volatile access to `address`.
  void synchronize(unsigned thread, std::uintptr_t address, bool reads, bool writes);

  Stamp stamp(unsigned thread, Stamp::Kind kind) const noexcept {
    return {time_, block_, thread, kind};
  }
  /// Whether the access `earlier` is ordered before one that `thread` makes now.
  bool is_ordered(const Stamp& earlier, unsigned thread) const noexcept {
    if (earlier.time < acquired_[thread]) return true;
    if (earlier.block != block_) return false;
    if (earlier.thread == thread || earlier.time < barrier_) return true;
    return earlier.thread / 32 == thread / 32 && earlier.time < lanes_[thread][earlier.thread % 32];
  }
  /// Whether the current time no longer fits in a stamp.
  bool is_exhausted() const noexcept { return time_ > max_time; }

 private:
  std::uint64_t time_ = 1, block_ = 0;
  std::uint64_t barrier_ = 0;  // time after the block's last barrier
  unsigned threads_ = 0;
  bool has_acquired_ = false;  // any element of acquired_ is not zero
  // For each thread: accesses before this time, by any thread, are ordered before it; and those of
  // each lane of its warp.
  std::array<std::uint64_t, 1024> acquired_{};
  std::array<std::array<std::uint64_t, 32>, 1024> lanes_{};
  std::array<std::uint64_t, 1024> fenced_{};                    // time of the thread's last fence
  std::unordered_map<std::uintptr_t, std::uint64_t> released_;  // address -> time of the fence
};

}  // namespace spanwise::cpu_backend
