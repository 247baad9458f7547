// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "reduce_call_py.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/scalar.hpp"
#include "reduce_op.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;
using ops::reduce::AxisSet;
using ops::reduce::Operation;
using ops::reduce::Options;

namespace {

// None means all axes. For rank 0, axis 0 and -1 are accepted, as in NumPy.
template <class Normalise>
AxisSet reduce_axes_in(int rank, PyObject* axis, Normalise&& normalise) {
  AxisSet axes;
  if (!given(axis)) {
    for (int i = 0; i < rank; ++i) axes.set(static_cast<std::size_t>(i));
    return axes;
  }
  if (!PyTuple_Check(axis)) {
    const std::int64_t number = integer_from(axis);
    if (rank > 0 || number < -1 || number > 0)
      axes.set(static_cast<std::size_t>(normalise(number)));
    return axes;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axis); ++i) {
    const int index = normalise(integer_from(PyTuple_GET_ITEM(axis, i)));
    if (axes[static_cast<std::size_t>(index)])
      fail<ArgumentError>("duplicate value in 'axis': ", std::string(py::repr(axis)));
    axes.set(static_cast<std::size_t>(index));
  }
  return axes;
}

// Lists and masks of rank 0 are copied to the array's device.
std::optional<Array> reduce_mask(PyObject* where, Device device) {
  if (!given(where) || where == Py_True) return {};
  if (where == Py_False) return full(Shape{}, Scalar(false), bool_, device);
  Array mask = reduce_input(where);
  if (PyList_Check(where) || mask.rank() == 0) mask = to_device(mask, device);
  return mask;
}

Scalar reduce_initial_in(PyObject* initial, DType dtype) {
  if (is_python_scalar(initial)) return scalar_from(initial, dtype);
  return item(reduce_input(initial)).cast(dtype);
}

double reduce_correction_in(const ReduceCall& call) {
  PyObject* number = given(call.correction) ? call.correction : call.ddof;
  if (given(call.correction) && given(call.ddof) && PyObject_IsTrue(call.ddof) == 1)
    throw py::value_error("ddof and correction can't be provided simultaneously");
  if (!given(number)) return 0;
  const double value = PyFloat_AsDouble(number);
  if (value == -1.0 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

// The options that arrays and variables have in common.
template <class Normalise>
Options read_options(const ReduceCall& call, int rank, Normalise&& normalise) {
  return {.axes = reduce_axes_in(rank, call.axis, normalise),
          .keepdims = truth_or(call.keepdims, false),
          .dtype = given(call.dtype) ? std::optional(dtype_from(call.dtype)) : std::nullopt};
}

}  // namespace

Array reduce_input(PyObject* object) {
  return is_array(object) ? array_in(object) : import_array(object);
}

std::optional<Array> reduce_out(PyObject* out) {
  if (!given(out)) return {};
  return writable_array(out);
}

Array reduced(Operation op, const ReduceCall& call, const Array& array,
              const std::optional<Array>& out) {
  Options options = read_options(
      call, array.rank(), [&](std::int64_t axis) { return array.layout().normalise_axis(axis); });
  if (out) options.out = &*out;
  if (given(call.initial))
    options.initial = reduce_initial_in(
        call.initial, ops::reduce::result_dtype(op, array.dtype(), options.dtype));
  const std::optional<Array> mask = reduce_mask(call.where, array.device());
  if (mask) options.where = &*mask;
  std::optional<Array> mean;
  if (given(call.mean)) options.mean = &mean.emplace(reduce_input(call.mean));
  options.correction = reduce_correction_in(call);
  const GilRelease unlocked(is_long(array.device(), array.nbytes()));
  return ops::reduce::reduce(op, array, options);
}

// ---- variables of graphs

PyObject* reduce_variable(Operation op, const ReduceCall& call) {
  const char* caller = ops::reduce::name_of(op);
  const bool has_mask = given(call.where) && call.where != Py_True;
  if (given(call.out) || given(call.initial) || has_mask || given(call.mean))
    fail<GraphError>(caller,
                     ": out=, initial=, where= and mean= are for arrays; of a variable "
                     "choose elements by T.where()");
  const Variable& variable = variable_in(call.array);
  const int rank = variable.type().rank();
  Options options =
      read_options(call, rank, [&](std::int64_t axis) { return variable_axis(variable, axis); });
  options.correction = reduce_correction_in(call);
  const OpProperties properties = ops::reduce::properties_for(op, rank, options);
  return wrap_variable(apply_op(caller, properties, std::span(&variable, 1)));
}

PyObject* scan_variable(const char* caller, const Variable& input, PyObject* axis, PyObject* dtype,
                        PyObject* out) {
  if (given(out)) fail<GraphError>(caller, ": out= is for arrays; a variable has no memory yet");
  Variable variable = input;
  const bool flattens = !given(axis) || variable.type().rank() == 0;
  const int along = flattens ? 0 : variable_axis(variable, integer_from(axis));
  if (flattens && variable.type().rank() != 1)
    variable =
        apply_op("reshape", {{"shape", std::vector<std::int64_t>{-1}}}, std::span(&variable, 1));
  OpProperties properties{{"axis", std::vector<std::int64_t>{along}}};
  if (given(dtype)) properties.emplace("dtype", text(dtype_from(dtype)));
  return wrap_variable(apply_op(caller, properties, std::span(&variable, 1)));
}

PyObject* reduce_call(Operation op, const ReduceCall& call) {
  if (is_variable(call.array)) return reduce_variable(op, call);
  const Array array = reduce_input(call.array);
  const std::optional<Array> out = reduce_out(call.out);
  Array result = reduced(op, call, array, out);
  return out ? Py_NewRef(call.out) : wrap(std::move(result));
}

}  // namespace spanwise::python
