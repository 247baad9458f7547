// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "array_slots.hpp"
#include "py_operators.hpp"

/// Python's operators on arrays. What they do is an op's business, so the slots only pass on.
namespace spanwise::python {

ArrayOperators operators_of_arrays;

namespace {

template <Operator op>
PyObject* unary(PyObject* self) noexcept {
  if (operators_of_arrays.unary == nullptr) Py_RETURN_NOTIMPLEMENTED;
  return operators_of_arrays.unary(op, self);
}

template <Operator op>
PyObject* binary(PyObject* left, PyObject* right) noexcept {
  if (operators_of_arrays.binary == nullptr) Py_RETURN_NOTIMPLEMENTED;
  return operators_of_arrays.binary(op, left, right);
}

template <Operator op>
PyObject* in_place(PyObject* self, PyObject* other) noexcept {
  if (operators_of_arrays.in_place == nullptr) Py_RETURN_NOTIMPLEMENTED;
  return operators_of_arrays.in_place(op, self, other);
}

// A third argument is a modulus, which arrays do not have.
PyObject* power(PyObject* left, PyObject* right, PyObject* modulus) noexcept {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<Operator::power>(left, right);
}
PyObject* in_place_power(PyObject* self, PyObject* other, PyObject* modulus) noexcept {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place<Operator::power>(self, other);
}

PyObject* divmod(PyObject* left, PyObject* right) noexcept {
  PyObject* quotient = binary<Operator::floor_divide>(left, right);
  if (quotient == nullptr || quotient == Py_NotImplemented) return quotient;
  PyObject* rest = binary<Operator::remainder>(left, right);
  PyObject* both = rest != nullptr ? PyTuple_Pack(2, quotient, rest) : nullptr;
  Py_DECREF(quotient);
  Py_XDECREF(rest);
  return both;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if (operators_of_arrays.binary == nullptr) Py_RETURN_NOTIMPLEMENTED;
  const auto op = static_cast<Operator>(static_cast<int>(Operator::less) + operation);
  return operators_of_arrays.binary(op, self, other);
}

template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

PyType_Slot array_operators[] = {
    slot(Py_nb_add, &binary<Operator::add>),
    slot(Py_nb_subtract, &binary<Operator::subtract>),
    slot(Py_nb_multiply, &binary<Operator::multiply>),
    slot(Py_nb_true_divide, &binary<Operator::divide>),
    slot(Py_nb_floor_divide, &binary<Operator::floor_divide>),
    slot(Py_nb_remainder, &binary<Operator::remainder>),
    slot(Py_nb_divmod, &divmod),
    slot(Py_nb_power, &power),
    slot(Py_nb_lshift, &binary<Operator::left_shift>),
    slot(Py_nb_rshift, &binary<Operator::right_shift>),
    slot(Py_nb_and, &binary<Operator::bitwise_and>),
    slot(Py_nb_or, &binary<Operator::bitwise_or>),
    slot(Py_nb_xor, &binary<Operator::bitwise_xor>),
    slot(Py_nb_negative, &unary<Operator::negative>),
    slot(Py_nb_positive, &unary<Operator::positive>),
    slot(Py_nb_absolute, &unary<Operator::absolute>),
    slot(Py_nb_invert, &unary<Operator::invert>),
    slot(Py_nb_inplace_add, &in_place<Operator::add>),
    slot(Py_nb_inplace_subtract, &in_place<Operator::subtract>),
    slot(Py_nb_inplace_multiply, &in_place<Operator::multiply>),
    slot(Py_nb_inplace_true_divide, &in_place<Operator::divide>),
    slot(Py_nb_inplace_floor_divide, &in_place<Operator::floor_divide>),
    slot(Py_nb_inplace_remainder, &in_place<Operator::remainder>),
    slot(Py_nb_inplace_power, &in_place_power),
    slot(Py_nb_inplace_lshift, &in_place<Operator::left_shift>),
    slot(Py_nb_inplace_rshift, &in_place<Operator::right_shift>),
    slot(Py_nb_inplace_and, &in_place<Operator::bitwise_and>),
    slot(Py_nb_inplace_or, &in_place<Operator::bitwise_or>),
    slot(Py_nb_inplace_xor, &in_place<Operator::bitwise_xor>),
    slot(Py_tp_richcompare, &compare),
    {0, nullptr}};

}  // namespace spanwise::python
