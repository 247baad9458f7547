// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nccl_connection.hpp"

#include <cstring>
#include <thread>
#include <utility>

namespace spanwise::cuda {
namespace {

/// How long abort() waits until the thread of a call has left NCCL; afterwards comm() is not freed.
constexpr std::chrono::seconds max_abort_wait{10};

}  // namespace

NcclConnection::~NcclConnection() {
  if (usable_after_fork()) abort();
}

void NcclConnection::connect(const std::string& id, int rank, int size) {
  nccl::UniqueId unique{};
  if (id.size() != sizeof unique)
    fail<ArgumentError>("nccl: expected an id of ", sizeof unique, " bytes, got ", id.size());
  std::memcpy(&unique, id.data(), sizeof unique);
  const ContextGuard guard(context_);
  nccl::Config bounded{.blocking = 0, .split_share = 1}, direct{.blocking = 1};
  nccl::Result result = api_.init(&control_, size, unique, rank, &bounded);
  finish(control_, result, "connecting the ranks");
  // Some versions return success while the split goes on; the parent's state then is in_progress.
  result = api_.split(control_, 0, rank, &comm_, &direct);
  finish(control_, result == nccl::success ? nccl::in_progress : result, "connecting the ranks");
}

NcclConnection::Call::Call(NcclConnection& connection) : connection_(connection) {
  connection_.calls_.fetch_add(1);
  if (!connection_.is_ended_.load()) [[likely]]
    return;
  connection_.calls_.fetch_add(1);
  fail<CollectiveError>("nccl: aborted");
}

// Waits while `result` is in_progress, which calls of a nonblocking communicator return. Throws
// CollectiveError for an error, after the time limit and after abort().
void NcclConnection::finish(nccl::Comm comm, nccl::Result result, std::string_view action) {
  const auto deadline = Clock::now() + timeout_;
  while (true) {
    if (is_ended_.load()) fail<CollectiveError>("nccl: ", action, ": aborted");
    if (result != nccl::in_progress) break;
    if (Clock::now() > deadline)
      fail<CollectiveError>("nccl: ", action, " did not end within ", timeout_.count() / 1000.0,
                            " s: a rank is late or has ended");
    std::this_thread::yield();
    if (api_.get_async_error(comm, &result) != nccl::success) break;
  }
  if (result != nccl::success)
    fail<CollectiveError>("nccl: ", action, " failed: ", reason(comm, result));
}

std::string NcclConnection::reason(nccl::Comm comm, nccl::Result result) const {
  const char* detail = comm != nullptr ? api_.get_last_error(comm) : "";
  return text("NCCL says ", api_.get_error_string(result), " (", result, ')',
              detail != nullptr && *detail != '\0' ? text(": ", detail) : std::string());
}

// The clock starts when poll() first sees the call, so that calls do not read it.
bool NcclConnection::is_call_late() {
  const std::uint64_t current = calls_.load();
  if (current % 2 == 0) return false;
  if (std::exchange(seen_call_, current) != current) seen_at_ = Clock::now();
  return Clock::now() - seen_at_ > timeout_;
}

std::string NcclConnection::poll() {
  const std::lock_guard lock(end_mutex_);
  if (is_ended_.load() || comm_ == nullptr) return {};
  if (is_call_late())
    return text("nccl: a call did not end within ", timeout_.count() / 1000.0,
                " s: a rank is late or has ended");
  nccl::Result state = nccl::success;
  const nccl::Result queried = api_.get_async_error(comm_, &state);
  if (queried != nccl::success) state = queried;
  return state == nccl::success || state == nccl::in_progress ? std::string()
                                                              : reason(comm_, state);
}

void NcclConnection::abort() noexcept {
  const std::lock_guard lock(end_mutex_);
  if (is_ended_.exchange(true) || control_ == nullptr) return;
  const ContextGuard guard(context_, std::nothrow);
  const RelaxedCaptureMode relaxed(context_.api);
  if (!guard.ok()) return;
  api_.abort(control_);
  const auto deadline = Clock::now() + max_abort_wait;
  while (is_in_call() && Clock::now() < deadline) std::this_thread::yield();
  if (comm_ != nullptr && !is_in_call() && !is_captured_.load()) api_.abort(comm_);
}

void NcclConnection::close() {
  const std::lock_guard lock(end_mutex_);
  if (is_ended_.exchange(true) || control_ == nullptr || is_captured_.load()) return;
  const ContextGuard guard(context_);
  api_.destroy(comm_);
  api_.destroy(control_);
}

}  // namespace spanwise::cuda
