// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "function.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "python/interop/convert.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/snapshot.hpp"
#include "python/support/value.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk.hpp"
#include "variable.hpp"

/// The implementation of spanwise.graph.function(), after it has normalised its arguments.
namespace spanwise::python {

namespace py = pybind11;

namespace {

UnusedInput unused_from(const std::string& name) {
  if (name == "raise") return UnusedInput::raise;
  if (name == "warn") return UnusedInput::warn;
  if (name == "ignore") return UnusedInput::ignore;
  fail<ArgumentError>("function: on_unused_input must be \"raise\", \"warn\" or \"ignore\", got \"",
                      name, "\"");
}

// Reads the attributes of a spanwise.graph.In.
InputDeclaration declaration_from(py::handle in) {
  const auto variable = in.attr("variable").cast<Variable>();
  InputDeclaration declared{variable.type(), {}, "", nullptr, std::nullopt};
  declared.rule.strict = in.attr("strict").cast<bool>();
  declared.rule.allow_downcast = in.attr("allow_downcast").cast<std::optional<bool>>();
  const py::object name = in.attr("name");
  if (!name.is_none()) {
    declared.name = value_of<std::string>(name, "In: name");
    PyObject* interned = py::str(declared.name).release().ptr();
    PyUnicode_InternInPlace(&interned);
    declared.name_object = share_object(py::reinterpret_steal<py::object>(interned));
  }
  const py::object value = in.attr("value");
  if (!value.is_none()) declared.default_value = input_from(value, declared.type, declared.rule);
  return declared;
}

ResultForm form_from(py::handle keys, const std::vector<std::optional<std::string>>& libraries,
                     bool is_single) {
  ResultForm form;
  form.kind = is_single ? ResultForm::Kind::one : ResultForm::Kind::list;
  for (const auto& library : libraries)
    form.libraries.push_back(library ? &target_bridge(*library) : nullptr);
  if (keys.is_none()) return form;
  form.kind = ResultForm::Kind::dict;
  for (const py::handle key : py::iter(keys))
    form.keys.push_back(share_object(py::reinterpret_borrow<py::object>(key)));
  return form;
}

using Pairs = std::vector<std::pair<Variable, Variable>>;

// (name, including, excluding, (nan_is_error, inf_is_error, big_is_error)) of a Mode.
Mode mode_from(const py::tuple& fields) {
  using Strings = std::vector<std::string>;
  const auto errors = value_of<std::array<bool, 3>>(fields[3], "mode");
  return {.name = value_of<std::string>(fields[0], "mode"),
          .including = value_of<Strings>(fields[1], "mode"),
          .excluding = value_of<Strings>(fields[2], "mode"),
          .nan_guard = {errors[0], errors[1], errors[2]}};
}

py::object compile(const py::list& ins, const std::vector<Variable>& outputs,
                   const std::vector<std::optional<std::string>>& libraries,
                   std::vector<bool> borrowed, bool is_single, py::handle keys, Pairs updates,
                   Pairs givens, const std::string& name, const std::string& on_unused_input,
                   py::handle device, const py::tuple& mode, bool profile,
                   std::optional<bool> allow_gc, bool preallocate, py::object recipe) {
  std::vector<Variable> inputs;
  std::vector<Variable> mutable_inputs;
  std::vector<InputDeclaration> declared;
  for (const py::handle in : items_of(ins.ptr())) {
    inputs.push_back(in.attr("variable").cast<Variable>());
    if (in.attr("mutable").cast<bool>()) mutable_inputs.push_back(inputs.back());
    declared.push_back(declaration_from(in));
  }
  ResultForm form = form_from(keys, libraries, is_single);
  FunctionOptions options{.name = name,
                          .givens = std::move(givens),
                          .on_unused_input = unused_from(on_unused_input),
                          .updates = std::move(updates),
                          .borrowed_outputs = std::move(borrowed),
                          .mode = mode_from(mode),
                          .profile = profile,
                          .allow_gc = allow_gc,
                          .preallocate = preallocate};
  if (!device.is_none()) options.device = device_from(device);
  options.mutable_inputs = std::move(mutable_inputs);
  CompiledFunction function = without_gil(
      [&] { return spanwise::function(std::move(inputs), outputs, std::move(options)); });
  return wrap_compiled(
      {std::move(function), std::move(declared), std::move(form), share_object(std::move(recipe))});
}

}  // namespace

SW_BIND(graph_compile) { module.def("_compile", &compile); }

}  // namespace spanwise::python
