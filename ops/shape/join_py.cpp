// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "shape_functions.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// concatenate and stack, of arrays and of graph variables.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The items of a Python sequence; TypeError for other objects.
py::tuple sequence_in(PyObject* sequence, const char* caller) {
  try {
    return items_of(sequence);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    throw py::type_error(
        text(caller, ": expected a sequence of arrays, got a ", Py_TYPE(sequence)->tp_name));
  }
}

// The arrays of a list or tuple that holds only Spanwise arrays, the usual case. Reading them runs
// no Python code, so no snapshot of the sequence is needed. Empty if an item is of another type.
std::vector<Array> spanwise_arrays_in(PyObject* sequence) {
  if (!PyList_Check(sequence) && !PyTuple_Check(sequence)) return {};
  const std::span items(PySequence_Fast_ITEMS(sequence),
                        static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence)));
  if (!std::all_of(items.begin(), items.end(), &is_array)) return {};
  std::vector<Array> arrays;
  arrays.reserve(items.size());
  for (PyObject* item : items) arrays.push_back(array_in(item));
  return arrays;
}

// Adds all dtypes to `promotion`, Python numbers as weak scalars.
std::vector<Array> arrays_in(const py::tuple& items, const char* caller,
                             Promotion* promotion = nullptr) {
  const std::size_t size = items.size();
  if (size == 0) fail<ArgumentError>(caller, ": need at least one array to ", caller);
  std::vector<Array> arrays(size);
  const std::span objects(&PyTuple_GET_ITEM(items.ptr(), 0), size);
  import_operands(objects, [&](std::size_t i, const ImportOptions& options) {
    arrays[i] = import_array(objects[i], options);
    if (promotion != nullptr && !promotion->try_add_number(objects[i]))
      promotion->add(arrays[i].dtype());
    return arrays[i].device();
  });
  return arrays;
}

// `promoted`: the dtype of the result if neither out= nor dtype= is given; default: the arrays'
// promoted dtype.
PyObject* join(const std::vector<Array>& arrays, int axis, PyObject* out, PyObject* dtype,
               PyObject* casting, const char* caller, std::optional<DType> promoted = {}) {
  if (given(out) && given(dtype)) {
    throw py::type_error(text(caller,
                              "() only takes `out` or `dtype` as an argument, but both were "
                              "provided"));
  }
  std::optional<DType> requested;
  if (given(dtype)) requested = dtype_from(dtype);
  Array target;
  if (given(out)) {
    target = OutputArray(out, caller);
    requested = target.dtype();
  }
  const DType common = ops::common_dtype(arrays, requested ? requested : promoted);
  if (requested) {
    const std::string rule =
        given(casting) ? value_of<std::string>(casting, "casting") : "same_kind";
    for (const Array& array : arrays) check_casting(array.dtype(), common, rule, caller);
  }
  std::int64_t bytes = 0;
  for (const Array& array : arrays) bytes += array.nbytes();
  if (given(out)) {
    without_gil(is_long(target.device(), bytes),
                [&] { ops::concatenate_into(arrays, axis, target); });
    return Py_NewRef(out);
  }
  return wrap(without_gil(is_long(arrays[0].device(), bytes),
                          [&] { return ops::concatenate(arrays, axis, common); }));
}

// ---- variables of graphs

// The items as variables if any of them is a variable, else an empty list.
std::vector<Variable> variables_in(const py::tuple& items) {
  const std::span values(&PyTuple_GET_ITEM(items.ptr(), 0), items.size());
  if (!std::any_of(values.begin(), values.end(), &is_variable)) return {};
  std::vector<Variable> variables;
  for (PyObject* value : values) variables.push_back(as_variable(value));
  return variables;
}

PyObject* join_variables(const std::vector<Variable>& variables, int axis, PyObject* out,
                         PyObject* dtype, const char* caller) {
  if (given(out)) fail<GraphError>(caller, ": out= is for arrays; a variable has no memory yet");
  const Variable joined = apply_op("concatenate", {{"axis", std::int64_t{axis}}}, variables);
  if (!given(dtype) || dtype_from(dtype) == joined.type().dtype()) return wrap_variable(joined);
  return wrap_variable(
      apply_op("cast", {{"dtype", text(dtype_from(dtype))}}, std::span(&joined, 1)));
}

PyObject* concatenate_variables(std::vector<Variable> variables, PyObject* axis, PyObject* out,
                                PyObject* dtype) {
  if (axis == Py_None) {
    for (Variable& variable : variables)
      variable =
          apply_op("reshape", {{"shape", std::vector<std::int64_t>{-1}}}, std::span(&variable, 1));
    axis = nullptr;
  }
  return join_variables(variables, variable_axis(variables[0], integer_or(axis, 0)), out, dtype,
                        "concatenate");
}

PyObject* stack_variables(std::vector<Variable> variables, PyObject* axis, PyObject* out,
                          PyObject* dtype) {
  const TensorType first = variables[0].type();
  const int position = variable_axis(variables[0], integer_or(axis, 0), 1);
  for (Variable& variable : variables) {
    if (variable.type().rank() != first.rank())
      fail<LayoutError>("stack: expected variables of one rank, got ", first, " and ",
                        variable.type());
    std::vector<std::int64_t> order(static_cast<std::size_t>(variable.type().rank()));
    std::iota(order.begin(), order.end(), 0);
    order.insert(order.begin() + position, -1);
    variable = apply_op("dimshuffle", {{"order", std::move(order)}}, std::span(&variable, 1));
  }
  return join_variables(variables, position, out, dtype, "stack");
}

PyObject* concatenate(PyObject* sequence, PyObject* axis, PyObject* out, PyObject* dtype,
                      PyObject* casting) {
  std::vector<Array> arrays = spanwise_arrays_in(sequence);
  // axis=None accepts numbers, which it flattens, too; along an axis they raise an error below.
  std::optional<Promotion> promotion;
  if (arrays.empty()) {
    const py::tuple items = sequence_in(sequence, "concatenate");
    if (std::vector<Variable> variables = variables_in(items); !variables.empty())
      return concatenate_variables(std::move(variables), axis, out, dtype);
    arrays = arrays_in(items, "concatenate", &promotion.emplace());
  }
  if (axis == Py_None) {
    for (Array& array : arrays) array = reshape(array, {-1});
    const std::optional<DType> promoted =
        promotion ? std::optional(promotion->result()) : std::nullopt;
    return join(arrays, 0, out, dtype, casting, "concatenate", promoted);
  }
  for (const Array& array : arrays)
    if (array.rank() <= 0)
      fail<LayoutError>(
          "concatenate: zero-dimensional arrays cannot be concatenated; give them "
          "an axis: a[None]");
  const int position = arrays[0].layout().normalise_axis(integer_or(axis, 0));
  return join(arrays, position, out, dtype, casting, "concatenate");
}

PyObject* stack(PyObject* sequence, PyObject* axis, PyObject* out, PyObject* dtype,
                PyObject* casting) {
  std::vector<Array> arrays = spanwise_arrays_in(sequence);
  if (arrays.empty()) {
    const py::tuple items = sequence_in(sequence, "stack");
    if (std::vector<Variable> variables = variables_in(items); !variables.empty())
      return stack_variables(std::move(variables), axis, out, dtype);
    arrays = arrays_in(items, "stack");
  }
  const Shape shape = arrays[0].shape();
  for (const Array& array : arrays)
    if (array.shape() != shape)
      fail<LayoutError>("stack: all input arrays must have the same shape, got ", shape, " and ",
                        array.shape());
  const std::int64_t number = integer_or(axis, 0), rank = shape.size() + 1;
  if (number < -rank || number >= rank)
    fail<AxisError>("stack: axis ", number, " is out of bounds for array of dimension ", rank,
                    " (arrays of shape ", shape, ")");
  const int position = static_cast<int>(number < 0 ? number + rank : number);
  for (Array& array : arrays) array = array.expand(position);
  return join(arrays, position, out, dtype, casting, "stack");
}

PyMethodDef join_functions[] = {
    declared<"concatenate(arrays, axis=0, out=None, *, dtype=None, casting='same_kind')",
             "Joins the arrays along an existing axis; axis=None flattens them first.",
             &concatenate>(),
    declared<"stack(arrays, axis=0, out=None, *, dtype=None, casting='same_kind')",
             "Joins the arrays along a new axis.", &stack>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(shape_join) { add_functions(module, join_functions); }

}  // namespace spanwise::python
