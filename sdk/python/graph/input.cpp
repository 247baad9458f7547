// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "function.hpp"

#include "spanwise/python/bridge_kit.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/number_kind.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// bool < integer < float < complex: a number converts to its own kind and to higher ones, of any
// width.
NumberKind kind_of_dtype(DType dtype) {
  if (dtype.is_bool()) return NumberKind::bool_;
  if (dtype.is_integer()) return NumberKind::int_;
  return dtype.is_floating() ? NumberKind::float_ : NumberKind::complex;
}

bool is_list(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

// Whether Python numbers, whose dtype as an array is `natural`, may become `target`: a narrower
// float only if allow_downcast is not false.
bool may_narrow(const InputRule& rule, DType natural, DType target) {
  const bool is_narrower =
      target.is_floating() && natural.is_floating() && target.bits() < natural.bits();
  return !is_narrower || rule.allow_downcast != false;
}

Array cast(const Array& array, DType dtype, const InputRule& rule) {
  const bool is_allowed =
      rule.allow_downcast == true || can_cast(array.dtype(), dtype, Casting::safe);
  if (!is_allowed)
    fail<InputError>("expected dtype ", dtype, ", got ", array.dtype(),
                     "; cast the value, or pass allow_input_downcast=True to function()");
  const GilRelease unlocked;
  return astype(array, dtype);
}

Array from_number(PyObject* value, DType dtype, const InputRule& rule) {
  const bool fits = rule.allow_downcast == true || (number_kind(value) <= kind_of_dtype(dtype) &&
                                                    may_narrow(rule, float64, dtype));
  if (!fits)
    fail<InputError>("expected dtype ", dtype, ", got the Python number ",
                     std::string(py::repr(value)), "; convert it");
  const Scalar scalar = scalar_from(value, dtype);
  return full(Shape{}, scalar, dtype, cpu);
}

Array from_list(py::handle value, DType dtype, const InputRule& rule) {
  const Array natural = import_array(value.ptr());
  if (natural.dtype() == dtype) return natural;
  const bool fits = kind_of_dtype(natural.dtype()) <= kind_of_dtype(dtype) &&
                    may_narrow(rule, natural.dtype(), dtype);
  if (!fits) return cast(natural, dtype, rule);
  return import_array(value.ptr(), {.dtype = dtype});  // throws for out-of-range integers
}

}  // namespace

Array input_from(py::handle value, const TensorType& type, const InputRule& rule) {
  const DType dtype = type.dtype();
  if (rule.strict) {
    if (is_weak_number(value.ptr()) || is_list(value.ptr()))
      fail<InputError>("expected an array of dtype ", dtype, " (strict), got ",
                       std::string(py::repr(value)));
    const Array array = import_array(value.ptr());
    if (array.dtype() != dtype)
      fail<InputError>("expected dtype ", dtype, " (strict), got ", array.dtype());
    return array;
  }
  if (is_weak_number(value.ptr())) return from_number(value.ptr(), dtype, rule);
  if (is_list(value.ptr())) return from_list(value, dtype, rule);
  Array array = import_array(value.ptr());
  return array.dtype() == dtype ? array : cast(array, dtype, rule);
}

}  // namespace spanwise::python
