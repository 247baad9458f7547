// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "function.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <new>
#include <utility>

#include "apply.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/gil.hpp"
#include "spanwise/error.hpp"
#include "variable.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

PyTypeObject* function_type = nullptr;

FunctionBinding& face_in(PyObject* object) noexcept {
  return reinterpret_cast<PyFunction*>(object)->face;
}

void compiled_dealloc(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  auto* self = reinterpret_cast<PyFunction*>(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  self->face.~FunctionBinding();
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) noexcept {
  return result_or_error([&] {
    const CompiledFunction& function = face_in(self).function;
    return py::str(text("<spanwise.CompiledFunction ", function.name(), " on ", function.device(),
                        ": ", function.toposort().size(), " nodes>"));
  });
}

PyObject* get_name(PyObject* self, void*) noexcept {
  return result_or_error([&] { return py::str(face_in(self).function.name()); });
}
PyObject* get_device(PyObject* self, void*) noexcept {
  return result_or_error([&] { return device_object(face_in(self).function.device()); });
}
PyObject* get_maker(PyObject* self, void*) noexcept {
  return result_or_error([&] {
    const CompiledFunction& function = face_in(self).function;
    std::vector<Variable> outputs = function.outputs();  // followed by the updates, as in Theano
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
  return result_or_error([&] { return py::str(face_in(self).function.mode()); });
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
      const GilRelease unlocked;
      face_in(self).function.free();
    }
    Py_RETURN_NONE;
  } catch (...) {
    return raise_graph_error();
  }
}

PyObject* get_profile(PyObject* self, void*) noexcept {
  return result_or_error([&]() -> py::object {
    if (!face_in(self).function.is_profiled()) return py::none();
    return py::module_::import("spanwise.profile").attr("Profile")(py::handle(self));
  });
}

// (calls, seconds in calls, seconds of compiling, [(node, calls, seconds, output bytes) per step]).
PyObject* profile_data(PyObject* self, PyObject*) noexcept {
  return result_or_error([&] {
    const CompiledFunction& function = face_in(self).function;
    std::optional<FunctionProfile> profile;
    {
      const GilRelease unlocked;
      profile = function.profile();
    }
    if (!profile.has_value())
      fail<GraphError>("function ", function.name(),
                       " is not profiled; compile it with profile=True");
    py::list steps;
    for (const StepProfile& step : profile->steps)
      steps.append(py::make_tuple(step.node, step.calls, step.seconds, step.output_bytes));
    return py::make_tuple(profile->calls, profile->call_seconds, function.compile_seconds(), steps);
  });
}

PyObject* profile_spans(PyObject* self, PyObject*) noexcept {
  return result_or_error([&] {
    std::vector<StepSpan> all;
    {
      const GilRelease unlocked;
      all = face_in(self).function.spans();
    }
    py::list spans;
    for (const StepSpan& span : all)
      spans.append(py::make_tuple(span.step, span.start, span.seconds));
    return spans;
  });
}

// f.copy(...): compiles the recipe of this function again.
PyObject* copy_compiled(PyObject* self, PyObject* arguments, PyObject* keywords) noexcept {
  return result_or_error([&] {
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
  return result_or_error([&] {
    return py::module_::import("spanwise._graph.pickle")
        .attr("reduce_function")(py::handle(self), py::handle(face_in(self).recipe.get()));
  });
}

PyGetSetDef compiled_attributes[] = {
    {"name", get_name, nullptr, nullptr, nullptr},
    {"device", get_device, nullptr, "The device it runs on.", nullptr},
    {"maker", get_maker, nullptr, "maker.fgraph is the graph after all rewrites.", nullptr},
    {"mode", get_mode, nullptr, "\"fast_run\", \"fast_compile\" or \"debug\".", nullptr},
    {"profile", get_profile, nullptr, "A Profile; None without profile=True.", nullptr},
    {"trust_input", get_trust, set_trust,
     "True: arguments are not converted; each must be a spanwise.Array of the right dtype.",
     nullptr},
    {}};

PyMethodDef compiled_methods[] = {
    {"free", free_memory, METH_NOARGS, "Frees the buffers that are kept for the next call."},
    {"__reduce__", reduce_compiled, METH_NOARGS, nullptr},
    {"_profile_data", profile_data, METH_NOARGS, nullptr},
    {"_profile_spans", profile_spans, METH_NOARGS, nullptr},
    {"copy", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&copy_compiled)),
     METH_VARARGS | METH_KEYWORDS,
     "copy($self, *, name=None, swap=None, delete_updates=False, mode=None)\n--\n\n"
     "A new function of the same graph, with its own buffers. `swap` replaces shared variables: "
     "{old: new}. `delete_updates` leaves out the updates."},
    {}};

PyMemberDef compiled_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weakrefs), READONLY, nullptr},
    {}};

}  // namespace

py::object wrap_compiled(FunctionBinding face) {
  PyObject* object = function_type->tp_alloc(function_type, 0);
  if (object == nullptr) throw py::error_already_set();
  auto* self = reinterpret_cast<PyFunction*>(object);
  self->vectorcall = call_compiled;
  new (&self->face) FunctionBinding(std::move(face));
  return py::reinterpret_steal<py::object>(object);
}

SW_BIND(graph_function) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(compiled_dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
      {Py_tp_getset, compiled_attributes},
      {Py_tp_methods, compiled_methods},
      {Py_tp_members, compiled_members},
      {Py_tp_doc, const_cast<char*>("A compiled graph. Call it with the values of the inputs, "
                                    "arrays of any library, by position or by name.")},
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
