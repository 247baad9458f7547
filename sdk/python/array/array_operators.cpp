// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/array/array_hooks.hpp"
#include "python/array/array_object.hpp"
#include "python/array/array_slots.hpp"
#include "python/support/error_classes.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"

/// Python's operators on arrays, which call operators_of_arrays and products_of_arrays, and the
/// conversion of arrays of one element to bool, int, float, complex and an index.
namespace spanwise::python {

namespace py = pybind11;

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

// Conversion of arrays of one element to bool, int, float, complex and an index.

namespace {

// Converts an array of rank 0; throws DTypeError for other ranks, as NumPy.
PyObject* converted(PyObject* self, const char* target, PyObject* (*convert_number)(PyObject*)) {
  const Array& array = array_in(self);
  if (array.rank() != 0)
    fail<DTypeError>("Array: only an array of rank 0 converts to ", target, ", this one has shape ",
                     array.shape(), "; use a.item() or index it");
  return convert_number(python_number(array).ptr());
}

}  // namespace

int array_bool(PyObject* self) {
  const Array& array = array_in(self);
  if (array.size() != 1)
    fail<ArgumentError>("Array: the truth of an array of ", array.size(), " elements (shape ",
                        array.shape(), ") is ambiguous; use any() or all()");
  return PyObject_IsTrue(python_number(array).ptr());
}

// The hash of the number, as a scalar of NumPy has, for an array of rank 0 that is no view. It is
// read-only from then on: a set or a dict does not find a key whose value has changed.
Py_hash_t array_hash(PyObject* self) {
  Array& array = array_in(self);
  if (array.rank() != 0 || !py::handle(self).attr("base").is_none())
    throw py::type_error(text("unhashable type: 'spanwise.Array' of shape ", array.shape(),
                              "; an element that is no view is hashable, such as a[0]"));
  const Py_hash_t hash = py::hash(python_number(array));
  array.set_readonly();
  return hash;
}

PyObject* array_index(PyObject* self) {
  const Array& array = array_in(self);
  if (!array.dtype().is_integer()) {
    PyErr_Format(errors.dtype,
                 "Array: only an integer array of rank 0 is an index, this one has dtype %s",
                 array.dtype().name().c_str());
    return nullptr;
  }
  return converted(self, "an index", &PyNumber_Index);
}

PyObject* array_int(PyObject* self) { return converted(self, "int", &PyNumber_Long); }

PyObject* array_float(PyObject* self) { return converted(self, "float", &PyNumber_Float); }

PyObject* array_complex(PyObject* self) {
  return converted(self, "complex", [](PyObject* number) {
    return PyComplex_FromCComplex(PyComplex_AsCComplex(number));
  });
}

}  // namespace spanwise::python
