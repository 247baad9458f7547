// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "python/interop/foreign_operands.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/number_kind.hpp"
#include "python/support/operators.hpp"
#include "python/support/slot.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "ufunc_py.hpp"

/// Python's operators of arrays.
namespace spanwise::python {

namespace {

using ops::OpId;

constexpr OpId op_of_operator[] = {
    OpId::add,        OpId::subtract,     OpId::multiply,   OpId::divide,      OpId::floor_divide,
    OpId::remainder,  OpId::power,        OpId::left_shift, OpId::right_shift, OpId::bitwise_and,
    OpId::bitwise_or, OpId::bitwise_xor,  OpId::negative,   OpId::positive,    OpId::absolute,
    OpId::invert,     OpId::less,         OpId::less_equal, OpId::equal,       OpId::not_equal,
    OpId::greater,    OpId::greater_equal};

// Whether an operator returns NotImplemented for the operand.
bool is_declined(PyObject* other, bool in_place) {
  return !is_array(other) && !is_weak_number(other) && declines_operand(other, in_place);
}

PyObject* unary_operator(Operator op, PyObject* self) {
  return call_ufunc(op_of_operator[static_cast<int>(op)], &self, {});
}

// The operation that computes `base ** exponent` from the base alone, such as square for the
// exponent 2, if there is one: it is more exact and much faster. NumPy's operator does the same
// (numpy/_core/src/multiarray/number.c).
std::optional<OpId> unary_power(PyObject* base, PyObject* exponent) {
  if (!is_array(base)) return {};
  const DType dtype = array_in(base).dtype();
  if (PyLong_CheckExact(exponent) && dtype.is_integer()) {
    int overflow = 0;
    return PyLong_AsLongAndOverflow(exponent, &overflow) == 2 ? std::optional(OpId::square)
                                                              : std::nullopt;
  }
  if (!dtype.is_computable() || !(dtype.is_floating() || dtype.is_complex())) return {};
  double number = 0;
  if (PyFloat_CheckExact(exponent)) {
    number = PyFloat_AS_DOUBLE(exponent);
  } else if (PyLong_CheckExact(exponent)) {
    int overflow = 0;
    number = static_cast<double>(PyLong_AsLongAndOverflow(exponent, &overflow));
    if (overflow != 0) return {};
  }
  if (number == 2.0) return OpId::square;
  if (number == 1.0) return OpId::positive;
  if (number == 0.5) return OpId::sqrt;
  return number == -1.0 ? std::optional(OpId::reciprocal) : std::nullopt;
}

PyObject* apply_operator(Operator op, PyObject* left, PyObject* right, PyObject* out) noexcept {
  try {
    const bool in_place = out != nullptr;
    if (is_declined(left, in_place) || is_declined(right, in_place)) Py_RETURN_NOTIMPLEMENTED;
    PyObject* const operands[] = {left, right};
    const auto power = op == Operator::power ? unary_power(left, right) : std::nullopt;
    return call_ufunc(power.value_or(op_of_operator[static_cast<int>(op)]), operands, {.out = out});
  } catch (const BridgeError&) {
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    return raise_current();
  }
}
PyObject* binary_operator(Operator op, PyObject* left, PyObject* right) {
  PyObject* result = apply_operator(op, left, right, nullptr);
  const bool is_equality = op == Operator::equal || op == Operator::not_equal;
  if (result != Py_NotImplemented || !is_equality || takes_operators(right)) return result;
  Py_DECREF(result);
  // No element equals an object that is no operand. Python would compare identities instead.
  const Array& array = array_in(left);
  return wrap(full(array.shape(), Scalar(op == Operator::not_equal), bool_, array.device()));
}
PyObject* in_place_operator(Operator op, PyObject* self, PyObject* other) noexcept {
  return apply_operator(op, self, other, self);
}

}  // namespace

SW_BIND(ufunc_operators) {
  operators_of_arrays = {guarded<&unary_operator>, guarded<&binary_operator>, &in_place_operator};
}

}  // namespace spanwise::python
