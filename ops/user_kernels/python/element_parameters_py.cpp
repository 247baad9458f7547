// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <string>

#include "../parameter.hpp"
#include "python/support/bind.hpp"
#include "spanwise/core/error.hpp"

/// Reads the declaration of an element body.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::Parameter;

// A tuple of name, dtype letter, and dtype or None for each.
py::list described(const std::vector<Parameter>& parameters) {
  py::list all;
  for (const Parameter& parameter : parameters) {
    const py::object dtype =
        parameter.dtype ? py::object(py::str(text(*parameter.dtype))) : py::none();
    all.append(py::make_tuple(parameter.name,
                              parameter.dtype ? std::string() : parameter.type_parameter, dtype));
  }
  return all;
}

// Returns (inputs, outputs, operation).
py::tuple element_parameters(const std::string& label, const std::string& inputs,
                             const std::string& outputs, const std::string& operation,
                             const std::string& preamble) {
  const auto declared =
      ops::user_kernels::element_declaration(label, inputs, outputs, operation, preamble);
  return py::make_tuple(described(declared.inputs), described(declared.outputs),
                        declared.operation);
}

}  // namespace

SW_BIND(element_parameters) { module.def("_element_parameters", &element_parameters); }

}  // namespace spanwise::python
