// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/export.hpp"

namespace spanwise {

/// The lock of an interpreter that the process runs (Python's GIL), as the library sees it.
struct InterpreterLock {
  /// Releases the lock where the calling thread holds it; null where it does not.
  void* (*release)() noexcept;
  /// Takes the lock again, with what release() returned (not null).
  void (*acquire)(void* released) noexcept;
};

/// For the layer that knows the interpreter. `lock` lives as long as the process.
SW_API void set_interpreter_lock(const InterpreterLock& lock) noexcept;

/// While this lives, the calling thread does not hold the interpreter's lock. What waits for a
/// thread that may need the interpreter's lock takes one of these as an argument, so it cannot be
/// called without it. Costs a few nanoseconds where the lock is not held; without an interpreter
/// nothing.
class SW_API InterpreterUnlocked {
 public:
  InterpreterUnlocked() noexcept;
  ~InterpreterUnlocked();
  InterpreterUnlocked(const InterpreterUnlocked&) = delete;
  InterpreterUnlocked& operator=(const InterpreterUnlocked&) = delete;

 private:
  void* released_;
};

}  // namespace spanwise
