// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "function.hpp"

#include <pybind11/stl.h>
#include <structmember.h>

#include <new>
#include <utility>

#include "apply.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/python_function.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/error.hpp"
#include "variable.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

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

}  // namespace

py::object wrap_compiled(FunctionBinding binding) {
  py::object object = owned(function_type->tp_alloc(function_type, 0));
  auto* self = reinterpret_cast<PyFunction*>(object.ptr());
  self->vectorcall = guarded<&call_compiled>;
  new (&self->binding) FunctionBinding(std::move(binding));
  return object;
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

}  // namespace spanwise::python
