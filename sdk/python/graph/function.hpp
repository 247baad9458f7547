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

/// spanwise.CompiledFunction as CPython sees it: a plain heap type with a vectorcall slot, so that
/// a call costs little more than the call from C++.
namespace spanwise::python {

/// One input as the call sees it.
struct InputPlace {
  TensorType type;
  InputRule rule;
  std::string name;          ///< "" where it can only be given by position
  SharedObject name_object;  ///< interned
  std::optional<Array> default_value;
};

/// How the results are handed over.
struct ResultForm {
  enum class Kind { one, list, dict } kind = Kind::list;
  std::vector<const Bridge*> libraries;  ///< of each result; null for our own arrays
  std::vector<SharedObject> keys;        ///< of a dict
};

struct FunctionBinding {
  CompiledFunction function;
  std::vector<InputPlace> inputs;
  ResultForm form;
  SharedObject recipe;       ///< what spanwise.graph.function() was given, for copy()
  bool trust_input = false;  ///< skips conversions: every argument is one of our arrays
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
