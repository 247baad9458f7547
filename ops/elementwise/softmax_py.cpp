// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "row_pass/softmax.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {
namespace {

// The logarithm of a variable is a node, whose gradient reads its result alone; the operations of
// softmax become one when a function is compiled (rewrite "softmax").
PyObject* softmax_of_variable(const Variable& x, PyObject* axis, bool is_logarithm) {
  const TensorType& type = x.type();
  if (!is_logarithm || PyIndex_Check(axis) == 0 || type.rank() == 0 || !type.dtype().is_floating())
    Py_RETURN_NONE;
  const int along = Layout::row_major(Shape(type.rank(), 1)).normalise_axis(integer_from(axis));
  return wrap_variable(expression::apply("log_softmax", {x}, {{"axis", std::int64_t{along}}}));
}

// None where the caller computes the operations one by one.
PyObject* softmax(PyObject* x, PyObject* axis, PyObject* is_logarithm) {
  if (is_variable(x))
    return softmax_of_variable(variable_in(x), axis, truth_or(is_logarithm, false));
  if (!is_array(x) || axis == Py_None || array_in(x).rank() == 0) Py_RETURN_NONE;
  const Array array = array_in(x);
  const int along = array.layout().normalise_axis(integer_from(axis));
  const bool wants_logarithm = truth_or(is_logarithm, false);
  std::optional<Array> result =
      without_gil(is_long(array), [&] { return ops::softmax(array, along, wants_logarithm); });
  if (!result) Py_RETURN_NONE;
  return wrap(*std::move(result));
}

PyMethodDef softmax_functions[] = {
    declared<"_softmax(x, axis, is_logarithm)",
             "softmax(x) along an axis, or its logarithm, in one pass; None where there is none.",
             &softmax>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(softmax) { add_functions(module, softmax_functions); }

}  // namespace spanwise::python
