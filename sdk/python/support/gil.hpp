// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>

#include "spanwise/bridge.hpp"

/// The state of Python's global interpreter lock (GIL), and Python objects that native code may
/// drop on any thread. GilRelease and GilAcquire, of spanwise/python/binding.hpp, are the only
/// places that release or take the GIL.
namespace spanwise::python {

/// Whether the calling thread holds the GIL. Also true on the thread that finalizes the
/// interpreter; false on every thread after that.
bool holds_gil() noexcept;

/// ObjectBinding::take_lock.
int take_gil() noexcept;

/// References dropped by threads without the GIL (release_with_gil()). The
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

// Python objects that own memory which native code may release on any thread.

/// Drops a reference under the GIL: at once if this thread holds it, else when GilRelease or
/// GilAcquire next takes it on any thread, or in a pending call of the main thread. Never waits for
/// the GIL, so that a caller that holds another lock cannot deadlock. Has no effect once the
/// interpreter has ended.
void release_with_gil(PyObject* object) noexcept;

/// A reference to `object` that native code may hold and drop on any thread. Needs the GIL.
Ref<RefCounted> hold_object(PyObject* object);

/// The same as a ReleaseFn whose context is the object: the release function of python_owner().
void release_object(void* object, void*, std::size_t, StreamUses&) noexcept;

/// python_owner() for the fast path of imports. It also calls release_dropped(), since programs
/// that only exchange arrays might never release the GIL.
inline ForeignOwner quick_owner(PyObject* object) {
  release_dropped();
  return ForeignOwner(&release_object, Py_NewRef(object));
}

}  // namespace spanwise::python
