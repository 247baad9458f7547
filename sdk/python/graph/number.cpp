// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <span>

#include "python/support/array.hpp"
#include "python/support/number_kind.hpp"
#include "python/support/python_function.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk.hpp"
#include "variable.hpp"

/// The arithmetic slots of variables, and the dtype of a Python number as an operand.
namespace spanwise::python {

namespace py = pybind11;

namespace {

DType default_float() { return DType::parse(config::get("floatX")); }

// The registered op of an operator. Never destroyed, so that it is valid during finalization.
template <Literal name>
const Op& operation() {
  static auto& op = *new Ref<const Op>(make_op(name.text));
  return *op;
}

// Whether no bridge imports the object: the operator then returns NotImplemented, so that Python
// tries the object's reflected method.
bool is_foreign(PyObject* value) {
  if (is_variable(value) || is_weak_number(value) || is_array(value)) return false;
  try {
    import_array(value);
    return false;
  } catch (const BridgeError&) {
    return true;
  }
}

template <Literal name>
PyObject* variable_binary(PyObject* left, PyObject* right) {
  if (is_foreign(left) || is_foreign(right)) Py_RETURN_NOTIMPLEMENTED;
  const auto dtype_of = [](PyObject* value) -> std::optional<DType> {
    if (!is_variable(value)) return std::nullopt;
    return variable_in(value).type().dtype();
  };
  const Variable operands[] = {as_variable(left, dtype_of(right)),
                               as_variable(right, dtype_of(left))};
  return wrap_variable(operation<name>()(operands)[0]);
}

template <Literal name>
PyObject* variable_unary(PyObject* self) {
  return wrap_variable(operation<name>()(std::span(&variable_in(self), 1))[0]);
}

template <Literal name>
PyType_Slot binary(int id) {
  return slot(id, guarded<&variable_binary<name>>);
}
template <Literal name>
PyType_Slot unary(int id) {
  return slot(id, guarded<&variable_unary<name>>);
}

PyObject* variable_power(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return variable_binary<"power">(left, right);
}

PyObject* variable_divmod(PyObject* left, PyObject* right) {
  auto quotient = py::reinterpret_steal<py::object>(variable_binary<"floor_divide">(left, right));
  if (!quotient || quotient.is(py::handle(Py_NotImplemented))) return quotient.release().ptr();
  const auto remainder =
      py::reinterpret_steal<py::object>(variable_binary<"remainder">(left, right));
  return remainder ? PyTuple_Pack(2, quotient.ptr(), remainder.ptr()) : nullptr;
}

PyObject* positive(PyObject* self) noexcept { return Py_NewRef(self); }

}  // namespace

Variable as_variable(py::handle value, std::optional<DType> other_dtype) {
  if (is_variable(value.ptr())) return variable_in(value.ptr());
  if (const NumberKind kind = number_kind(value.ptr()); kind != NumberKind::none) {
    // The setting is read only where it applies.
    const DType floats = kind == NumberKind::float_ ? default_float() : float64;
    const Scalar scalar = scalar_from(value.ptr(), number_dtype(kind, other_dtype, floats));
    return Variable::constant(full(Shape{}, scalar, scalar.dtype(), cpu));
  }
  // A copy, since the caller may modify the array.
  const Array array = import_array(value.ptr());
  const GilRelease unlocked;
  return Variable::constant(copy(array));
}

PyObject* compare_variables(PyObject* self, PyObject* other, int operation) noexcept {
  if (operation == Py_LT) return guarded<&variable_binary<"less">>(self, other);
  if (operation == Py_LE) return guarded<&variable_binary<"less_equal">>(self, other);
  if (operation == Py_GT) return guarded<&variable_binary<"greater">>(self, other);
  if (operation == Py_GE) return guarded<&variable_binary<"greater_equal">>(self, other);
  Py_RETURN_NOTIMPLEMENTED;
}

PyType_Slot variable_number_slots[] = {binary<"add">(Py_nb_add),
                                       binary<"subtract">(Py_nb_subtract),
                                       binary<"multiply">(Py_nb_multiply),
                                       binary<"divide">(Py_nb_true_divide),
                                       binary<"floor_divide">(Py_nb_floor_divide),
                                       binary<"remainder">(Py_nb_remainder),
                                       binary<"left_shift">(Py_nb_lshift),
                                       binary<"right_shift">(Py_nb_rshift),
                                       binary<"bitwise_and">(Py_nb_and),
                                       binary<"bitwise_or">(Py_nb_or),
                                       binary<"bitwise_xor">(Py_nb_xor),
                                       unary<"negative">(Py_nb_negative),
                                       unary<"absolute">(Py_nb_absolute),
                                       unary<"invert">(Py_nb_invert),
                                       slot(Py_nb_power, guarded<&variable_power>),
                                       binary<"matmul">(Py_nb_matrix_multiply),
                                       slot(Py_nb_divmod, guarded<&variable_divmod>),
                                       slot(Py_nb_positive, positive),
                                       {0, nullptr}};

}  // namespace spanwise::python
