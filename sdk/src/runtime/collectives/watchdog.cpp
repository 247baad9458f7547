// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <thread>

#include "runtime/collectives/pending.hpp"
#include "spanwise/runtime/communicator.hpp"

// The end of a communicator: time limits of queued work, errors of the engine, closing.
namespace spanwise {

// The calling thread records the event: recording waits while the GPU's queue of work is full,
// and the watchdog must not wait. A rank alone needs no time limit, so only its stream is kept.
void Communicator::note_queued(const Stream& stream) {
  auto& state = static_cast<runtime::StreamState&>(stream.identity());
  if (size() == 1) {
    const std::lock_guard lock(mutex_);
    if (queued_on_.get() != &state) queued_on_ = Ref<StreamIdentity>(&state);
    return;
  }
  if (state.is_captured()) return;
  Queued call{.event = state.record(false)};
  const std::lock_guard lock(mutex_);
  if (watching_.empty() || watching_.back().is_seen())
    watching_.push_back(std::move(call));
  else
    std::swap(watching_.back(), call);
}

// Why the communicator must be aborted now; "" if it need not be.
std::string Communicator::watch() {
  std::string reason = engine_->poll();
  if (!reason.empty()) return reason;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  const auto running =
      std::ranges::find_if(watching_, [](const Queued& each) { return !each.event->query(); });
  watching_.erase(watching_.begin(), running);
  if (watching_.empty()) return {};
  if (Queued& newest = watching_.back(); !newest.is_seen()) {
    newest.deadline = now + options_.timeout;
    newest.text = last_ ? text_of(*last_) : std::string();
  }
  if (now < watching_.front().deadline) return {};
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

// Whether work of this communicator may be unfinished. Throws the errors of the device.
bool Communicator::is_busy() const {
  const std::lock_guard lock(mutex_);
  if (queued_on_) {
    auto& stream = static_cast<runtime::StreamState&>(*queued_on_);
    return !stream.is_captured() && !stream.query();
  }
  return std::ranges::any_of(watching_, [](const Queued& each) { return !each.event->query(); });
}

bool Communicator::may_be_busy() const noexcept {
  try {
    return is_busy();
  } catch (const std::exception&) {
    return true;
  }
}

void Communicator::abort(const std::string& reason) noexcept {
  const bool has_queued = may_be_busy();
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = reason.empty() ? "it was aborted" : reason;
    is_usable_.store(false, std::memory_order_release);
  }
  if (has_queued) fail_next_wait(engine_->device(), failure());
  if (process_ == process_generation()) engine_->abort();
}

void Communicator::close() noexcept {
  if (!is_usable_.load(std::memory_order_acquire) || process_ != process_generation()) return;
  using Clock = std::chrono::steady_clock;
  try {
    const Clock::time_point deadline = Clock::now() + options_.timeout;
    while (is_busy() && Clock::now() < deadline && is_usable_.load()) {
      poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (is_usable_.load() && is_busy())
      return abort(text("closing: queued work did not end within ",
                        options_.timeout.count() / 1000.0, " s"));
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
