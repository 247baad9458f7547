// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "input.hpp"
#include "object.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/graph/function.hpp"

/// The object struct of spanwise.CompiledFunction: a plain heap type with a vectorcall slot, so
/// that a call costs little more than a call from C++.
namespace spanwise::python {

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
  FunctionBinding face;
  PyObject* weakrefs;
};

/// A new reference. Throws error_already_set.
pybind11::object wrap_compiled(FunctionBinding face);

}  // namespace spanwise::python
