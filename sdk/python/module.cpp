// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "python/support/bind.hpp"
#include "spanwise/version.hpp"

namespace {

namespace py = pybind11;

[[noreturn]] void* raise_not_initialised(std::size_t) {
  throw py::type_error("spanwise: the object was not initialised; call its class, not __new__");
}

// For an object whose __init__ did not run (`T.__new__(T)`), pybind11 would allocate the C++ object
// without constructing it when a method is called. Replacing operator_new, which only this case
// calls, makes it raise TypeError instead.
void refuse_uninitialised_objects() {
  py::detail::with_internals([](py::detail::internals& internals) {
    for (const auto& [cpp_type, record] : internals.registered_types_cpp) {
      const std::string module =
          py::str(py::handle(reinterpret_cast<PyObject*>(record->type)).attr("__module__"));
      if (module.starts_with("spanwise")) record->operator_new = &raise_not_initialised;
    }
  });
}

std::vector<const spanwise::python::Part*> parts_in_order() {
  std::vector<const spanwise::python::Part*> parts;
  for (const auto* part = spanwise::python::Part::first; part != nullptr; part = part->next) {
    parts.push_back(part);
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto* a, const auto* b) { return a->order < b->order; });
  return parts;
}

}  // namespace

PYBIND11_MODULE(_core_of_main_interpreter, module) {
  module.doc() = "The extension module of spanwise. Import `spanwise` instead.";
  for (const auto* part : parts_in_order()) part->bind(module);
  refuse_uninitialised_objects();
}

// The entry point of the import. Raises ImportError in a sub-interpreter, where pybind11 would
// deadlock: it waits for a thread state of the main interpreter, whose GIL this thread holds.
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main())
    return PyInit__core_of_main_interpreter();
  PyErr_SetString(PyExc_ImportError,
                  "spanwise: expected the main interpreter, got a sub-interpreter, in which the "
                  "compiled half cannot run; import it in the main interpreter, or run the work in "
                  "a process of its own (multiprocessing)");
  return nullptr;
}
