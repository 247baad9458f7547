// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/export.hpp"
#include "spanwise/core/storage.hpp"

// PyObject: this header is usable without Python's.
struct _object;  // NOLINT(bugprone-reserved-identifier): CPython's name

namespace spanwise {

class Array;

/// Functions that release and acquire the lock of an embedded interpreter (Python's GIL).
struct InterpreterLock {
  /// Releases the lock if the calling thread holds it and returns a non-null state; else returns
  /// null.
  void* (*release)() noexcept;
  /// Acquires the lock again with the state that release() returned (not null).
  void (*acquire)(void* released) noexcept;
};

/// Registers the lock; called by the language binding. `lock` must outlive the process's threads.
SW_API void set_interpreter_lock(const InterpreterLock& lock) noexcept;

/// Releases the interpreter's lock for the lifetime of the object, if the calling thread holds it.
/// Functions that wait for a thread which may need the lock take one as an argument, so that they
/// cannot be called without it. Costs a few nanoseconds where the lock is not held, and nothing
/// without an interpreter.
class SW_API InterpreterUnlocked {
 public:
  InterpreterUnlocked() noexcept;
  ~InterpreterUnlocked();
  InterpreterUnlocked(const InterpreterUnlocked&) = delete;
  InterpreterUnlocked& operator=(const InterpreterUnlocked&) = delete;

 private:
  void* released_;
};

/// How the language binding holds and makes objects, for bridges in separate extension modules
/// (spanwise/python/objects.hpp).
struct ObjectBinding {
  /// Drops a reference to the object that is passed as `context`, on any thread, without waiting
  /// for the interpreter's lock.
  ReleaseFn release;
  /// Makes an object of the binding from `array` and returns a new reference; null with the
  /// interpreter's error set.
  _object* (*wrap)(const Array& array) noexcept;
};
/// Called by the language binding. `binding` must live as long as the process.
SW_API void set_object_binding(const ObjectBinding& binding) noexcept;
/// Throws BridgeError before the binding is loaded (`import spanwise`).
SW_API const ObjectBinding& object_binding();

}  // namespace spanwise
