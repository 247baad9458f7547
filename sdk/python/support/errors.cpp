// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include <initializer_list>
#include <new>
#include <string>

#include "array.hpp"
#include "bind.hpp"
#include "errors.hpp"
#include "spanwise/axis_error.hpp"
#include "spanwise/communicator.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/function.hpp"
#include "value.hpp"

namespace spanwise::python {

ErrorClasses errors;

namespace {

PyObject* collective_error = nullptr;  // spanwise.CollectiveError, set by module initialisation

namespace py = pybind11;

// The reference is never dropped: exceptions may be raised until the process ends.
PyObject* make_class(py::module_& module, const char* name, const char* doc,
                     std::initializer_list<PyObject*> bases) {
  py::tuple base_tuple(bases.size());
  std::size_t i = 0;
  for (PyObject* base : bases) base_tuple[i++] = py::reinterpret_borrow<py::object>(base);
  const std::string qualified = std::string("spanwise.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, base_tuple.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  module.add_object(name, py::reinterpret_borrow<py::object>(type));
  return type;
}

// `text` decoded as UTF-8. Invalid bytes, which logs and sources may contain, are replaced: they
// must not replace the error by a UnicodeDecodeError.
py::object lenient_text(const std::string& text) {
  PyObject* object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

void raise(PyObject* type, const Error& error,
           std::initializer_list<std::pair<const char*, py::object>> attributes = {}) {
  const py::object instance = py::reinterpret_borrow<py::object>(type)(lenient_text(error.what()));
  for (const auto& [name, value] : attributes) py::setattr(instance, name, value);
  PyErr_SetObject(type, instance.ptr());
}

// A class of C++ exceptions and its Python class.
struct ErrorKind {
  bool (*has)(const Error& error);
  PyObject* ErrorClasses::* type;
};
template <class E>
bool is_a(const Error& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}
// Derived classes first.
constexpr ErrorKind error_kinds[] = {
    {&is_a<ArgumentError>, &ErrorClasses::argument},
    {&is_a<AxisError>, &ErrorClasses::axis},
    {&is_a<LayoutError>, &ErrorClasses::layout},
    {&is_a<BoundsError>, &ErrorClasses::bounds},
    {&is_a<DTypeError>, &ErrorClasses::dtype},
    {&is_a<CopyNeededError>, &ErrorClasses::copy_needed},
    {&is_a<ReadOnlyError>, &ErrorClasses::read_only},
    {&is_a<BridgeError>, &ErrorClasses::bridge},
    {&is_a<KernelArgumentError>, &ErrorClasses::kernel_argument},
    {&is_a<InputError>, &ErrorClasses::input},
    {&is_a<GraphError>, &ErrorClasses::graph},
    {&is_a<OutOfMemoryError>, &ErrorClasses::out_of_memory},
    {&is_a<KernelFaultError>, &ErrorClasses::kernel_fault},
    {&is_a<DeviceError>, &ErrorClasses::device},
};
PyObject* class_of(const Error& error) {
  for (const ErrorKind& kind : error_kinds)
    if (kind.has(error)) return errors.*kind.type;
  return errors.error;
}

void translate(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const DeviceError& e) {
    raise(class_of(e), e, {{"code", py::int_(e.code())}, {"name", py::str(e.name())}});
  } catch (const CompileError& e) {
    raise(errors.compile, e,
          {{"log", lenient_text(e.log())}, {"source", lenient_text(e.source())}});
  } catch (const CollectiveError& e) {
    raise(collective_error, e,
          {{"number", py::int_(e.number())},
           {"op", py::str(e.op())},
           {"calls", py::cast(e.calls())}});
  } catch (const Error& e) {
    raise(class_of(e), e);
  } catch (const py::reference_cast_error&) {
    throw;  // pybind11 tries the next overload
  } catch (const py::cast_error& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  }
}

}  // namespace

bool set_error(const std::exception_ptr& exception) noexcept {
  try {
    translate(exception);
    return true;
  } catch (py::error_already_set& e) {
    // `exception` itself, or an error while making its Python object.
    e.restore();
    return true;
  } catch (...) {
    return false;
  }
}

void raise_unexpected(py::handle object, const char* what, const char* expected) {
  constexpr std::size_t most_letters = 60;
  std::string shown = py::repr(object);
  if (shown.size() > most_letters) shown = shown.substr(0, most_letters) + "...";
  throw py::type_error(text(what, ": expected ", expected, ", got ", shown, " of type ",
                            Py_TYPE(object.ptr())->tp_name));
}

const Array& checked_array(PyObject* object, const char* what) {
  if (!is_array(object)) raise_unexpected(object, what, "a spanwise.Array");
  return array_in(object);
}

PyObject* raise_current() noexcept {
  if (set_error(std::current_exception())) return nullptr;
  try {
    throw;
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "spanwise: an exception that is no std::exception");
  }
  return nullptr;
}

SW_BIND(errors) {
  ErrorClasses& e = errors;
  e.error =
      make_class(module, "Error", "Base class of the exceptions of spanwise.", {PyExc_Exception});
  e.argument = make_class(module, "ArgumentError", "An invalid value of an argument.",
                          {e.error, PyExc_ValueError});
  e.layout = make_class(module, "LayoutError", "An unsuitable shape, stride or axis.",
                        {e.error, PyExc_ValueError});
  e.axis = make_class(module, "AxisError", "An out-of-range axis.", {e.layout, PyExc_IndexError});
  e.bounds = make_class(module, "BoundsError", "An out-of-range or invalid index.",
                        {e.error, PyExc_IndexError});
  e.dtype =
      make_class(module, "DTypeError", "A dtype that the operation or library does not support.",
                 {e.error, PyExc_TypeError});
  e.copy_needed =
      make_class(module, "CopyNeededError", "Memory cannot be shared, and no copy is allowed.",
                 {e.error, PyExc_ValueError, PyExc_BufferError});
  e.read_only = make_class(module, "ReadOnlyError", "A write to read-only memory.",
                           {e.error, PyExc_ValueError});
  e.bridge =
      make_class(module, "BridgeError", "An object that no bridge, or not the given one, converts.",
                 {e.error, PyExc_TypeError});
  e.kernel_argument = make_class(module, "KernelArgumentError",
                                 "Arguments that do not match the kernel's parameters.",
                                 {e.error, PyExc_TypeError});
  e.compile = make_class(module, "CompileError",
                         "A kernel that does not compile or link. .log is the compiler's output, "
                         ".source the source with line numbers.",
                         {e.error});
  e.device =
      make_class(module, "DeviceError",
                 "An error of a device, driver or library, or a missing one. .code and .name "
                 "are the driver's error.",
                 {e.error});
  e.out_of_memory = make_class(module, "OutOfMemoryError", "No memory left on a device.",
                               {e.device, PyExc_MemoryError});
  // MemoryError has a __new__ of its own, which would be found first and refuse this class.
  py::setattr(e.out_of_memory, "__new__", py::handle(PyExc_BaseException).attr("__new__"));
  e.kernel_fault =
      make_class(module, "KernelFaultError",
                 "A kernel that failed while it ran: an assertion, a signal, divergent "
                 "barriers, or a finding of config.kernel_check.",
                 {e.device});
  // Defaults for exceptions that are raised from Python code.
  for (const char* name : {"log", "source"}) py::setattr(e.compile, name, py::str());
  py::setattr(e.device, "code", py::int_(0));
  py::setattr(e.device, "name", py::str());
  e.graph = make_class(module, "GraphError",
                       "An invalid graph, or an op that violates its contract.", {e.error});
  e.input = make_class(module, "InputError",
                       "An argument of a compiled function that does not match its input.",
                       {e.graph, PyExc_TypeError});
  e.not_supported = make_class(module, "NotSupportedError",
                               "A function of NumPy or of the array API that is not implemented.",
                               {e.error, PyExc_NotImplementedError});
  collective_error = make_class(
      module, "CollectiveError",
      "A collective call that failed: ranks that disagree, are late, have ended or have "
      "raised. .number is the call's, .op its description, .calls each rank's last call.",
      {e.error, PyExc_RuntimeError});
  py::setattr(collective_error, "number", py::int_(-1));
  py::setattr(collective_error, "op", py::str());
  py::setattr(collective_error, "calls", py::list());
  py::register_exception_translator([](std::exception_ptr exception) {
    if (exception && !set_error(exception)) std::rethrow_exception(exception);
  });
}

}  // namespace spanwise::python
