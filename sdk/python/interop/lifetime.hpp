// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>

#include "python/support/gil.hpp"
#include "spanwise/bridge.hpp"

/// Python objects that own memory which native code may release on any thread.
namespace spanwise::python {

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
