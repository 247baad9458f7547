// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/tools.hpp"
#include "spanwise/core/version.hpp"

/// The functions for `python -m spanwise doctor`.
namespace spanwise::python {

namespace py = pybind11;

SW_BIND(doctor) {
  py::class_<Tool> type(module, "_Tool", "A compiler or library of this machine.");
  type.def_readonly("name", &Tool::name);
  type.def_readonly("version", &Tool::version);
  type.def_readonly("path", &Tool::path);
  type.def_readonly("missing", &Tool::missing);
  module.def("_tools", &tools, py::call_guard<GilRelease>());
  module.attr("__version__") = version();
}

}  // namespace spanwise::python
