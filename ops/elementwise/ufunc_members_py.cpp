// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <vector>

#include "compute.hpp"
#include "python/array/index.hpp"
#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "python/support/number_kind.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"
#include "ufunc_py.hpp"

namespace spanwise::python {

namespace py = pybind11;

using ops::OpId;
using ops::OpTraits;
using ops::traits_of;

namespace {

// The dtype of the computation on an array of dtype `target` and `value`, which is a Python number
// or has been imported as `array`.
DType accumulating_dtype(OpId op, DType target, PyObject* value, const Array* array) {
  const char* name = traits_of(op).name;
  DType compute = target;
  if (array != nullptr)
    compute = promote(target, array->dtype());
  else if (PyComplex_Check(value))
    compute = target.is_complex() ? target : complex128;
  else if (PyFloat_Check(value))
    compute = target.is_complex() || target.is_floating() ? target : float64;
  else if (!PyBool_Check(value) && target.is_bool())
    compute = int64;
  if (!can_cast(compute, target, Casting::same_kind))
    fail<DTypeError>(name, ".at: cannot cast the result from ", compute, " to ", target,
                     " under casting=\"same_kind\"; cast the values: b.astype(\"", target, "\")");
  const DType operands[] = {compute, compute};
  (void)ops::resolve(op, operands);  // throws DTypeError for dtypes without the operation
  return compute;
}

// NumPy's type characters; E is bfloat16 of ml_dtypes.
constexpr const char* type_characters = "?bBhHiIlLeEfdFD";

char type_character(DType dtype) { return type_characters[ops::dtype_index(dtype)]; }

}  // namespace

void accumulate_at(OpId op, PyObject* target, PyObject* key, PyObject* value) {
  const char* name = traits_of(op).name;
  if (is_variable(target))
    fail<GraphError>(name, ".at: a variable has no memory yet; use tensor.inc_subtensor(x[i], y)");
  const Array array = writable_array(target);
  const py::object operand = is_weak_number(value) ? py::reinterpret_borrow<py::object>(value)
                                                   : object_of(import_array(value));
  const Array* values = is_array(operand.ptr()) ? &array_in(operand.ptr()) : nullptr;
  const DType computed = accumulating_dtype(op, array.dtype(), value, values);
  // Values of a wider dtype are not rounded before the operation.
  const bool is_wider = computed != array.dtype();
  const py::object accumulator = object_of(is_wider ? astype(array, computed) : array);
  array_indexing.accumulate(name, accumulator.ptr(), key, operand.ptr());
  if (is_wider) copy(array_in(accumulator.ptr()), array);
}

py::list types_of(OpId op) {
  const OpTraits& traits = traits_of(op);
  py::list types;
  // All dtypes convert to bool, and operations with keeps_integers accept integers.
  unsigned dtypes = traits.has(ops::boolean_inputs) ? ops::any_dtype : traits.dtypes;
  if (traits.has(ops::keeps_integers)) dtypes |= ops::booleans | ops::integers;
  if (traits.has(ops::no_bool)) dtypes &= ~unsigned{ops::booleans};
  for (int index = 0; index < ops::dtype_count; ++index) {
    if ((dtypes >> index & 1u) == 0) continue;
    const DType dtype = ops::dtypes_in_order[index];
    const std::vector<DType> operands(static_cast<std::size_t>(traits.inputs), dtype);
    const ops::OpSignature signature = ops::resolve(op, operands);
    std::string entry(operands.size(), type_character(dtype));
    if (traits.has(ops::first_is_condition)) entry[0] = '?';
    types.append(entry + "->" + type_character(signature.result));
  }
  return types;
}

py::object identity_of(OpId op) {
  switch (op) {
    case OpId::add:
    case OpId::bitwise_or:
    case OpId::bitwise_xor:
    case OpId::hypot:
      return py::int_(0);
    case OpId::logical_or:
    case OpId::logical_xor:
      return py::bool_(false);
    case OpId::multiply:
      return py::int_(1);
    case OpId::logical_and:
      return py::bool_(true);
    case OpId::bitwise_and:
      return py::int_(-1);
    case OpId::logaddexp:
    case OpId::logaddexp2:
      return py::float_(-HUGE_VAL);
    default:
      return py::none();
  }
}

}  // namespace spanwise::python
