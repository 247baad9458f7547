// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "ufunc_parts_py.hpp"

#include "../compute.hpp"
#include "python/array/index.hpp"
#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"
#include "ufunc_py.hpp"

namespace spanwise::python {

namespace py = pybind11;

using ops::facts;
using ops::OpId;

namespace {

// The dtype of the computation for an array of dtype `target` and the value.
DType accumulating_dtype(OpId op, DType target, PyObject* value, const Array* array) {
  const char* name = facts(op).name;
  DType wanted = target;
  if (array != nullptr)
    wanted = promote(target, array->dtype());
  else if (PyComplex_Check(value))
    wanted = target.is_complex() ? target : complex128;
  else if (PyFloat_Check(value))
    wanted = target.is_complex() || target.is_floating() ? target : float64;
  else if (!PyBool_Check(value) && target.is_bool())
    wanted = int64;
  if (!can_cast(wanted, target, Casting::same_kind))
    fail<DTypeError>(name, ".at: cannot cast the result from ", wanted, " to ", target,
                     " under casting=\"same_kind\"; cast the values: b.astype(\"", target, "\")");
  const DType both[] = {wanted, wanted};
  (void)ops::resolve(op, both);  // throws for dtypes that it does not have
  return wanted;
}

}  // namespace

void accumulate_at(OpId op, PyObject* target, PyObject* key, PyObject* value) {
  const char* name = facts(op).name;
  if (is_variable(target))
    fail<GraphError>(name, ".at: a variable has no memory yet; use tensor.inc_subtensor(x[i], y)");
  const Array array = writable_array(target);
  const py::object owned = is_python_number(value)
                               ? py::reinterpret_borrow<py::object>(value)
                               : py::reinterpret_steal<py::object>(wrap(import_array(value)));
  const Array* values = is_array(owned.ptr()) ? &array_in(owned.ptr()) : nullptr;
  const DType computed = accumulating_dtype(op, array.dtype(), value, values);
  // Values of a wider dtype are not rounded before the operation.
  const bool is_wider = computed != array.dtype();
  const auto accumulator =
      py::reinterpret_steal<py::object>(wrap(is_wider ? astype(array, computed) : array));
  array_indexing.accumulate(name, accumulator.ptr(), key, owned.ptr());
  if (is_wider) copy(array_in(accumulator.ptr()), array);
}

}  // namespace spanwise::python
