// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "../reduction.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <utility>

#include "call_arguments_py.hpp"
#include "kernel_type_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::ParameterStyle;
using ops::user_kernels::ReductionAxes;
using ops::user_kernels::ReductionKernel;
using ops::user_kernels::ReductionSpec;

// Axes refer to the broadcast shape of the inputs.
ReductionAxes reduction_axes(const ReductionKernel& kernel, const KernelCallArguments& arguments,
                             const KernelKeywords& keywords) {
  ReductionAxes axes;
  axes.keepdims = truth_or(keywords.keepdims, false);
  if (!given(keywords.axis)) return axes;
  axes.all = false;
  int rank = 0;
  for (std::size_t i = 0; i < kernel.inputs(); ++i)
    if (const Array* array = arguments.data()[i].array;
        array != nullptr &&
        kernel.parameters()[i].kind == ops::user_kernels::Parameter::Kind::element)
      rank = std::max(rank, array->rank());
  const Layout all = Layout::row_major(Shape(rank, 1));
  const auto add = [&](PyObject* axis) {
    const auto index = static_cast<std::size_t>(all.normalise_axis(integer_from(axis)));
    if (axes.axes[index])
      fail<ArgumentError>(kernel.label(),
                          ": duplicate value in axis: ", std::string(py::repr(keywords.axis)));
    axes.axes.set(index);
  };
  if (!PyTuple_Check(keywords.axis)) {
    add(keywords.axis);
    return axes;
  }
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords.axis); ++k)
    add(PyTuple_GET_ITEM(keywords.axis, k));
  return axes;
}

PyObject* call_reduction(PyObject* object, PyObject* const* values, std::size_t flags,
                         PyObject* names) {
  const ReductionKernel& kernel = *user_kernel_in<ReductionKernel>(object)->kernel;
  UserKernelCall call(kernel, {"out", "axis", "keepdims", "stream"}, values, flags, names);
  call.run(kernel, reduction_axes(kernel, call.arguments, call.keywords));
  return call.outputs.result(false);
}

// (pointers, in_params, out_params or the dtype, map, reduce, post_map, identity, reduce_type,
// name, preamble, options), prepared by the Python class.
PyObject* new_reduction(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const ConstructorArguments values(arguments, 11);
  ReductionSpec spec;
  spec.common = values.common("ReductionKernel", 8, 9, 10);
  const bool is_pointers = values.flag(0);
  spec.style = is_pointers ? ParameterStyle::pointers : ParameterStyle::values;
  (is_pointers ? spec.arguments : spec.in_params) = values.string(1);
  (is_pointers ? spec.result_type : spec.out_params) = values.string(2);
  spec.map_expr = values.string(3);
  spec.reduce_expr = values.string(4);
  spec.post_map_expr = values.string(5);
  spec.identity = values.string(6);
  spec.reduce_type = values.string(7);
  return new_user_kernel(type, arguments, make_ref<ReductionKernel>(std::move(spec)),
                         guarded<&call_reduction>);
}

}  // namespace

SW_BIND(user_reduction) {
  add_user_kernel_type<ReductionKernel>(module, "_ReductionKernel",
                                        "spanwise._core._ReductionKernel", guarded<&new_reduction>);
}

}  // namespace spanwise::python
