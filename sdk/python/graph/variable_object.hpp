// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <span>

#include "spanwise/graph/function.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/python/binding.hpp"

/// The object struct of spanwise.Variable. A variable has at most one live wrapper, which
/// wrap_variable() returns again, so that `is` in Python corresponds to == in C++.
namespace spanwise::python {

struct PyVariable {
  PyObject_HEAD
  Variable variable;
  PyObject* weakrefs;
};

/// The type object, from which Constant and SharedVariable derive; set by module initialisation,
/// constant afterwards.
extern PyTypeObject* variable_type;

inline bool is_variable(PyObject* object) noexcept {
  return PyObject_TypeCheck(object, variable_type);
}
/// Only for objects that is_variable() accepts.
inline Variable& variable_in(PyObject* object) noexcept {
  return reinterpret_cast<PyVariable*>(object)->variable;
}
/// A new reference. Null with a Python error set when out of memory. Needs the GIL.
PyObject* wrap_variable(const Variable& variable) noexcept;

/// The variable itself, or a constant with a copy of the value. A Python number becomes a constant
/// of rank 0, whose dtype depends on `other_dtype`, that of the other operand, by the rule of
/// number_dtype(). Throws the errors of import_array(). Needs the GIL.
Variable as_variable(pybind11::handle value, std::optional<DType> other_dtype = std::nullopt);

/// Which conversions to its dtype an input allows (Theano's In(strict=, allow_downcast=)).
struct InputRule {
  /// Accepts only arrays (of any library) of exactly the dtype: no numbers, lists or casts.
  bool strict = false;
  /// true: any cast; false: only safe casts; not set: safe casts, and Python floats to narrower
  /// floats.
  std::optional<bool> allow_downcast{};
};

/// The function of a spanwise.CompiledFunction. Throws TypeError for another object. Needs the GIL.
const CompiledFunction& function_in(pybind11::handle object);

/// An array of any library, a number, or nested lists of numbers as an array of `type`'s dtype.
/// Shape and device are checked by the function. Throws InputError with the reason, and the errors
/// of import_array(). Needs the GIL.
Array input_from(pybind11::handle value, const TensorType& type, const InputRule& rule);

/// The one output of a registered op (make_op) on `inputs`.
Variable apply_op(const char* name, const OpProperties& properties,
                  std::span<const Variable> inputs);

/// `axis` as an index >= 0, for a rank of the variable's rank plus `added_axes`. Throws AxisError.
int variable_axis(const Variable& variable, std::int64_t axis, int added_axes = 0);

/// Adds methods to Variable; the functions check themselves whether `self` is an array or a
/// variable. Call from SW_BIND parts that name graph_variable. The table ends with an empty entry
/// and must live as long as the process.
void add_variable_methods(PyMethodDef* methods);

/// The namespace for attributes that programs add to a variable or an Apply (Theano's `tag`), made
/// at the first use.
pybind11::object tag_of(std::shared_ptr<void>& attachment);

}  // namespace spanwise::python

namespace pybind11::detail {

template <>
struct type_caster<spanwise::Variable> {
  PYBIND11_TYPE_CASTER(spanwise::Variable, const_name("spanwise.Variable"));
  bool load(handle source, bool) {
    if (!spanwise::python::is_variable(source.ptr())) return false;
    value = spanwise::python::variable_in(source.ptr());
    return true;
  }
  static handle cast(const spanwise::Variable& variable, return_value_policy, handle) {
    PyObject* object = spanwise::python::wrap_variable(variable);
    if (object == nullptr) throw error_already_set();
    return object;
  }
};

}  // namespace pybind11::detail
