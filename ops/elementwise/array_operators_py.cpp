// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <optional>

#include "python/array/array_hooks.hpp"
#include "python/array/array_object.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"
#include "ufunc_py.hpp"

/// Python's operators and elementwise methods of arrays, and __array_ufunc__, which NumPy's ufuncs
/// call.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::OpId;

constexpr OpId op_of_operator[] = {
    OpId::add,        OpId::subtract,     OpId::multiply,   OpId::divide,      OpId::floor_divide,
    OpId::remainder,  OpId::power,        OpId::left_shift, OpId::right_shift, OpId::bitwise_and,
    OpId::bitwise_or, OpId::bitwise_xor,  OpId::negative,   OpId::positive,    OpId::absolute,
    OpId::invert,     OpId::less,         OpId::less_equal, OpId::equal,       OpId::not_equal,
    OpId::greater,    OpId::greater_equal};

// Whether an operator returns NotImplemented for the operand.
bool is_declined(PyObject* other) {
  return !is_array(other) && !is_weak_number(other) && declines_operand(other);
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
    if (is_declined(left) || is_declined(right)) Py_RETURN_NOTIMPLEMENTED;
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

// ---- methods

py::object array_ufunc_method(PyObject*, PyObject* args, PyObject* kwargs) {
  const py::tuple arguments = py::reinterpret_borrow<py::tuple>(args);
  if (arguments.size() < 2)
    throw py::type_error(text("__array_ufunc__: expected a ufunc, a method and operands, got ",
                              arguments.size(), " arguments"));
  const py::dict options =
      kwargs != nullptr ? py::dict(py::reinterpret_borrow<py::dict>(kwargs)) : py::dict();
  return py::module_::import("spanwise._numpy.array_protocols")
      .attr("array_ufunc")(arguments[0], arguments[1],
                           arguments[py::slice(2, py::ssize_t(arguments.size()), 1)], options);
}

// The real or imaginary part: the attribute is a function of the same name in Python.
template <Literal name>
PyObject* part(PyObject* self) {
  return result_in_python<"_numpy.elementwise", name>(self);
}

template <Literal name>
int set_part(PyObject* self, PyObject* value, void*) {
  if (value == nullptr) {
    PyErr_Format(PyExc_AttributeError, "Array.%s cannot be deleted", name.text);
    return -1;
  }
  const auto view = py::reinterpret_steal<py::object>(part<name>(self));
  return view ? PyObject_SetItem(view.ptr(), Py_Ellipsis, value) : -1;
}
int set_imag(PyObject* self, PyObject* value, void*) {
  if (array_in(self).dtype().is_complex()) return set_part<"imag">(self, value, nullptr);
  PyErr_SetString(PyExc_TypeError, "Array.imag: a real array has no imaginary part to assign to");
  return -1;
}

// As in NumPy, the method returns a real array itself; the function returns a new one.
PyObject* array_conj(PyObject* self) {
  if (!array_in(self).dtype().is_complex()) return Py_NewRef(self);
  return result_in_python<"_core", "conjugate">(self);
}

PyMethodDef elementwise_methods[] = {
    in_python<"_numpy.elementwise", "clip($self, min=None, max=None, out=None)",
              "Limited to [min, max], as numpy.ndarray.clip.">(),
    in_python<"_numpy.elementwise", "round($self, decimals=0, out=None)",
              "Rounded to `decimals` places, halves to even, as numpy.ndarray.round.">(),
    in_python<"_numpy.elementwise", "__round__($self, decimals=0)", "round(self)", "round">(),
    declared<"conj($self)", "The complex conjugate.", &array_conj>(),
    declared<"conjugate($self)", "The complex conjugate.", &array_conj>(),
    {"__array_ufunc__", as_c_function(guarded<&array_ufunc_method>), METH_VARARGS | METH_KEYWORDS,
     "Makes NumPy's ufuncs return Spanwise arrays for Spanwise arrays."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef elementwise_attributes[] = {
    attribute<&part<"real">, &set_part<"real">>("real",
                                                "The real part, a view of a complex array."),
    attribute<&part<"imag">, &set_imag>("imag", "The imaginary part, a view of a complex array."),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

SW_BIND(ufunc_operators) {
  operators_of_arrays = {guarded<&unary_operator>, guarded<&binary_operator>, &in_place_operator};
}

SW_BIND(array_ufunc, array_type) {
  add_array_methods(elementwise_methods);
  add_array_attributes(elementwise_attributes);
}

}  // namespace spanwise::python
