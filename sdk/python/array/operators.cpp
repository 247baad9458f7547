// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/operators.hpp"
#include "spanwise/python/binding.hpp"
#include "slots.hpp"

/// The slots of Python's operators on arrays. They call operators_of_arrays and products_of_arrays.
namespace spanwise::python {

namespace {

// The operators before ops/elementwise and ops/linalg set them, or without these op families.
template <class... Operands>
PyObject* not_implemented(Operands...) noexcept {
  Py_RETURN_NOTIMPLEMENTED;
}

template <Operator op>
PyObject* array_unary(PyObject* self) noexcept {
  return operators_of_arrays.unary(op, self);
}

template <Operator op>
PyObject* array_binary(PyObject* left, PyObject* right) noexcept {
  return operators_of_arrays.binary(op, left, right);
}

template <Operator op>
PyObject* array_in_place(PyObject* self, PyObject* other) noexcept {
  return operators_of_arrays.in_place(op, self, other);
}

// pow(x, y, modulus) is not supported.
PyObject* array_power(PyObject* left, PyObject* right, PyObject* modulus) noexcept {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return array_binary<Operator::power>(left, right);
}
PyObject* array_in_place_power(PyObject* self, PyObject* other, PyObject* modulus) noexcept {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return array_in_place<Operator::power>(self, other);
}

PyObject* array_divmod(PyObject* left, PyObject* right) noexcept {
  PyObject* quotient = array_binary<Operator::floor_divide>(left, right);
  if (quotient == nullptr || quotient == Py_NotImplemented) return quotient;
  PyObject* remainder = array_binary<Operator::remainder>(left, right);
  PyObject* both = remainder != nullptr ? PyTuple_Pack(2, quotient, remainder) : nullptr;
  Py_DECREF(quotient);
  Py_XDECREF(remainder);
  return both;
}

PyObject* array_matmul(PyObject* left, PyObject* right) noexcept {
  return products_of_arrays.matmul(left, right);
}
PyObject* array_in_place_matmul(PyObject* self, PyObject* other) noexcept {
  return products_of_arrays.in_place(self, other);
}

PyObject* compare_arrays(PyObject* self, PyObject* other, int operation) noexcept {
  const auto op = static_cast<Operator>(static_cast<int>(Operator::less) + operation);
  return operators_of_arrays.binary(op, self, other);
}

}  // namespace

ArrayOperators operators_of_arrays{&not_implemented, &not_implemented, &not_implemented};
ArrayProducts products_of_arrays{&not_implemented, &not_implemented};

PyType_Slot array_operators[] = {
    slot(Py_nb_add, &array_binary<Operator::add>),
    slot(Py_nb_subtract, &array_binary<Operator::subtract>),
    slot(Py_nb_multiply, &array_binary<Operator::multiply>),
    slot(Py_nb_true_divide, &array_binary<Operator::divide>),
    slot(Py_nb_floor_divide, &array_binary<Operator::floor_divide>),
    slot(Py_nb_remainder, &array_binary<Operator::remainder>),
    slot(Py_nb_divmod, &array_divmod),
    slot(Py_nb_power, &array_power),
    slot(Py_nb_lshift, &array_binary<Operator::left_shift>),
    slot(Py_nb_rshift, &array_binary<Operator::right_shift>),
    slot(Py_nb_and, &array_binary<Operator::bitwise_and>),
    slot(Py_nb_or, &array_binary<Operator::bitwise_or>),
    slot(Py_nb_xor, &array_binary<Operator::bitwise_xor>),
    slot(Py_nb_negative, &array_unary<Operator::negative>),
    slot(Py_nb_positive, &array_unary<Operator::positive>),
    slot(Py_nb_absolute, &array_unary<Operator::absolute>),
    slot(Py_nb_invert, &array_unary<Operator::invert>),
    slot(Py_nb_inplace_add, &array_in_place<Operator::add>),
    slot(Py_nb_inplace_subtract, &array_in_place<Operator::subtract>),
    slot(Py_nb_inplace_multiply, &array_in_place<Operator::multiply>),
    slot(Py_nb_inplace_true_divide, &array_in_place<Operator::divide>),
    slot(Py_nb_inplace_floor_divide, &array_in_place<Operator::floor_divide>),
    slot(Py_nb_inplace_remainder, &array_in_place<Operator::remainder>),
    slot(Py_nb_inplace_power, &array_in_place_power),
    slot(Py_nb_inplace_lshift, &array_in_place<Operator::left_shift>),
    slot(Py_nb_inplace_rshift, &array_in_place<Operator::right_shift>),
    slot(Py_nb_inplace_and, &array_in_place<Operator::bitwise_and>),
    slot(Py_nb_inplace_or, &array_in_place<Operator::bitwise_or>),
    slot(Py_nb_inplace_xor, &array_in_place<Operator::bitwise_xor>),
    slot(Py_nb_matrix_multiply, &array_matmul),
    slot(Py_nb_inplace_matrix_multiply, &array_in_place_matmul),
    slot(Py_tp_richcompare, &compare_arrays),
    {0, nullptr}};

}  // namespace spanwise::python
