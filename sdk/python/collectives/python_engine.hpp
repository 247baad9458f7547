// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/runtime/communicator.hpp"

/// Engines and monitors of communicators that are Python objects.
namespace spanwise::python {

/// An engine of the CPU that calls `object`: name, run(calls), abort(), close(). run() gets a list
/// of (operation, reduction, peer, source or None, target or None), with names and arrays, and
/// returns when the calls are complete. Needs the GIL.
Ref<CommunicatorEngine> engine_from(pybind11::object object);

/// A monitor that calls `object`: agree(items, number, op) with (key, ranks, text) as items,
/// report(error), last_calls(). None gives null. Needs the GIL.
Ref<CommunicatorMonitor> monitor_from(pybind11::object object);

}  // namespace spanwise::python
