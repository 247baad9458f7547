// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/support/error_classes.hpp"
#include "spanwise/core/error.hpp"

/// Signatures of pybind11's functions as inspect.signature() reads them, and error texts of calls
/// that pybind11 refuses because the arguments have other types than the function's parameters.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using Dispatcher = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);
// pybind11's, the same for all functions.
constinit Dispatcher dispatcher = nullptr;

// The text between `begin` and `end`; nothing if one of them is missing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t start = text.find(begin);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + begin.size());
  return text.substr(0, text.find(end));
}

// "(a: int, b: str = 'x')" of "(self: module.Class, a: int, b: str = 'x') -> int", or of
// "module.Class(a: int, b: str = 'x')".
std::string parameters_in(std::string_view signature) {
  signature.remove_prefix(std::min(signature.find('('), signature.size()));
  signature = signature.substr(0, signature.rfind(" -> "));
  if (!signature.starts_with("(self: ")) return std::string(signature);
  const std::size_t comma = signature.find(", ");
  return comma == std::string_view::npos ? "()" : "(" + std::string(signature.substr(comma + 2));
}

// The message for a call with these arguments; "" if `message` is not pybind11's of such a call.
std::string explained(std::string_view message, PyObject* const* values, std::size_t count,
                      PyObject* names) {
  const bool is_constructor = message.starts_with("__init__(): incompatible constructor arguments");
  const std::string_view name = message.substr(0, message.find("(): incompatible "));
  const std::string_view list = between(message, "are supported:\n", "\n\nInvoked with: ");
  if (name.size() == message.size() || list.empty()) return {};
  std::string expected;
  for (std::string_view left = list; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));  // "    1. (self: ...) -> ..."
    expected += (expected.empty() ? "" : " or ") + parameters_in(line);
    left.remove_prefix(std::min(line.size() + 1, left.size()));
  }
  const bool is_method = is_constructor || list.find("(self: ") != std::string_view::npos;
  std::string got;
  const std::size_t keywords =
      names != nullptr ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0;
  for (std::size_t i = is_method ? 1 : 0; i < count + keywords; ++i) {
    got += got.empty() ? "" : ", ";
    if (i >= count)
      got +=
          std::string(py::str(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i - count)))) + "=";
    got += value_and_type(values[i]);
  }
  std::string caller(name.starts_with('_') && !name.starts_with("__") ? name.substr(1) : name);
  if (is_method && count > 0)
    caller = std::string(py::str(py::type::handle_of(values[0]).attr("__name__"))) +
             (is_constructor || caller.empty() ? "" : "." + caller);
  return text(caller, ": expected ", expected, ", got ", got.empty() ? "no arguments" : got);
}

PyObject* call_and_explain(PyObject* self, PyObject* const* values, std::size_t flags,
                           PyObject* names) noexcept {
  PyObject* result = dispatcher(self, values, flags, names);
  if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
  std::string explanation;
  try {
    const py::error_scope error;  // restores pybind11's error
    const std::string message = py::str(error.value);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    explanation = explained(message, values, count, names);
  } catch (const std::exception&) {  // that error stays
  }
  if (!explanation.empty()) PyErr_SetString(PyExc_TypeError, explanation.c_str());
  return nullptr;
}

// pybind11's description of a function; null if it is not one of pybind11's.
py::detail::function_record* record_of(py::handle object) {
  PyObject* function = object.ptr();
  if (PyInstanceMethod_Check(function)) function = PyInstanceMethod_GET_FUNCTION(function);
  if (!PyCFunction_CheckExact(function)) return nullptr;
  PyObject* self = PyCFunction_GET_SELF(function);
  return self != nullptr ? py::detail::function_record_ptr_from_PyObject(self) : nullptr;
}

// The default as inspect.signature() accepts it: a literal, or "...".
std::string_view default_in(std::string_view written) {
  const bool is_word = written == "None" || written == "True" || written == "False";
  const bool is_literal = !written.empty() && written.find('<') == written.npos &&
                          std::string_view("'\"(-0123456789").find(written[0]) != written.npos;
  return is_word || is_literal ? written : "...";
}

// "(self, a, /, b=None, *, c='x')"
std::string text_signature(const py::detail::function_record& record) {
  if (record.next != nullptr) return "(*args, **kwargs)";  // overloaded
  const std::size_t count = record.nargs - (record.has_args ? 1 : 0) - (record.has_kwargs ? 1 : 0);
  std::string list;
  const auto add = [&](std::string_view part) { (list += list.empty() ? "" : ", ") += part; };
  for (std::size_t i = 0; i < count; ++i) {
    if (i == record.nargs_pos) add(record.has_args ? "*args" : "*");
    const auto* argument = i < record.args.size() ? &record.args[i] : nullptr;
    const bool is_self = i == 0 && record.is_method;
    const bool has_name = argument != nullptr && argument->name != nullptr;
    add(has_name ? argument->name : is_self ? "self" : text("arg", i - (record.is_method ? 1 : 0)));
    if (argument != nullptr && argument->descr != nullptr)
      list += text('=', default_in(argument->descr));
    // Without names, all parameters are passed by position.
    if (i + 1 == (has_name || is_self ? record.nargs_pos_only : count)) add("/");
  }
  if (record.has_args && record.nargs_pos >= count) add("*args");
  if (record.has_kwargs) add("**kwargs");
  return text('(', list, ')');
}

// Gives a function a signature for inspect.signature(), in place of pybind11's with the C++ types.
void describe(py::detail::function_record& record) {
  if (record.name == nullptr || record.name[0] == '\0' || record.def == nullptr) return;
  const std::string doc = text(record.name, text_signature(record), "\n--\n\n",
                               record.doc != nullptr ? record.doc : "");
  char* const copy = ::strdup(doc.c_str());  // pybind11 releases it by free()
  if (copy == nullptr) throw std::bad_alloc();
  std::free(const_cast<char*>(std::exchange(record.def->ml_doc, copy)));
}

// Before 3.1 pybind11's functions have another calling convention, and keep its message.
void explain_function(py::handle object) {
  py::detail::function_record* record = record_of(object);
  if (record == nullptr) return;
  describe(*record);
  PyMethodDef& definition = *record->def;
  const auto own = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_and_explain));
  if (definition.ml_flags != (METH_FASTCALL | METH_KEYWORDS) || definition.ml_meth == own) return;
  dispatcher = reinterpret_cast<Dispatcher>(reinterpret_cast<void (*)()>(definition.ml_meth));
  definition.ml_meth = own;
}

}  // namespace

std::string typed_signature(const py::handle& function) {
  const py::detail::function_record* record = record_of(function);
  return record != nullptr && record->next == nullptr ? text(record->name, record->signature) : "";
}

void explain_functions(const py::module_& module) {
  const py::dict names = module.attr("__dict__");
  for (const auto& [name, value] : names) explain_function(value);
  std::vector<py::object> types;  // those of addons are in modules of their own
  py::detail::with_internals([&](py::detail::internals& internals) {
    for (const auto& [cpp_type, record] : internals.registered_types_cpp)
      types.push_back(
          py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(record->type)));
  });
  for (const py::object& type : types) {
    if (!std::string(py::str(type.attr("__module__"))).starts_with("spanwise")) continue;
    const py::dict members(type.attr("__dict__"));
    for (const auto& [member_name, member] : members) {
      explain_function(member);
      const bool is_property = PyObject_TypeCheck(member.ptr(), &PyProperty_Type);
      if (!is_property && !PyObject_TypeCheck(member.ptr(), &PyStaticMethod_Type)) continue;
      for (const char* attribute : {"__func__", "fget", "fset"})
        explain_function(py::getattr(member, attribute, py::none()));
    }
  }
}

}  // namespace spanwise::python
