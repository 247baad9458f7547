// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace spanwise::cpu_backend {

/// Calls f(lane) for each lane of a warp's mask.
template <class F>
void for_each_lane(unsigned lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// Who accessed memory, and when. A zero stamp is no access.
struct Stamp {
  enum Kind : std::uint64_t { none, plain, strong, unchanged };
  std::uint64_t time : 28 = 0;    ///< of AccessOrder
  std::uint64_t block : 24 = 0;   ///< linear index
  std::uint64_t thread : 10 = 0;  ///< linear index in the block
  /// `strong`: an atomic or volatile access. `unchanged`: a store of the value that was there.
  std::uint64_t kind : 2 = none;
};

/// The order that barriers, warp collectives and fences create between the accesses of a launch's
/// threads (the happens-before relation). Blocks run one after the other.
///
/// Time is the number of such events so far. A __syncthreads() orders all earlier accesses of the
/// block, a warp collective those of its lanes, and of what these had learned from others. An
/// atomic or volatile access to an address at which a thread had released, by a fence and such an
/// access, orders everything that preceded the fence: more than CUDA guarantees, so that correct
/// protocols are never reported.
class AccessOrder {
 public:
  static constexpr std::uint64_t max_blocks = 1u << 24, max_time = (1u << 28) - 2;

  void start_block(std::uint64_t block, unsigned threads);
  void barrier();
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
  /// Whether stamps still have room for the current time.
  bool is_exhausted() const noexcept { return time_ > max_time; }

 private:
  std::uint64_t time_ = 1, block_ = 0;
  std::uint64_t barrier_ = 0;  // time of the block's last barrier
  unsigned threads_ = 0;
  bool acquires_ = false;  // any element of acquired_ is not zero
  // Of each thread: accesses before this time are ordered before it.
  std::array<std::uint64_t, 1024> acquired_{};
  std::array<std::uint64_t, 1024> fenced_{};                    // time of the thread's last fence
  std::array<std::array<std::uint64_t, 32>, 1024> lanes_{};     // the same as acquired_, by lane
  std::unordered_map<std::uintptr_t, std::uint64_t> released_;  // address -> time of the fence
};

}  // namespace spanwise::cpu_backend
