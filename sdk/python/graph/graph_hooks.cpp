// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/error_classes.hpp"
#include "python/support/gil.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/python/binding.hpp"

/// Hooks of the C++ graph into Python: the stack trace of new nodes, notes on Python exceptions,
/// and warnings.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The package's folder, with a slash at its end. Traces omit frames of its files.
std::string* package_folder = nullptr;

constexpr int max_frames = 4;  // of a trace: the innermost ones, to keep error messages short

py::object steal(void* object) {
  return py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
}

bool is_internal_file(const std::string& file) {
  return file.starts_with(*package_folder) || file.starts_with("<frozen ");
}

std::string describe_frame(PyFrameObject* frame, const std::string& file, py::handle code) {
  return "  File \"" + file + "\", line " + std::to_string(PyFrame_GetLineNumber(frame)) + ", in " +
         py::str(code.attr("co_name")).cast<std::string>();
}

std::string user_frames() {
  std::string lines;  // the innermost frame last
  int count = 0;
  py::object frame =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame && count < max_frames) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const py::object code = steal(PyFrame_GetCode(raw));
    const auto file = py::str(code.attr("co_filename")).cast<std::string>();
    if (!is_internal_file(file))
      lines = describe_frame(raw, file, code) + (count++ == 0 ? "" : "\n" + lines);
    frame = steal(PyFrame_GetBack(raw));
  }
  return lines;
}

// The Python stack of the user's program; "" on threads without the GIL, on which rewrites make
// nodes.
std::string trace() {
  if (!holds_gil()) return "";
  try {
    return user_frames();
  } catch (py::error_already_set&) {
    return "";
  }
}

// Before Python 3.11 exceptions have no notes: the note becomes a GraphError at the end of the
// chain of causes.
void chain_note(py::object exception, const std::string& note) {
  for (;;) {
    PyObject* cause = PyException_GetCause(exception.ptr());
    if (cause == nullptr) cause = PyException_GetContext(exception.ptr());
    if (cause == nullptr) break;
    exception = steal(cause);
  }
  py::object cause = py::reinterpret_borrow<py::object>(errors.graph)(note);
  PyException_SetCause(exception.ptr(), cause.release().ptr());
}

bool try_add_note(const std::exception_ptr& exception, const std::string& note) noexcept {
  try {
    std::rethrow_exception(exception);
  } catch (py::error_already_set& error) {
    const GilAcquire gil;
    try {
      const py::object value = error.value();
      if (py::hasattr(value, "add_note"))
        value.attr("add_note")(note);
      else
        chain_note(value, note);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  } catch (...) {
    return false;
  }
}

void warn(const std::string& message) {
  const GilAcquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 2) != 0) throw py::error_already_set();
}

// Passes a new node to spanwise.graph._function. Not those that are made without the GIL, by the
// compilation of a function.
void observe(const Ref<Apply>& node) {
  if (!holds_gil()) return;
  py::module_::import("spanwise.graph._function").attr("observe")(py::cast(node));
}

}  // namespace

SW_BIND(graph_hooks, errors) {
  const auto folder = py::module_::import("os.path").attr("dirname")(module.attr("__file__"));
  package_folder = new std::string(folder.cast<std::string>() + "/");
  graph::set_trace_source(&trace);
  graph::set_exception_noter(&try_add_note);
  graph::set_warning_sink(&warn);
  graph::set_node_observer(&observe);
}

}  // namespace spanwise::python
