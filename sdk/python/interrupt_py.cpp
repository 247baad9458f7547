// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/interrupt.hpp"

#include <pybind11/pybind11.h>
#include <unistd.h>

#include "spanwise/python/binding.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// Runs pending Python signal handlers, which Python does on the main thread only; has no effect on
// other threads.
void run_signal_handlers() {
  if (::gettid() != ::getpid() || Py_IsInitialized() == 0) return;
  const GilAcquire locked;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

SW_BIND(interrupt) { set_interrupt_check(&run_signal_handlers); }

}  // namespace spanwise::python
