// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <atomic>
#include <utility>

/// The only places that release or take Python's global interpreter lock (GIL). Both classes may be
/// used in threads that outlive the interpreter. CPython before 3.14 ends a daemon thread by
/// pthread_exit() if it takes the GIL while the interpreter is finalizing; gil.cpp blocks the
/// thread forever instead, without unwinding its stack.
namespace spanwise::python {

/// Whether the calling thread holds the GIL. Also true on the thread that finalizes the
/// interpreter; false on every thread after that.
bool holds_gil() noexcept;

/// References dropped by threads without the GIL (release_with_gil() of interop/lifetime.hpp). The
/// next GilRelease or GilAcquire that takes the GIL releases them, or a pending call of the main
/// thread. The pending call alone could deadlock: the main thread may wait for the thread that
/// dropped them.
struct DroppedReference;
extern std::atomic<DroppedReference*> dropped_references;
/// Needs the GIL.
void release_all_dropped() noexcept;
inline void release_dropped() noexcept {
  if (dropped_references.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    release_all_dropped();
}

/// Releases the GIL for the lifetime of this object. The calling thread must hold it.
class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  /// Has no effect if `condition` is false.
  explicit GilRelease(bool condition) noexcept
      : state_(condition ? PyEval_SaveThread() : nullptr) {}
  ~GilRelease() {
    if (state_ == nullptr) return;
    PyEval_RestoreThread(state_);
    release_dropped();
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// f() without the GIL.
template <class F>
auto without_gil(F&& f) {
  const GilRelease unlocked;
  return std::forward<F>(f)();
}

/// f(), without the GIL if `condition`.
template <class F>
auto without_gil(bool condition, F&& f) {
  const GilRelease unlocked(condition);
  return std::forward<F>(f)();
}

/// Holds the GIL for the lifetime of this object. Any thread, also one that holds it already.
class GilAcquire {
 public:
  GilAcquire() noexcept;
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace spanwise::python
