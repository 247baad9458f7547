// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/error_classes.hpp"

#include <pybind11/stl.h>

#include <initializer_list>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "python/array/array_object.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {

namespace py = pybind11;

ErrorClasses errors;

namespace {

// A class of C++ exceptions and its Python class.
struct ErrorKind {
  const char* name;
  bool (*matches)(const Error& error);
  std::string_view bases;  // names in this table or of builtins, separated by spaces
  const char* doc;
  PyObject* type = nullptr;  // never dropped: exceptions may be raised until the process ends
};

template <class E>
bool is_a(const Error& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

// Base classes first.
ErrorKind error_kinds[] = {
    {"Error", [](const Error&) { return true; }, "Exception",
     "Base class of the exceptions of spanwise."},
    {"ArgumentError", &is_a<ArgumentError>, "Error ValueError", "An invalid value of an argument."},
    {"LayoutError", &is_a<LayoutError>, "Error ValueError", "An unsuitable shape, stride or axis."},
    {"AxisError", &is_a<AxisError>, "LayoutError IndexError", "An out-of-range axis."},
    {"BoundsError", &is_a<BoundsError>, "Error IndexError", "An out-of-range or invalid index."},
    {"DTypeError", &is_a<DTypeError>, "Error TypeError",
     "A dtype that the operation or library does not support."},
    {"CopyNeededError", &is_a<CopyNeededError>, "Error ValueError BufferError",
     "Memory cannot be shared, and no copy is allowed."},
    {"ReadOnlyError", &is_a<ReadOnlyError>, "Error ValueError", "A write to read-only memory."},
    {"BridgeError", &is_a<BridgeError>, "Error TypeError",
     "An object that no bridge, or not the given one, converts."},
    {"KernelArgumentError", &is_a<KernelArgumentError>, "Error TypeError",
     "Arguments that do not match the kernel's parameters."},
    {"CompileError", &is_a<CompileError>, "Error",
     "A kernel that does not compile or link. .log is the compiler's output, .source the source "
     "with line numbers."},
    {"DeviceError", &is_a<DeviceError>, "Error",
     "An error of a device, driver or library, or a missing one. .code and .name are the driver's "
     "error."},
    {"OutOfMemoryError", &is_a<OutOfMemoryError>, "DeviceError MemoryError",
     "No memory left on a device."},
    {"KernelFaultError", &is_a<KernelFaultError>, "DeviceError",
     "A kernel that failed while it ran: an assertion, a signal, divergent barriers, or a finding "
     "of config.kernel_check."},
    {"GraphError", &is_a<GraphError>, "Error",
     "An invalid graph, or an op that violates its contract."},
    {"InputError", &is_a<InputError>, "GraphError TypeError",
     "An argument of a compiled function that does not match its input."},
    {"NotSupportedError", [](const Error&) { return false; }, "Error NotImplementedError",
     "A function of NumPy or of the array API that is not implemented."},
    {"CollectiveError", &is_a<CollectiveError>, "Error RuntimeError",
     "A collective call that failed: ranks that disagree, are late, have ended or have raised. "
     ".number is the call's, .op its description, .calls each rank's last call."},
};

PyObject* class_of(const Error& error) {
  for (auto kind = std::rbegin(error_kinds); kind != std::rend(error_kinds); ++kind)
    if (kind->matches(error)) return kind->type;
  return nullptr;  // not reached: each is an Error
}

void make_class(py::module_& module, ErrorKind& kind) {
  py::list bases;
  for_each_word(kind.bases, [&](std::string_view word) {
    const std::string base(word);
    const py::object owner =
        py::hasattr(module, base.c_str()) ? py::object(module) : py::module_::import("builtins");
    bases.append(owner.attr(base.c_str()));
  });
  const std::string name = std::string("spanwise.") + kind.name;
  kind.type = PyErr_NewExceptionWithDoc(name.c_str(), kind.doc, py::tuple(bases).ptr(), nullptr);
  if (kind.type == nullptr) throw py::error_already_set();
  module.add_object(kind.name, py::handle(kind.type));
}

// `text` decoded as UTF-8. Invalid bytes, which logs and sources may contain, are replaced: they
// must not replace the error by a UnicodeDecodeError.
py::object lenient_text(const std::string& text) {
  return owned(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void raise(const Error& error,
           std::initializer_list<std::pair<const char*, py::object>> attributes = {}) {
  PyObject* type = class_of(error);
  const py::object instance = py::reinterpret_borrow<py::object>(type)(lenient_text(error.what()));
  for (const auto& [name, value] : attributes) py::setattr(instance, name, value);
  PyErr_SetObject(type, instance.ptr());
}

void translate(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const DeviceError& e) {
    raise(e, {{"code", py::int_(e.code())}, {"name", py::str(e.name())}});
  } catch (const CompileError& e) {
    raise(e, {{"log", lenient_text(e.log())}, {"source", lenient_text(e.source())}});
  } catch (const CollectiveError& e) {
    raise(e, {{"number", py::int_(e.number())},
              {"op", py::str(e.op())},
              {"calls", py::cast(e.calls())}});
  } catch (const Error& e) {
    raise(e);
  } catch (const std::system_error& e) {  // of files and threads
    PyErr_SetObject(PyExc_OSError, py::make_tuple(e.code().value(), lenient_text(e.what())).ptr());
  } catch (const py::reference_cast_error&) {
    throw;  // pybind11 tries the next overload
  } catch (const py::cast_error& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  }
}

}  // namespace

bool try_set_error(const std::exception_ptr& exception) noexcept {
  try {
    translate(exception);
    return true;
  } catch (py::error_already_set& e) {
    // `exception` is a Python error already, or making its Python object failed.
    e.restore();
    return true;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();  // `exception`, or there is no memory for its Python object
    return true;
  } catch (...) {
    return false;
  }
}

std::string value_and_type(PyObject* object) {
  constexpr py::ssize_t max_characters = 60;
  const auto repr = py::reinterpret_steal<py::str>(PyObject_Repr(object));
  if (!repr) PyErr_Clear();
  const auto size = static_cast<py::ssize_t>(repr ? py::len(repr) : 0);
  std::string shown = "an object";
  if (size > max_characters)
    shown = std::string(py::str(repr[py::slice(0, max_characters, 1)])) + "...";
  else if (repr)
    shown = repr;
  return text(shown, " of type ", Py_TYPE(object)->tp_name);
}

void raise_unexpected(py::handle object, const char* argument, const char* expected) {
  throw py::type_error(
      text(argument, ": expected ", expected, ", got ", value_and_type(object.ptr())));
}

const Array& checked_array(PyObject* object, const char* argument) {
  if (!is_array(object)) raise_unexpected(object, argument, "a spanwise.Array");
  return array_in(object);
}

void set_current_error() noexcept {
  if (try_set_error(std::current_exception())) return;
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
}

SW_BIND(errors) {
  for (ErrorKind& kind : error_kinds) make_class(module, kind);
  const auto named = [&](const char* name) { return module.attr(name).ptr(); };
  errors = {named("BoundsError"), named("DTypeError"), named("GraphError")};
  // By the method resolution order __new__ would be MemoryError's, which raises TypeError for this
  // class, since its tp_base is DeviceError.
  module.attr("OutOfMemoryError").attr("__new__") = py::handle(PyExc_BaseException).attr("__new__");
  // Defaults for exceptions that are raised from Python code.
  const auto set = [&](const char* name, const char* attribute, const py::object& value) {
    module.attr(name).attr(attribute) = value;
  };
  set("CompileError", "log", py::str());
  set("CompileError", "source", py::str());
  set("DeviceError", "code", py::int_(0));
  set("DeviceError", "name", py::str());
  set("CollectiveError", "number", py::int_(-1));
  set("CollectiveError", "op", py::str());
  set("CollectiveError", "calls", py::list());
  py::register_exception_translator([](std::exception_ptr exception) {
    if (exception && !try_set_error(exception)) std::rethrow_exception(exception);
  });
}

}  // namespace spanwise::python
