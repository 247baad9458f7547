// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "backends/cuda/context.hpp"
#include "backends/cuda/nccl.hpp"
#include "spanwise/runtime/communicator.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

/// The connection of one rank to the others by NCCL, and its end.
///
/// Calls go to a blocking communicator: for each call with a nonblocking one NCCL starts a thread
/// (ncclGroupEndInternal in its group.cc), which takes longer than a small all_reduce. It is split
/// from a nonblocking one with shared resources, for two reasons. Nonblocking ranks can be waited
/// for within a time limit while they connect. And the two have the same abort flag: aborting the
/// first ends a call that a thread is in at the second, which is freed when that thread has left.
class NcclConnection {
 public:
  NcclConnection(const nccl::Api& api, DeviceContext& context, const Communicator::Options& options)
      : api_(api), context_(context), timeout_(options.timeout) {}
  /// abort(), except after close() and at the end of the process.
  ~NcclConnection();
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;

  /// Returns when all `size` ranks have called it with the same id. Throws ArgumentError, and
  /// CollectiveError after the time limit.
  void connect(const std::string& id, int rank, int size);
  /// The communicator for calls; valid while a Call exists.
  nccl::Comm comm() const noexcept { return comm_; }
  /// Throws CollectiveError where `result`, of the call that `action` names, is an error, and where
  /// abort() has ended the call, for which NCCL may return success.
  void check(nccl::Result result, std::string_view action) {
    if (result != nccl::success || is_ended_.load(std::memory_order_relaxed)) [[unlikely]]
      finish(comm_, result, action);
  }

  /// While it exists, the thread that created it may call NCCL with comm(), which is not freed.
  class Call {
   public:
    /// Throws CollectiveError after abort() and close().
    explicit Call(NcclConnection& connection);
    ~Call() { connection_.calls_.fetch_add(1); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    NcclConnection& connection_;
  };

  /// To be called when a graph captures a call. comm() is then kept until the process ends, because
  /// NCCL frees a communicator only when its last graph is destroyed, and waits for that without a
  /// limit.
  void note_captured() noexcept { is_captured_.store(true, std::memory_order_relaxed); }

  /// The error of queued work, or that a call takes longer than the time limit; "" for neither.
  /// Never blocks. For a thread that calls it several times a second.
  std::string poll();
  /// Ends queued work and a call of another thread. May be called on any thread.
  void abort() noexcept;
  /// Frees the communicators; the queued work is complete.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  void finish(nccl::Comm comm, nccl::Result result, std::string_view action);
  std::string reason(nccl::Comm comm, nccl::Result result) const;
  bool is_in_call() const noexcept { return calls_.load() % 2 == 1; }
  bool is_call_late();

  const nccl::Api& api_;
  DeviceContext& context_;
  const std::chrono::milliseconds timeout_;
  nccl::Comm control_ = nullptr;         // nonblocking; the parent of comm_
  nccl::Comm comm_ = nullptr;            // blocking
  std::atomic<std::uint64_t> calls_{0};  // begun plus ended: odd inside a call
  std::atomic<bool> is_ended_{false}, is_captured_{false};
  Mutex end_mutex_;              // held by poll(), abort() and close(); guards the members below
  std::uint64_t seen_call_ = 0;  // the value of calls_ that poll() saw last, inside a call
  Clock::time_point seen_at_{};
};

}  // namespace spanwise::cuda
