// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apply.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "python/interop/convert.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/snapshot.hpp"
#include "python/support/value.hpp"
#include "python_op.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk.hpp"

/// The implementation of spanwise.graph.kernel_op(), after it has normalised its arguments.
namespace spanwise::python {

namespace py = pybind11;
using namespace py::literals;

namespace {

// A Python number as a Scalar of the same kind; the launch converts it to the parameter's type.
Scalar scalar_from_number(const std::string& op, const std::string& name, py::handle value) {
  if (PyBool_Check(value.ptr())) return Scalar(value.cast<bool>());
  if (PyLong_Check(value.ptr())) return Scalar(value_of<std::int64_t>(value, name.c_str()));
  if (PyFloat_CheckExact(value.ptr())) return Scalar(value.cast<double>());
  if (PyComplex_CheckExact(value.ptr())) return Scalar(value.cast<std::complex<double>>());
  const Array array = import_array(value.ptr());
  if (array.size() != 1)
    fail<ArgumentError>("kernel_op ", op, ": scalar ", name,
                        ": expected a number, got an array of shape ", array.shape());
  return item(array);
}

KernelOpSpec spec_from(const py::dict& declaration) {
  const auto strings = [&](const char* key) {
    return value_of<std::vector<std::string>>(declaration[key], key);
  };
  KernelOpSpec spec;
  const auto string = [&](const char* key) { return value_of<std::string>(declaration[key], key); };
  spec.name = string("name");
  spec.source = string("source");
  spec.kernel = string("kernel");
  spec.inputs = strings("inputs");
  spec.outputs = strings("outputs");
  spec.arguments = strings("arguments");
  spec.block = strings("block");
  spec.grid = strings("grid");
  spec.shared = string("shared");
  for (const auto& [name, value] : entries_of(py::object(declaration["scalars"]).ptr())) {
    const auto key = value_of<std::string>(name, "scalars");
    spec.scalars.emplace(key, scalar_from_number(spec.name, key, value));
  }
  if (declaration.contains("overwrites"))  // absent in pickles of earlier versions
    spec.overwrites =
        value_of<std::map<std::string, std::string>>(declaration["overwrites"], "overwrites");
  spec.options.options = strings("options");
  spec.options.include_dirs = strings("include_dirs");
  spec.gradient = gradient_rule(declaration);
  return spec;
}

py::list counts() {
  py::list all;
  for (const KernelOpCounts& counts : kernel_op_counts())
    all.append(py::dict("name"_a = counts.name, "shared"_a = counts.shared,
                        "copied"_a = counts.copied, "bytes_copied"_a = counts.bytes_copied));
  return all;
}

}  // namespace

SW_BIND(graph_kernel_op) {
  module.def("_kernel_op", [](const py::dict& declaration) {
    const Ref<const Op> op = kernel_op(spec_from(declaration));
    op->attachment() = std::make_shared<SharedObject>(share_object(declaration));
    return op_object(op);
  });
  module.def("_kernel_op_counts", &counts);
}

}  // namespace spanwise::python
