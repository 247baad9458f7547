// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <thread>

#include "runtime/collectives/host_waits.hpp"
#include "runtime/collectives/pending.hpp"
#include "spanwise/communicator.hpp"

// The end of a communicator: time limits of queued work, errors of the engine, closing.
namespace spanwise {

// Called for each call, so it records no event: watch() does, a few times a second. The identity of
// the stream stays valid when its owner destroys the stream.
void Communicator::note_queued(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (queued_on_.get() != &stream.identity()) queued_on_ = Ref<StreamIdentity>(&stream.identity());
  ++queued_;
}

// Why the communicator must end now; "" where it need not.
std::string Communicator::watch() {
  std::string reason = engine_->poll();
  if (!reason.empty()) return reason;
  const std::lock_guard lock(mutex_);
  if (queued_ != watched_ && queued_on_) {
    auto& stream = static_cast<runtime::StreamState&>(*queued_on_);
    if (!stream.is_captured()) {
      watching_.push_back({stream.record(false),
                           std::chrono::steady_clock::now() + options_.timeout,
                           last_ ? text_of(*last_) : std::string()});
      watched_ = queued_;
    }
  }
  const auto running =
      std::ranges::find_if(watching_, [](const Queued& each) { return !each.event->query(); });
  watching_.erase(watching_.begin(), running);
  if (watching_.empty() || std::chrono::steady_clock::now() < watching_.front().deadline) return {};
  return text("queued work up to ", watching_.front().text, " did not end within ",
              options_.timeout.count() / 1000.0, " s");
}

void Communicator::poll() noexcept {
  if (!is_usable_.load(std::memory_order_acquire) || process_ != process_generation()) return;
  std::string reason;
  try {
    reason = watch();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (reason.empty()) return;
  if (monitor_) monitor_->report(text("rank ", rank(), ": ", reason));
  abort(reason);
}

// Whether work of this communicator may be unfinished.
bool Communicator::has_queued_work() const noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (queued_ != watched_ && queued_on_) {
      auto& stream = static_cast<runtime::StreamState&>(*queued_on_);
      if (!stream.is_captured()) return !stream.query();
    }
    return std::ranges::any_of(watching_, [](const Queued& each) { return !each.event->query(); });
  } catch (const std::exception&) {
    return true;  // an error of the device
  }
}

void Communicator::abort(const std::string& reason) noexcept {
  const bool has_queued = has_queued_work();
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = reason.empty() ? "it was aborted" : reason;
    is_usable_.store(false, std::memory_order_release);
  }
  if (has_queued) runtime::fail_next_wait(engine_->device(), failure());
  if (process_ == process_generation()) engine_->abort();
}

void Communicator::close() noexcept {
  if (!is_usable_.load(std::memory_order_acquire) || process_ != process_generation()) return;
  using Clock = std::chrono::steady_clock;
  try {
    const Clock::time_point deadline = Clock::now() + options_.timeout;
    const auto is_busy = [this] {
      const std::lock_guard lock(mutex_);
      return queued_ != watched_ || !watching_.empty();
    };
    while (is_busy() && Clock::now() < deadline && is_usable_.load()) {
      poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    {
      const std::lock_guard lock(mutex_);
      if (!failure_.empty()) return;
      failure_ = "it is closed";
      is_usable_.store(false, std::memory_order_release);
      watching_.clear();
    }
    engine_->close();
  } catch (const std::exception& error) {
    abort(error.what());
  }
}

}  // namespace spanwise
