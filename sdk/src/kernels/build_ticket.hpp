// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "kernels/module_builder.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::kernels {

/// The pending result of a module that one thread builds and others wait for.
class BuildTicket {
 public:
  /// Called by the building thread. Rethrows what `make` throws; waiting threads get it too if it
  /// is a spanwise::Error.
  template <class F>
  BuiltModule build(F&& make) {
    try {
      BuiltModule built = make();
      finish(built.module, nullptr);
      return built;
    } catch (const Error&) {
      finish(nullptr, std::current_exception());
      throw;
    } catch (...) {
      finish(nullptr, nullptr);
      throw;
    }
  }

  /// Waits for the module. Returns null where the build failed with another exception, such as an
  /// interrupt of the building thread, which does not concern the waiting ones. Throws the build's
  /// Error, and what check_interrupt() throws.
  Ref<ModuleState> wait(const InterpreterUnlocked&) {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        finished_.wait_for(lock, std::chrono::milliseconds(interrupt_check_ms),
                           [this] { return is_done_; });
        if (is_done_ && error_) std::rethrow_exception(error_);
        if (is_done_) return module_;
      }
      check_interrupt();
    }
  }

 private:
  void finish(Ref<ModuleState> module, std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      module_ = std::move(module);
      error_ = std::move(error);
      is_done_ = true;
    }
    finished_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_done_ = false;
  Ref<ModuleState> module_;
  std::exception_ptr error_;
};

}  // namespace spanwise::kernels
