// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/interop/exchange.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

/// spanwise.CompiledFunction: its call, its type, and _compile(), which spanwise.graph.function()
/// calls with normalised arguments.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// One input of a function.
struct InputDeclaration {
  TensorType type;
  InputRule rule;
  std::string name;          ///< "" if it can only be passed by position
  SharedObject name_object;  ///< interned
  std::optional<Array> default_value;
};

// The form in which a call returns its results.
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

// The object struct of spanwise.CompiledFunction: a plain heap type with a vectorcall slot, so that
// a call costs little more than a call from C++.
struct PyFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  FunctionBinding binding;
  PyObject* weakrefs;
};

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

// The vectorcall slot: converts arguments of any library, by position and by name, to arrays, runs
// the function, and returns the results in its ResultForm. Throws InputError and the errors of the
// function.
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

PyTypeObject* function_type = nullptr;

FunctionBinding& binding_in(PyObject* object) noexcept {
  return reinterpret_cast<PyFunction*>(object)->binding;
}

void compiled_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<PyFunction*>(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  self->binding.~FunctionBinding();
  free_object(object);
}

py::str function_repr(PyObject* self) {
  const CompiledFunction& function = binding_in(self).function;
  return text("<spanwise.CompiledFunction ", function.name(), " on ", function.device(), ": ",
              function.toposort().size(), " nodes>");
}

py::object get_maker(PyObject* self) {
  const CompiledFunction& function = binding_in(self).function;
  std::vector<Variable> outputs = function.outputs();  // followed by the updates, as in Theano
  for (const auto& update : function.updates()) outputs.push_back(update.second);
  py::list reports;
  for (const RewriteReport& report : function.rewrites())
    reports.append(py::make_tuple(report.name, report.changes, report.seconds));
  return py::module_::import("spanwise.graph")
      .attr("Maker")(function.inputs(), outputs, function.toposort(), function.updates(), reports);
}
int set_trust(PyObject* self, PyObject* value, void*) {
  binding_in(self).trust_input = truth_or(value, false);
  return 0;
}

void free_memory(PyObject* self) {
  without_gil([&] { binding_in(self).function.free(); });
}

py::object get_profile(PyObject* self) {
  if (!binding_in(self).function.is_profiled()) return py::none();
  return py::module_::import("spanwise.profile").attr("Profile")(py::handle(self));
}

// (calls, seconds in calls, seconds of compiling, [(node, calls, seconds, output bytes) per step]).
py::tuple profile_data(PyObject* self) {
  const CompiledFunction& function = binding_in(self).function;
  const auto profile = without_gil([&] { return function.profile(); });
  if (!profile.has_value())
    fail<GraphError>("function ", function.name(),
                     " is not profiled; compile it with profile=True");
  py::list steps;
  for (const StepProfile& step : profile->steps)
    steps.append(py::make_tuple(step.node, step.calls, step.seconds, step.output_bytes));
  return py::make_tuple(profile->calls, profile->call_seconds, function.compile_seconds(), steps);
}

py::list profile_spans(PyObject* self) {
  py::list spans;
  for (const StepSpan& span : without_gil([&] { return binding_in(self).function.spans(); }))
    spans.append(py::make_tuple(span.step, span.start, span.seconds));
  return spans;
}

// f.copy(...): compiles the recipe of this function again.
PyObject* copy_compiled(PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* kwnames) {
  return call_with_self(python_function<"graph", "copy_function">(), binding_in(self).recipe.get(),
                        values, count, kwnames);
}

PyObject* reduce_compiled(PyObject* self) {
  PyObject* recipe = binding_in(self).recipe.get();
  return call_with_self(python_function<"graph._pickle", "reduce_function">(), self, &recipe, 1);
}

PyGetSetDef compiled_attributes[] = {
    attribute<[](PyObject* self) { return py::str(binding_in(self).function.name()); }>("name"),
    attribute<[](PyObject* self) { return device_object(binding_in(self).function.device()); }>(
        "device", "The device it runs on."),
    attribute<&get_maker>("maker", "maker.fgraph is the graph after all rewrites."),
    attribute<[](PyObject* self) { return py::str(binding_in(self).function.mode()); }>(
        "mode", "\"fast_run\", \"fast_compile\" or \"debug\"."),
    attribute<[](PyObject* self) {
      return py::int_(without_gil([&] { return binding_in(self).function.repeated_calls(); }));
    }>("repeated_calls",
       "The calls that repeated a recorded call on a GPU, without running the nodes one by one."),
    attribute<&get_profile>("profile", "A Profile; None without profile=True."),
    attribute<[](PyObject* self) { return py::bool_(binding_in(self).trust_input); }, &set_trust>(
        "trust_input",
        "True: arguments are not converted; each must be a spanwise.Array of the right dtype."),
    {}};

PyMethodDef compiled_methods[] = {
    declared<"free($self)", "Frees the buffers that are kept for the next call.", &free_memory>(),
    declared<"__reduce__($self)", "", &reduce_compiled>(),
    declared<"_profile_data($self)", "", &profile_data>(),
    declared<"_profile_spans($self)", "", &profile_spans>(),
    method<&copy_compiled>(
        "copy",
        "copy($self, *, name=None, swap=None, delete_updates=False, mode=None)\n--\n\n"
        "A new function of the same graph, with its own buffers. `swap` replaces shared variables: "
        "{old: new}. `delete_updates` leaves out the updates."),
    {}};

PyMemberDef compiled_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weakrefs), READONLY, nullptr},
    {}};

py::object wrap_compiled(FunctionBinding binding) {
  py::object object = owned(function_type->tp_alloc(function_type, 0));
  auto* self = reinterpret_cast<PyFunction*>(object.ptr());
  self->vectorcall = guarded<&call_compiled>;
  new (&self->binding) FunctionBinding(std::move(binding));
  return object;
}

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

const CompiledFunction& function_in(py::handle object) {
  if (Py_TYPE(object.ptr()) != function_type)
    throw py::type_error(
        text("expected a spanwise.CompiledFunction, got ", std::string(py::repr(object))));
  return binding_in(object.ptr()).function;
}

SW_BIND(graph_function) {
  function_type = make_type(
      "spanwise.CompiledFunction", sizeof(PyFunction),
      {slot(Py_tp_dealloc, compiled_dealloc),
       slot(Py_tp_call, PyVectorcall_Call),
       slot(Py_tp_repr, guarded<&function_repr>),
       {Py_tp_getset, compiled_attributes},
       {Py_tp_methods, compiled_methods},
       {Py_tp_members, compiled_members},
       {Py_tp_doc, const_cast<char*>("A compiled graph. Call it with the values of the inputs, "
                                     "arrays of any library, by position or by name.")}},
      Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION);
  add_type(module, "CompiledFunction", function_type);
}

SW_BIND(graph_compile) { module.def("_compile", &compile); }

}  // namespace spanwise::python
