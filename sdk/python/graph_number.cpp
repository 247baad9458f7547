// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "graph_errors.hpp"
#include "graph_variable.hpp"
#include "py_array.hpp"
#include "py_scalar.hpp"
#include "spanwise/config.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/op_sdk.hpp"

/// Variables and numbers: the arithmetic slots, and what a Python number is beside a variable.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// NumPy's own scalars derive from Python's, but have a dtype that they insist on.
bool is_weak_number(PyObject* value) noexcept {
  return PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
         PyComplex_CheckExact(value);
}

DType default_float() { return DType::parse(config::get("floatX")); }

// numpy.result_type for a Python number beside an array of `beside` (NEP 50); a float beside
// integers becomes floatX.
DType number_dtype(PyObject* number, std::optional<DType> beside) {
  const bool beside_real = beside && beside->is_floating();
  const bool beside_complex = beside && beside->is_complex();
  if (PyBool_Check(number)) return bool_;
  if (PyLong_Check(number)) return beside && !beside->is_bool() ? *beside : int64;
  if (PyFloat_Check(number)) return beside_real || beside_complex ? *beside : default_float();
  if (beside_complex) return *beside;
  return beside_real && beside->bits() <= 32 ? complex64 : complex128;
}

Array filled(const Scalar& value) { return full(Shape{}, value, value.dtype(), cpu); }

/// One operation of the registry, looked up once.
struct Operation {
  const char* name;
  Ref<const Op> op;

  const Op& get() {
    if (!op) op = make_op(name);
    return *op;
  }
};

// Never destroyed: the ops may outlive the interpreter, not the other way round.
Operation& operation(int index) {
  static auto& all = *new std::vector<Operation>{
      {"add", {}}, {"subtract", {}}, {"multiply", {}}, {"divide", {}}, {"negative", {}}};
  return all[static_cast<std::size_t>(index)];
}

// Not an operand of ours, perhaps one that knows what to do with a variable.
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
PyObject* binary(PyObject* left, PyObject* right) noexcept {
  try {
    if (is_foreign(left) || is_foreign(right)) Py_RETURN_NOTIMPLEMENTED;
    const auto dtype_of = [](PyObject* value) -> std::optional<DType> {
      if (!is_variable(value)) return std::nullopt;
      return variable_in(value).type().dtype();
    };
    const Variable operands[] = {as_variable(left, dtype_of(right)),
                                 as_variable(right, dtype_of(left))};
    return wrap_variable(operation(index).get()(operands)[0]);
  } catch (...) {
    return raise_graph_error();
  }
}

PyObject* negative(PyObject* self) noexcept {
  try {
    return wrap_variable(operation(4).get()(std::span(&variable_in(self), 1))[0]);
  } catch (...) {
    return raise_graph_error();
  }
}

PyObject* positive(PyObject* self) noexcept { return Py_NewRef(self); }

}  // namespace

Variable as_variable(py::handle value, std::optional<DType> beside) {
  if (is_variable(value.ptr())) return variable_in(value.ptr());
  if (is_weak_number(value.ptr()))
    return Variable::constant(filled(scalar_from(value.ptr(), number_dtype(value.ptr(), beside))));
  // The caller may go on to change the array; a constant stays what it was.
  const Array array = import_array(value.ptr());
  const WithoutGil unlocked;
  return Variable::constant(copy(array));
}

PyType_Slot variable_number_slots[] = {{Py_nb_add, reinterpret_cast<void*>(binary<0>)},
                                       {Py_nb_subtract, reinterpret_cast<void*>(binary<1>)},
                                       {Py_nb_multiply, reinterpret_cast<void*>(binary<2>)},
                                       {Py_nb_true_divide, reinterpret_cast<void*>(binary<3>)},
                                       {Py_nb_negative, reinterpret_cast<void*>(negative)},
                                       {Py_nb_positive, reinterpret_cast<void*>(positive)},
                                       {0, nullptr}};

}  // namespace spanwise::python
