// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <atomic>

/// The state of Python's global interpreter lock (GIL). GilRelease and GilAcquire, of
/// spanwise/python/binding.hpp, are the only places that release or take it.
namespace spanwise::python {

/// Whether the calling thread holds the GIL. Also true on the thread that finalizes the
/// interpreter; false on every thread after that.
bool holds_gil() noexcept;

/// ObjectBinding::take_lock.
int take_gil() noexcept;

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

}  // namespace spanwise::python
