// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "../scan.hpp"

#include <pybind11/pybind11.h>

#include <utility>

#include "call_arguments_py.hpp"
#include "kernel_type_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::ScanKernel;
using ops::user_kernels::ScanSpec;

// As in PyCUDA: without an output the scan is in place; output="new" allocates one.
PyObject* run_scan(const ScanKernel& kernel, PyObject* const* values, Py_ssize_t count,
                   PyObject* names) {
  static constexpr CallSignature<5> signature{
      "ScanKernel", {"input", "output", "allocator", "stream", "axis"}, 1, 4};
  const auto [input, output, allocator, stream, axis] = signature.read(values, count, names);
  if (given(allocator))
    fail<ArgumentError>(kernel.label(), ": allocator= is not supported; pass the output instead");
  const bool is_new = given(output) && PyUnicode_Check(output) &&
                      PyUnicode_CompareWithASCIIString(output, "new") == 0;
  const bool is_in_place = !given(output);
  const Array source = is_in_place ? writable_array(input) : import_array(input);
  if (source.rank() != 1 && !given(axis))
    fail<LayoutError>(kernel.label(), ": expected one axis, got ", source,
                      "; give it with axis=, or pass x.reshape(-1)");
  const auto guard = stream_guard(stream, runs_on_host(source.device()) ? cpu : source.device());
  const Array target = is_new        ? empty(source.shape(), source.dtype(), source.device())
                       : is_in_place ? source
                                     : writable_array(output);
  const int along = static_cast<int>(integer_or(axis, 0));
  without_gil(is_long_call(source.device(), source.nbytes()),
              [&] { kernel(source, target, along); });
  return is_new ? wrap(target) : Py_NewRef(is_in_place ? input : output);
}

PyObject* call_scan(PyObject* object, PyObject* const* values, std::size_t flags, PyObject* names) {
  return run_scan(*user_kernel_in<ScanKernel>(object)->kernel, values, PyVectorcall_NARGS(flags),
                  names);
}

// (type, scan_expr, neutral, exclusive, name, preamble, options), prepared by the Python class.
PyObject* new_scan(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const ConstructorArguments values(arguments, 7);
  ScanSpec spec;
  spec.common = values.common("ScanKernel", 4, 5, 6);
  spec.type = values.string(0);
  spec.scan_expr = values.string(1);
  spec.neutral = values.string(2);
  spec.is_exclusive = values.flag(3);
  return new_user_kernel(type, arguments, make_ref<ScanKernel>(std::move(spec)),
                         guarded<&call_scan>);
}

}  // namespace

SW_BIND(user_scan) {
  add_user_kernel_type<ScanKernel>(module, "_ScanKernel", "spanwise._core._ScanKernel",
                                   guarded<&new_scan>);
}

}  // namespace spanwise::python
