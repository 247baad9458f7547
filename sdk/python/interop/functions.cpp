// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <string>

#include "convert.hpp"
#include "import.hpp"
#include "interface.hpp"
#include "kwargs.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "spanwise/error.hpp"
#include "types.hpp"

/// from_dlpack(), convert() and one pair to_X(), from_X() a library: plain C functions, since
/// programs that mix libraries call them for every array.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using FastFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyMethodDef method(const char* name, FastFunction function, const char* doc) {
  return {name, as_c_function(function), METH_FASTCALL | METH_KEYWORDS, doc};
}

constinit const Name dlpack_name("__dlpack__");

// Objects of a type that such a bridge has served before need not be asked again.
bool is_known_to_speak_dlpack(PyObject* object) {
  const Bridge* known = bridge_of_type(Py_TYPE(object));
  return known != nullptr && known->speaks_dlpack(object);
}

bool offers_dlpack(PyObject* object) {
  return is_known_to_speak_dlpack(object) || PyCapsule_CheckExact(object) ||
         attribute_or_null(object, dlpack_name);
}

PyObject* from_dlpack(PyObject*, PyObject* const* values, Py_ssize_t count,
                      PyObject* names) noexcept {
  try {
    if (count == 1 && names == nullptr) {
      PyObject* shared = is_known_to_speak_dlpack(values[0]) ? shared_object(values[0]) : nullptr;
      if (shared != nullptr || PyErr_Occurred() != nullptr) return shared;
    }
    ImportOptions options;
    if (count != 1 || names != nullptr) {
      PyObject *device = nullptr, *copy = nullptr;
      parse_kwargs("from_dlpack", values, count, names, 1, {{"device", &device}, {"copy", &copy}});
      if (device != nullptr) options.device = device_from(device);
      options.copy = copy_mode_in(copy);
    }
    PyObject* object = values[0];
    if (!offers_dlpack(object))
      fail<BridgeError>("from_dlpack: a ", Py_TYPE(object)->tp_name,
                        " has no __dlpack__; spanwise.asarray() takes other arrays too");
    return wrap(import_array(object, options));
  } catch (...) {
    return raise_current();
  }
}

// f(x, copyif=False): the mode, after the one argument that each caller reads itself.
CopyMode read_copyif(const char* who, PyObject* const* values, Py_ssize_t count, PyObject* names,
                     Py_ssize_t first) {
  if (count == first && names == nullptr) return CopyMode::never;
  PyObject* copyif = nullptr;
  if (count == first + 1) {
    copyif = values[first];
    if (names != nullptr) throw py::type_error(text(who, "() got copyif twice"));
  } else if (count != first || names != nullptr) {
    parse_kwargs(who, values, count, names, first, {{"copyif", &copyif}});
  }
  return copyif_mode_in(copyif);
}

PyObject* convert_to_named(PyObject*, PyObject* const* values, Py_ssize_t count,
                           PyObject* names) noexcept {
  try {
    const CopyMode mode = read_copyif("convert", values, count, names, 2);
    if (!PyUnicode_Check(values[1])) throw py::type_error("convert(): library must be a str");
    const Bridge& target = target_bridge(std::string(py::str(py::handle(values[1]))));
    return convert(values[0], target, mode).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

const Bridge& bridge_in(PyObject* self) {
  return *static_cast<const Bridge*>(PyCapsule_GetPointer(self, nullptr));
}

PyObject* to_library(PyObject* self, PyObject* const* values, Py_ssize_t count,
                     PyObject* names) noexcept {
  try {
    if (count == 1 && names == nullptr && is_array(values[0]))
      if (PyObject* made = shared_with(bridge_in(self), array_in(values[0]))) return made;
    const CopyMode mode = read_copyif("to_<library>", values, count, names, 1);
    return convert(values[0], bridge_in(self), mode).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyObject* from_library(PyObject* self, PyObject* const* values, Py_ssize_t count,
                       PyObject* names) noexcept {
  try {
    if (count == 1 && names == nullptr) {
      PyObject* shared = shared_object_through(bridge_in(self), values[0]);
      if (shared != nullptr || PyErr_Occurred() != nullptr) return shared;
    }
    const CopyMode mode = read_copyif("from_<library>", values, count, names, 1);
    return wrap(import_through(bridge_in(self), values[0], {.copy = mode}));
  } catch (...) {
    return raise_current();
  }
}

// Definitions and their texts live as long as the process, like the functions.
void add_for(py::module_& module, const Bridge& bridge, bool to) {
  const std::string library(bridge.name());
  const auto* name = new std::string((to ? "to_" : "from_") + library);
  const auto* doc = new std::string(
      *name + "(x, copyif=False)\n--\n\n" +
      (to ? "`x`, any library's array, as an array of " + library + " that shares its memory.\n"
          : "`x`, an array of " + library + ", as a spanwise.Array that shares its memory.\n") +
      "Where that cannot be: CopyNeededError, or with copyif=True a copy that shares nothing.");
  auto* definition =
      new PyMethodDef(method(name->c_str(), to ? &to_library : &from_library, doc->c_str()));
  const py::capsule self(static_cast<const void*>(&bridge));
  const py::str module_name = py::str(module.attr("__name__"));
  PyObject* function = PyCFunction_NewEx(definition, self.ptr(), module_name.ptr());
  if (function == nullptr) throw py::error_already_set();
  module.add_object(name->c_str(), py::reinterpret_steal<py::object>(function));
}

PyMethodDef bridge_functions[] = {
    method("from_dlpack", &from_dlpack,
           "from_dlpack(x, /, *, device=None, copy=None)\n--\n\n"
           "An Array of an object with __dlpack__, or of a DLPack capsule. Shares memory where it\n"
           "can; copy=False raises CopyNeededError where it cannot, copy=True always copies."),
    method("convert", &convert_to_named,
           "convert(x, library, copyif=False)\n--\n\n"
           "`x`, any library's array, as an array of \"numpy\", \"torch\", \"jax\", \"cupy\",\n"
           "\"numba\", \"pycuda\", \"cudamat\", \"gnumpy\", \"warp\" or \"tensorflow\". Shares "
           "memory;\n"
           "where that cannot be it raises CopyNeededError, or with\n"
           "copyif=True gives a copy that shares nothing with `x`."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(bridge_functions, 62) {
  add_functions(module, bridge_functions);
  for (const Bridge* bridge : registered_bridges()) {
    if (!bridge->exports()) continue;
    add_for(module, *bridge, true);
    add_for(module, *bridge, false);
  }
}

}  // namespace spanwise::python
