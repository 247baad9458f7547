// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"
#include "python/support/array.hpp"
#include "python/support/gil.hpp"
#include "python/support/number_kind.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/config.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/op_sdk.hpp"
#include "variable.hpp"

/// The arithmetic slots of variables, and the dtype of a Python number as an operand.
namespace spanwise::python {

namespace py = pybind11;

namespace {

bool is_weak_number(PyObject* value) noexcept { return number_kind(value) != NumberKind::none; }

DType default_float() { return DType::parse(config::get("floatX")); }

Array filled(const Scalar& value) { return full(Shape{}, value, value.dtype(), cpu); }

// The names in the op registry of Python's operators.
constexpr const char* operation_names[] = {
    "add",        "subtract",    "multiply",   "divide",        "floor_divide",
    "remainder",  "power",       "left_shift", "right_shift",   "bitwise_and",
    "bitwise_or", "bitwise_xor", "negative",   "absolute",      "invert",
    "less",       "less_equal",  "greater",    "greater_equal", "matmul"};

constexpr int index_of(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(operation_names)); ++i)
    if (name == operation_names[i]) return i;
  return -1;
}

// The op of an operator, cached. The cache is never destroyed, so it is valid during finalization.
const Op& operation(int index) {
  static auto& all = *new std::vector<Ref<const Op>>(std::size(operation_names));
  Ref<const Op>& op = all[static_cast<std::size_t>(index)];
  if (!op) op = make_op(operation_names[index]);
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

template <int index>
PyObject* variable_binary(PyObject* left, PyObject* right) noexcept {
  try {
    if (is_foreign(left) || is_foreign(right)) Py_RETURN_NOTIMPLEMENTED;
    const auto dtype_of = [](PyObject* value) -> std::optional<DType> {
      if (!is_variable(value)) return std::nullopt;
      return variable_in(value).type().dtype();
    };
    const Variable operands[] = {as_variable(left, dtype_of(right)),
                                 as_variable(right, dtype_of(left))};
    return wrap_variable(operation(index)(operands)[0]);
  } catch (...) {
    return raise_graph_error();
  }
}

template <int index>
PyObject* variable_unary(PyObject* self) noexcept {
  try {
    return wrap_variable(operation(index)(std::span(&variable_in(self), 1))[0]);
  } catch (...) {
    return raise_graph_error();
  }
}

PyObject* variable_power(PyObject* left, PyObject* right, PyObject* modulus) noexcept {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return variable_binary<index_of("power")>(left, right);
}

PyObject* variable_divmod(PyObject* left, PyObject* right) noexcept {
  PyObject* quotient = variable_binary<index_of("floor_divide")>(left, right);
  if (quotient == nullptr || quotient == Py_NotImplemented) return quotient;
  PyObject* rest = variable_binary<index_of("remainder")>(left, right);
  PyObject* both = rest != nullptr ? PyTuple_Pack(2, quotient, rest) : nullptr;
  Py_DECREF(quotient);
  Py_XDECREF(rest);
  return both;
}

PyObject* positive(PyObject* self) noexcept { return Py_NewRef(self); }

}  // namespace

Variable as_variable(py::handle value, std::optional<DType> beside) {
  if (is_variable(value.ptr())) return variable_in(value.ptr());
  if (const NumberKind kind = number_kind(value.ptr()); kind != NumberKind::none) {
    const DType floats = kind == NumberKind::float_ ? default_float() : float64;
    return Variable::constant(filled(scalar_from(value.ptr(), number_dtype(kind, beside, floats))));
  }
  // A copy, since the caller may modify the array.
  const Array array = import_array(value.ptr());
  const GilRelease unlocked;
  return Variable::constant(copy(array));
}

PyObject* compare_variables(PyObject* self, PyObject* other, int operation) noexcept {
  switch (operation) {
    case Py_LT:
      return variable_binary<index_of("less")>(self, other);
    case Py_LE:
      return variable_binary<index_of("less_equal")>(self, other);
    case Py_GT:
      return variable_binary<index_of("greater")>(self, other);
    case Py_GE:
      return variable_binary<index_of("greater_equal")>(self, other);
    default:
      Py_RETURN_NOTIMPLEMENTED;
  }
}

PyType_Slot variable_number_slots[] = {
    {Py_nb_add, reinterpret_cast<void*>(variable_binary<index_of("add")>)},
    {Py_nb_subtract, reinterpret_cast<void*>(variable_binary<index_of("subtract")>)},
    {Py_nb_multiply, reinterpret_cast<void*>(variable_binary<index_of("multiply")>)},
    {Py_nb_true_divide, reinterpret_cast<void*>(variable_binary<index_of("divide")>)},
    {Py_nb_floor_divide, reinterpret_cast<void*>(variable_binary<index_of("floor_divide")>)},
    {Py_nb_remainder, reinterpret_cast<void*>(variable_binary<index_of("remainder")>)},
    {Py_nb_lshift, reinterpret_cast<void*>(variable_binary<index_of("left_shift")>)},
    {Py_nb_rshift, reinterpret_cast<void*>(variable_binary<index_of("right_shift")>)},
    {Py_nb_and, reinterpret_cast<void*>(variable_binary<index_of("bitwise_and")>)},
    {Py_nb_or, reinterpret_cast<void*>(variable_binary<index_of("bitwise_or")>)},
    {Py_nb_xor, reinterpret_cast<void*>(variable_binary<index_of("bitwise_xor")>)},
    {Py_nb_negative, reinterpret_cast<void*>(variable_unary<index_of("negative")>)},
    {Py_nb_absolute, reinterpret_cast<void*>(variable_unary<index_of("absolute")>)},
    {Py_nb_invert, reinterpret_cast<void*>(variable_unary<index_of("invert")>)},
    {Py_nb_power, reinterpret_cast<void*>(variable_power)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(variable_binary<index_of("matmul")>)},
    {Py_nb_divmod, reinterpret_cast<void*>(variable_divmod)},
    {Py_nb_positive, reinterpret_cast<void*>(positive)},
    {0, nullptr}};

}  // namespace spanwise::python
