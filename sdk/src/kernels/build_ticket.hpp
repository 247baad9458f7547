// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>

#include "kernels/module_builder.hpp"
#include "spanwise/interpreter_lock.hpp"

namespace spanwise::kernels {

/// A module that one thread builds and others wait for.
class BuildTicket {
 public:
  /// In the thread that builds. Throws what `make` does, as wait() in the other threads.
  template <class F>
  BuiltModule build(F&& make) {
    BuiltModule built;
    std::exception_ptr error;
    try {
      built = make();
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      module_ = built.module;
      error_ = error;
      is_done_ = true;
    }
    finished_.notify_all();
    if (error) std::rethrow_exception(error);
    return built;
  }

  Ref<ModuleState> wait(const InterpreterUnlocked&) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return is_done_; });
    if (error_) std::rethrow_exception(error_);
    return module_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_done_ = false;
  Ref<ModuleState> module_;
  std::exception_ptr error_;
};

}  // namespace spanwise::kernels
