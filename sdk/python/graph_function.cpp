// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph_function.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <new>
#include <utility>

#include "bind.hpp"
#include "bridge_convert.hpp"
#include "graph_apply.hpp"
#include "graph_errors.hpp"
#include "graph_variable.hpp"
#include "py_array.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

PyTypeObject* function_type = nullptr;

FunctionFace& face_in(PyObject* object) noexcept {
  return reinterpret_cast<PyFunction*>(object)->face;
}

std::string label_of(const FunctionFace& face, std::size_t index) {
  return face.function.inputs()[index].label();
}

Array argument_from(const FunctionFace& face, std::size_t index, PyObject* value) {
  const InputPlace& place = face.inputs[index];
  if (is_array(value) && array_in(value).dtype() == place.type.dtype()) [[likely]]
    return array_in(value);
  try {
    require<InputError>(!face.trust_input, "expected a spanwise.Array of dtype ",
                        place.type.dtype(), " (trust_input), got ", std::string(py::repr(value)));
    return input_from(value, place.type, place.rule);
  } catch (const Error& error) {
    fail<InputError>("Bad input argument to function ", face.function.name(), " at index ", index,
                     " (0-based), ", label_of(face, index), " of ", place.type, ": ", error.what());
  }
}

std::size_t find_name(const FunctionFace& face, PyObject* name) {
  for (std::size_t i = 0; i < face.inputs.size(); ++i)
    if (face.inputs[i].name_object.get() == name) return i;
  const auto text = py::handle(name).cast<std::string>();
  for (std::size_t i = 0; i < face.inputs.size(); ++i)
    if (!face.inputs[i].name.empty() && face.inputs[i].name == text) return i;
  fail<InputError>("function ", face.function.name(), ": there is no input named ", text);
}

// Arguments that came by name, or not at all, in the order of the inputs.
std::vector<PyObject*> in_order(const FunctionFace& face, PyObject* const* values,
                                std::size_t count, PyObject* names) {
  const std::size_t expected = face.inputs.size();
  require<InputError>(count <= expected, "Too many parameters passed to function ",
                      face.function.name(), ": expected at most ", expected, ", got ", count);
  std::vector<PyObject*> all(values, values + count);
  all.resize(expected, nullptr);
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    const std::size_t index = find_name(face, PyTuple_GET_ITEM(names, i));
    require<InputError>(all[index] == nullptr, "function ", face.function.name(), ": input ",
                        label_of(face, index), " was given twice");
    all[index] = values[count + static_cast<std::size_t>(i)];
  }
  for (std::size_t i = 0; i < expected; ++i)
    require<InputError>(all[i] != nullptr || face.inputs[i].default_value, "function ",
                        face.function.name(), ": Missing required input: ", label_of(face, i));
  return all;
}

std::vector<Array> arguments_from(const FunctionFace& face, PyObject* const* values,
                                  std::size_t count, PyObject* names) {
  std::vector<Array> arguments;
  arguments.reserve(face.inputs.size());
  if (names == nullptr && count == face.inputs.size()) [[likely]] {
    for (std::size_t i = 0; i < count; ++i) arguments.push_back(argument_from(face, i, values[i]));
    return arguments;
  }
  const std::vector<PyObject*> all = in_order(face, values, count, names);
  for (std::size_t i = 0; i < all.size(); ++i)
    arguments.push_back(all[i] == nullptr ? *face.inputs[i].default_value
                                          : argument_from(face, i, all[i]));
  return arguments;
}

py::object hand_over(Array result, const Bridge* library) {
  PyObject* object = wrap(std::move(result));
  if (object == nullptr) throw py::error_already_set();
  py::object ours = py::reinterpret_steal<py::object>(object);
  return library == nullptr ? ours : convert(ours, *library, CopyMode::if_needed);
}

py::object results_from(const ResultForm& form, std::vector<Array> results) {
  if (form.kind == ResultForm::Kind::one)
    return hand_over(std::move(results[0]), form.libraries[0]);
  if (form.kind == ResultForm::Kind::dict) {
    py::dict named;
    for (std::size_t i = 0; i < results.size(); ++i)
      named[py::handle(form.keys[i].get())] = hand_over(std::move(results[i]), form.libraries[i]);
    return named;
  }
  py::list list(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    list[i] = hand_over(std::move(results[i]), form.libraries[i]);
  return list;
}

PyObject* call_compiled(PyObject* self, PyObject* const* values, std::size_t flags,
                        PyObject* names) noexcept {
  try {
    const FunctionFace& face = face_in(self);
    // Held until the GIL is back, so that no argument's last reference goes without it.
    const std::vector<Array> arguments =
        arguments_from(face, values, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names);
    // To let go of the GIL and take it again is a tenth of what a small function costs.
    std::optional<std::vector<Array>> results = face.function.call_at_once(arguments);
    if (!results) {
      const WithoutGil unlocked;
      results = face.function(std::span<const Array>(arguments));
    }
    return results_from(face.form, std::move(*results)).release().ptr();
  } catch (...) {
    return raise_graph_error();
  }
}

void compiled_dealloc(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  auto* self = reinterpret_cast<PyFunction*>(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  self->face.~FunctionFace();
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) noexcept {
  return answered([&] {
    const CompiledFunction& function = face_in(self).function;
    return py::str(text("<spanwise.CompiledFunction ", function.name(), " on ", function.device(),
                        ": ", function.toposort().size(), " nodes>"));
  });
}

PyObject* get_name(PyObject* self, void*) noexcept {
  return answered([&] { return py::str(face_in(self).function.name()); });
}
PyObject* get_device(PyObject* self, void*) noexcept {
  return answered([&] { return device_object(face_in(self).function.device()); });
}
PyObject* get_maker(PyObject* self, void*) noexcept {
  return answered([&] {
    const CompiledFunction& function = face_in(self).function;
    std::vector<Variable> outputs =
        function.outputs();  // and, as in Theano, the updates after them
    for (const auto& update : function.updates()) outputs.push_back(update.second);
    py::list reports;
    for (const RewriteReport& report : function.rewrites())
      reports.append(py::make_tuple(report.name, report.changes, report.seconds));
    return py::module_::import("spanwise.graph")
        .attr("Maker")(function.inputs(), outputs, function.toposort(), function.updates(),
                       reports);
  });
}
PyObject* get_mode(PyObject* self, void*) noexcept {
  return answered([&] { return py::str(face_in(self).function.mode()); });
}
PyObject* get_trust(PyObject* self, void*) noexcept {
  return PyBool_FromLong(face_in(self).trust_input);
}
int set_trust(PyObject* self, PyObject* value, void*) noexcept {
  const int trust = value == nullptr ? 0 : PyObject_IsTrue(value);
  if (trust < 0) return -1;
  face_in(self).trust_input = trust != 0;
  return 0;
}

PyObject* free_memory(PyObject* self, PyObject*) noexcept {
  try {
    {
      const WithoutGil unlocked;
      face_in(self).function.free();
    }
    Py_RETURN_NONE;
  } catch (...) {
    return raise_graph_error();
  }
}

PyObject* get_profile(PyObject* self, void*) noexcept {
  return answered([&]() -> py::object {
    if (!face_in(self).function.profile()) return py::none();
    return py::module_::import("spanwise.profile").attr("Profile")(py::handle(self));
  });
}

// calls, seconds in calls, seconds of compiling, and node, calls, seconds and bytes of each step.
PyObject* profile_data(PyObject* self, PyObject*) noexcept {
  return answered([&] {
    const CompiledFunction& function = face_in(self).function;
    std::optional<FunctionProfile> profile;
    {
      const WithoutGil unlocked;
      profile = function.profile();
    }
    require<GraphError>(profile.has_value(), "function ", function.name(),
                        " is not profiled; compile it with profile=True");
    py::list steps;
    for (const StepProfile& step : profile->steps)
      steps.append(py::make_tuple(step.node, step.calls, step.seconds, step.output_bytes));
    return py::make_tuple(profile->calls, profile->call_seconds, function.compile_seconds(), steps);
  });
}

PyObject* profile_spans(PyObject* self, PyObject*) noexcept {
  return answered([&] {
    py::list spans;
    for (const StepSpan& span : face_in(self).function.spans())
      spans.append(py::make_tuple(span.step, span.start, span.seconds));
    return spans;
  });
}

// A function of the same graph, from what this one was made of.
PyObject* copy_compiled(PyObject* self, PyObject* arguments, PyObject* keywords) noexcept {
  return answered([&] {
    py::tuple all(1 + PyTuple_GET_SIZE(arguments));
    all[0] = py::reinterpret_borrow<py::object>(face_in(self).recipe.get());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i)
      all[static_cast<std::size_t>(i + 1)] = py::handle(PyTuple_GET_ITEM(arguments, i));
    const py::object copy = py::module_::import("spanwise.graph").attr("copy_function");
    PyObject* result = PyObject_Call(copy.ptr(), all.ptr(), keywords);
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  });
}

PyObject* reduce_compiled(PyObject* self, PyObject*) noexcept {
  return answered([&] {
    return py::module_::import("spanwise._graph_pickle")
        .attr("reduce_function")(py::handle(self), py::handle(face_in(self).recipe.get()));
  });
}

PyGetSetDef compiled_attributes[] = {
    {"name", get_name, nullptr, nullptr, nullptr},
    {"device", get_device, nullptr, "Where it runs.", nullptr},
    {"maker", get_maker, nullptr, "maker.fgraph is the graph that runs.", nullptr},
    {"mode", get_mode, nullptr, "\"fast_run\", \"fast_compile\" or \"debug\".", nullptr},
    {"profile", get_profile, nullptr, "What it cost; None without profile=True.", nullptr},
    {"trust_input", get_trust, set_trust,
     "True: every argument is a spanwise.Array of the right dtype.", nullptr},
    {}};

PyMethodDef compiled_methods[] = {
    {"free", free_memory, METH_NOARGS, "Drops the buffers kept for the next call."},
    {"__reduce__", reduce_compiled, METH_NOARGS, nullptr},
    {"_profile_data", profile_data, METH_NOARGS, nullptr},
    {"_profile_spans", profile_spans, METH_NOARGS, nullptr},
    {"copy", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&copy_compiled)),
     METH_VARARGS | METH_KEYWORDS,
     "copy($self, *, name=None, swap=None, delete_updates=False, mode=None)\n--\n\n"
     "A function of the same graph with buffers of its own. `swap` puts other shared variables in "
     "the place of some: {old: new}."},
    {}};

PyMemberDef compiled_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weakrefs), READONLY, nullptr},
    {}};

}  // namespace

py::object wrap_compiled(FunctionFace face) {
  PyObject* object = function_type->tp_alloc(function_type, 0);
  if (object == nullptr) throw py::error_already_set();
  auto* self = reinterpret_cast<PyFunction*>(object);
  self->vectorcall = call_compiled;
  new (&self->face) FunctionFace(std::move(face));
  return py::reinterpret_steal<py::object>(object);
}

SW_BIND(graph_function, 84) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(compiled_dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
      {Py_tp_getset, compiled_attributes},
      {Py_tp_methods, compiled_methods},
      {Py_tp_members, compiled_members},
      {Py_tp_doc, const_cast<char*>("A compiled graph. Call it with the inputs' values, of any "
                                    "library, by position or by name.")},
      {0, nullptr}};
  PyType_Spec spec{
      "spanwise.CompiledFunction", sizeof(PyFunction), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  function_type = reinterpret_cast<PyTypeObject*>(type);
  module.add_object("CompiledFunction", py::reinterpret_borrow<py::object>(type));
}

}  // namespace spanwise::python
