// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "../reduction.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>

#include <string>
#include <utility>
#include <vector>

#include "call_arguments_py.hpp"
#include "kernel_type_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/value.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::ReductionAxes;
using ops::user_kernels::ReductionKernel;
using ops::user_kernels::ReductionSpec;
using ReductionSpelling = ops::user_kernels::ParameterStyle;

struct ReductionKeywords {
  PyObject *out = nullptr, *axis = nullptr, *keepdims = nullptr, *stream = nullptr;
};

ReductionKeywords reduction_keywords(const std::string& who, PyObject* names,
                                     PyObject* const* values) {
  ReductionKeywords keywords;
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::string name = py::str(PyTuple_GET_ITEM(names, i));
    if (name == "out") {
      keywords.out = values[i];
    } else if (name == "axis") {
      keywords.axis = values[i];
    } else if (name == "keepdims") {
      keywords.keepdims = values[i];
    } else if (name == "stream") {
      keywords.stream = values[i];
    } else {
      if (name == "range" || name == "slice")
        fail<ArgumentError>(who, ": ", name,
                            "= is not supported; pass slices of the arrays instead, for example "
                            "kernel(x[a:b]), which are views");
      fail<KernelArgumentError>(who, ": unexpected keyword argument '", name,
                                "'; expected out, axis, keepdims or stream, and arguments by "
                                "position");
    }
  }
  return keywords;
}

class ReductionCall {
 public:
  ReductionCall(const ReductionKernel& kernel, PyObject* const* values, std::size_t count,
                const ReductionKeywords& keywords)
      : kernel_(kernel),
        total_(kernel_.parameters().size()),
        arguments_(kernel_.who(), values, count, total_),
        outputs_(kernel_.who(), arguments_, values, count, kernel_.inputs(), total_, keywords.out) {
    read_axes(keywords);
    const StreamForCall stream(keywords.stream, arguments_.device());
    const GilRelease unlocked(is_long_call(arguments_.device(), arguments_.bytes()));
    kernel_({arguments_.data(), total_}, axes_, outputs_.allocated());
  }

  PyObject* result() { return outputs_.result(false); }

 private:
  // Axes refer to the broadcast shape of the inputs.
  void read_axes(const ReductionKeywords& keywords) {
    axes_.keepdims = truth_in(keywords.keepdims, false);
    if (!given(keywords.axis)) return;
    axes_.all = false;
    int rank = 0;
    for (std::size_t i = 0; i < kernel_.inputs(); ++i)
      if (const Array* array = arguments_.data()[i].array;
          array != nullptr &&
          kernel_.parameters()[i].kind == ops::user_kernels::Parameter::Kind::element)
        rank = std::max(rank, array->rank());
    const Layout axes = Layout::row_major(Shape(rank, 1));
    const auto add = [&](PyObject* axis) {
      const auto index = static_cast<std::size_t>(axes.normalise_axis(integer_from(axis)));
      if (axes_.axes[index])
        fail<ArgumentError>(kernel_.who(),
                            ": duplicate value in axis: ", std::string(py::repr(keywords.axis)));
      axes_.axes.set(index);
    };
    if (!PyTuple_Check(keywords.axis)) return add(keywords.axis);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords.axis); ++k)
      add(PyTuple_GET_ITEM(keywords.axis, k));
  }

  const ReductionKernel& kernel_;
  std::size_t total_;
  KernelCallArguments arguments_;
  KernelOutputs outputs_;
  ReductionAxes axes_;
};

PyObject* call_reduction(PyObject* object, PyObject* const* values, std::size_t flags,
                         PyObject* names) {
  const ReductionKernel& kernel = *user_kernel_in<ReductionKernel>(object)->kernel;
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  return ReductionCall(kernel, values, count,
                       reduction_keywords(kernel.who(), names, values + count))
      .result();
}

// (pointers, in_params, out_params or the dtype, map, reduce, post_map, identity, reduce_type,
// name, preamble, options), prepared by the Python class.
PyObject* new_reduction(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const auto parts = py::reinterpret_borrow<py::tuple>(arguments);
  if (parts.size() != 11) throw py::type_error("expected the 11 parts of a kernel");
  const auto string_at = [&](std::size_t i) { return value_of<std::string>(parts[i], "kernel"); };
  ReductionSpec spec;
  spec.common = {"ReductionKernel", string_at(8), string_at(9),
                 value_of<std::vector<std::string>>(parts[10], "kernel")};
  const bool is_pointers = value_of<bool>(parts[0], "kernel");
  spec.style = is_pointers ? ReductionSpelling::pointers : ReductionSpelling::values;
  (is_pointers ? spec.arguments : spec.in_params) = string_at(1);
  (is_pointers ? spec.result_type : spec.out_params) = string_at(2);
  spec.map_expr = string_at(3);
  spec.reduce_expr = string_at(4);
  spec.post_map_expr = string_at(5);
  spec.identity = string_at(6);
  spec.reduce_type = string_at(7);
  return new_user_kernel(type, arguments, make_ref<ReductionKernel>(std::move(spec)),
                         guarded<&call_reduction>);
}

}  // namespace

SW_BIND(user_reduction) {
  add_user_kernel_type<ReductionKernel>(module, "_ReductionKernel",
                                        "spanwise._core._ReductionKernel", guarded<&new_reduction>);
}

}  // namespace spanwise::python
