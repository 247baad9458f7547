// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

// PyObject: this header is usable without Python's.
struct _object;  // NOLINT(bugprone-reserved-identifier): CPython's name

namespace spanwise {

struct ImportOptions;

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

/// How the language binding holds, makes and reads objects: for extension modules other than its
/// own, which use it through spanwise/python/. All functions but `release` and `take_lock` need the
/// interpreter's lock. References that are returned are new; null, or an exception, means that the
/// interpreter's error is set.
struct ObjectBinding {
  /// Drops a reference to the object that is passed as `context`, on any thread, without waiting
  /// for the interpreter's lock.
  ReleaseFn release;
  _object* (*wrap)(const Array& array) noexcept;
  /// The array in an object of the binding's own type; null for other objects.
  const Array* (*array_in)(_object* object) noexcept;
  Array (*import)(_object* object, const ImportOptions& options);
  /// See python::OutputArray.
  Array (*import_output)(_object* object, std::string_view caller, std::string_view argument);
  DType (*dtype_from)(_object* object);
  _object* (*dtype_object)(DType dtype);
  Device (*device_from)(_object* object);
  _object* (*device_object)(Device device);
  Shape (*shape_from)(_object* object);
  _object* (*shape_object)(const Shape& shape);
  /// Acquires the interpreter's lock on any thread, also one that holds it, and returns CPython's
  /// PyGILState_STATE. Once the interpreter has begun to end, other threads wait here forever.
  int (*take_lock)() noexcept;
  /// Drops the references that threads without the lock have passed to `release`.
  void (*release_dropped)() noexcept;
  /// Sets the interpreter's error for the C++ exception that is being handled.
  void (*raise_current)() noexcept;
};
/// Called by the language binding. `binding` must live as long as the process.
SW_API void set_object_binding(const ObjectBinding& binding) noexcept;
/// Throws BridgeError before the binding is loaded (`import spanwise`).
SW_API const ObjectBinding& object_binding();

}  // namespace spanwise
