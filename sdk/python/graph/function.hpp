// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/type.hpp"

/// The object struct of spanwise.CompiledFunction: a plain heap type with a vectorcall slot, so
/// that a call costs little more than a call from C++.
namespace spanwise::python {

/// Which conversions to its dtype an input allows (Theano's In(strict=, allow_downcast=)).
struct InputRule {
  /// Accepts only arrays (of any library) of exactly the dtype: no numbers, lists or casts.
  bool strict = false;
  /// true: any cast; false: only safe casts; not set: safe casts, and Python floats to narrower
  /// floats.
  std::optional<bool> allow_downcast{};
};

/// An array of any library, a number, or nested lists of numbers as an array of `type`'s dtype.
/// Shape and device are checked by the function. Throws InputError with the reason, and the errors
/// of import_array(). Needs the GIL.
Array input_from(pybind11::handle value, const TensorType& type, const InputRule& rule);

/// One input of a function.
struct InputDeclaration {
  TensorType type;
  InputRule rule;
  std::string name;          ///< "" if it can only be passed by position
  SharedObject name_object;  ///< interned
  std::optional<Array> default_value;
};

/// The form in which a call returns its results.
struct ResultForm {
  enum class Kind { one, list, dict } kind = Kind::list;
  std::vector<const Bridge*> libraries;  ///< for each result; null: spanwise.Array
  std::vector<SharedObject> keys;        ///< for Kind::dict
};

struct FunctionBinding {
  CompiledFunction function;
  std::vector<InputDeclaration> inputs;
  ResultForm form;
  SharedObject recipe;  ///< the arguments of spanwise.graph.function(), for copy() and pickling
  bool trust_input = false;  ///< arguments must be spanwise.Arrays of the right dtype
};

struct PyFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  FunctionBinding binding;
  PyObject* weakrefs;
};

/// A new reference. Throws error_already_set.
pybind11::object wrap_compiled(FunctionBinding binding);

/// The vectorcall slot: converts arguments of any library, by position and by name, to arrays, runs
/// the function, and returns the results in its ResultForm. Throws InputError and the errors of the
/// function.
PyObject* call_compiled(PyObject* self, PyObject* const* values, std::size_t flags,
                        PyObject* names);

}  // namespace spanwise::python
