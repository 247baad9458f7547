// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "function.hpp"

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/interop/convert.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::string label_of(const FunctionBinding& binding, std::size_t index) {
  return binding.function.inputs()[index].label();
}

Array argument_from(const FunctionBinding& binding, std::size_t index, PyObject* value) {
  const InputDeclaration& declared = binding.inputs[index];
  if (is_array(value) && array_in(value).dtype() == declared.type.dtype()) [[likely]]
    return array_in(value);
  try {
    if (binding.trust_input)
      fail<InputError>("expected a spanwise.Array of dtype ", declared.type.dtype(),
                       " (trust_input), got ", std::string(py::repr(value)));
    return input_from(value, declared.type, declared.rule);
  } catch (const Error& error) {
    fail<InputError>("Bad input argument to function ", binding.function.name(), " at index ",
                     index, " (0-based), ", label_of(binding, index), " of ", declared.type, ": ",
                     error.what());
  }
}

std::size_t index_of_input(const FunctionBinding& binding, PyObject* name) {
  for (std::size_t i = 0; i < binding.inputs.size(); ++i)
    if (binding.inputs[i].name_object.get() == name) return i;
  const auto text = py::handle(name).cast<std::string>();
  for (std::size_t i = 0; i < binding.inputs.size(); ++i)
    if (!binding.inputs[i].name.empty() && binding.inputs[i].name == text) return i;
  fail<InputError>("function ", binding.function.name(), ": there is no input named ", text);
}

// The arguments in the order of the inputs; null where the default value is used. Throws
// InputError.
std::vector<PyObject*> arguments_in_order(const FunctionBinding& binding, PyObject* const* values,
                                          std::size_t count, PyObject* names) {
  const std::size_t expected = binding.inputs.size();
  if (count > expected)
    fail<InputError>("Too many parameters passed to function ", binding.function.name(),
                     ": expected at most ", expected, ", got ", count);
  std::vector<PyObject*> all(values, values + count);
  all.resize(expected, nullptr);
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    const std::size_t index = index_of_input(binding, PyTuple_GET_ITEM(names, i));
    if (all[index] != nullptr)
      fail<InputError>("function ", binding.function.name(), ": input ", label_of(binding, index),
                       " was given twice");
    all[index] = values[count + static_cast<std::size_t>(i)];
  }
  for (std::size_t i = 0; i < expected; ++i)
    if (all[i] == nullptr && !binding.inputs[i].default_value)
      fail<InputError>("function ", binding.function.name(),
                       ": Missing required input: ", label_of(binding, i));
  return all;
}

std::vector<Array> arguments_from(const FunctionBinding& binding, PyObject* const* values,
                                  std::size_t count, PyObject* names) {
  std::vector<Array> arguments;
  arguments.reserve(binding.inputs.size());
  if (names == nullptr && count == binding.inputs.size()) [[likely]] {
    for (std::size_t i = 0; i < count; ++i)
      arguments.push_back(argument_from(binding, i, values[i]));
    return arguments;
  }
  const std::vector<PyObject*> all = arguments_in_order(binding, values, count, names);
  for (std::size_t i = 0; i < all.size(); ++i)
    arguments.push_back(all[i] == nullptr ? *binding.inputs[i].default_value
                                          : argument_from(binding, i, all[i]));
  return arguments;
}

py::object wrap_result(Array result, const Bridge* library) {
  py::object array = owned(wrap(std::move(result)));
  return library == nullptr ? array : convert(array, *library, CopyMode::if_needed);
}

py::object results_from(const ResultForm& form, std::vector<Array> results) {
  if (form.kind == ResultForm::Kind::one)
    return wrap_result(std::move(results[0]), form.libraries[0]);
  if (form.kind == ResultForm::Kind::dict) {
    py::dict named;
    for (std::size_t i = 0; i < results.size(); ++i)
      named[py::handle(form.keys[i].get())] = wrap_result(std::move(results[i]), form.libraries[i]);
    return named;
  }
  py::list list(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    list[i] = wrap_result(std::move(results[i]), form.libraries[i]);
  return list;
}

}  // namespace

PyObject* call_compiled(PyObject* self, PyObject* const* values, std::size_t flags,
                        PyObject* names) {
  const FunctionBinding& binding = reinterpret_cast<PyFunction*>(self)->binding;
  // Destroyed with the GIL held: the arrays may own references to Python objects.
  const std::vector<Array> arguments =
      arguments_from(binding, values, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names);
  // Runs small functions with the GIL held: releasing and taking it is a tenth of their time.
  std::optional<std::vector<Array>> results = binding.function.call_at_once(arguments);
  if (!results)
    results = without_gil([&] { return binding.function(std::span<const Array>(arguments)); });
  return results_from(binding.form, std::move(*results)).release().ptr();
}

}  // namespace spanwise::python
