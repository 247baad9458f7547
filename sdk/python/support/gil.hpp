// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <atomic>

/// The only places that release or take Python's global interpreter lock. Both classes may be used
/// in threads that outlive the interpreter: where CPython before 3.14 ends a daemon thread by
/// pthread_exit() when it asks for the lock after the interpreter has begun to end, the thread
/// stops for good instead (gil.cpp), with all that it holds left as it is.
namespace spanwise::python {

/// Whether the calling thread holds the GIL and so may use Python objects. True also while the
/// interpreter shuts down, on the thread that does it; false on every thread once it has ended.
bool holds_gil() noexcept;

/// Objects that were dropped in threads without the GIL (release_with_gil() of
/// interop/lifetime.hpp). The next thread that takes the GIL releases them, because the main
/// thread, which is asked to as well, may be waiting for the thread that dropped them.
struct Dropped;
extern std::atomic<Dropped*> dropped;
/// Needs the GIL.
void release_all_dropped() noexcept;
inline void release_dropped() noexcept {
  if (dropped.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    release_all_dropped();
}

/// Releases the GIL for the lifetime of this object. The calling thread holds it.
class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  /// Does nothing where `wanted` is false.
  explicit GilRelease(bool wanted) noexcept : state_(wanted ? PyEval_SaveThread() : nullptr) {}
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

/// Holds the GIL for the lifetime of this object, in any thread, whether it held it before or not.
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
