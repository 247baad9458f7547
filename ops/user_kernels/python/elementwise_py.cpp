// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <optional>
#include <utility>

#include "../elementwise.hpp"
#include "call_arguments_py.hpp"
#include "kernel_type_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::ElementwiseKernel;
using ops::user_kernels::ElementwiseSpec;
using ops::user_kernels::ParameterStyle;

PyObject* call_elementwise(PyObject* object, PyObject* const* values, std::size_t flags,
                           PyObject* names) {
  const auto& self = *user_kernel_in<ElementwiseKernel>(object);
  const ElementwiseKernel& kernel = *self.kernel;
  // block_size is a hint for CuPy.
  UserKernelCall call(kernel, {"size", "stream", "out", "block_size"}, values, flags, names);
  std::optional<std::int64_t> size;
  if (given(call.keywords.size)) size = integer_from(call.keywords.size);
  call.run(kernel, size);
  if (kernel.inputs() == call.total || self.returns_nothing) Py_RETURN_NONE;
  return call.outputs.result(self.returns_tuple);
}

// (pointers, in_params, out_params, operation, name, preamble, loop_prep, after_loop, options,
// returns_tuple, returns_nothing), prepared by the Python class.
PyObject* new_elementwise(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const ConstructorArguments values(arguments, 11);
  ElementwiseSpec spec;
  spec.common = values.common("ElementwiseKernel", 4, 5, 8);
  spec.style = values.flag(0) ? ParameterStyle::pointers : ParameterStyle::values;
  (spec.style == ParameterStyle::pointers ? spec.arguments : spec.in_params) = values.string(1);
  spec.out_params = values.string(2);
  spec.operation = values.string(3);
  spec.loop_prep = values.string(6);
  spec.after_loop = values.string(7);
  return new_user_kernel(type, arguments, make_ref<ElementwiseKernel>(std::move(spec)),
                         guarded<&call_elementwise>, values.flag(9), values.flag(10));
}

}  // namespace

SW_BIND(user_elementwise) {
  add_user_kernel_type<ElementwiseKernel>(
      module, "_ElementwiseKernel", "spanwise._core._ElementwiseKernel", guarded<&new_elementwise>);
}

}  // namespace spanwise::python
