// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <string>

#include "convert.hpp"
#include "import.hpp"
#include "interface.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "spanwise/core/error.hpp"
#include "types.hpp"

/// from_dlpack(), convert(), and to_X() and from_X() for each library X. Plain C functions without
/// pybind11, since programs that mix libraries call them for every array.
namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const AttributeName dlpack_name("__dlpack__");

// Whether the bridge that is cached for the type knows that its objects have __dlpack__, which
// saves the lookup.
bool is_cached_as_dlpack(PyObject* object) {
  const Bridge* bridge = bridge_of_type(Py_TYPE(object));
  return bridge != nullptr && bridge->speaks_dlpack(object);
}

bool offers_dlpack(PyObject* object) {
  return is_cached_as_dlpack(object) || PyCapsule_CheckExact(object) ||
         attribute_or_null(object, dlpack_name);
}

PyObject* shared_through_dlpack(PyObject* x) {
  return is_cached_as_dlpack(x) ? shared_object(x) : nullptr;
}

PyObject* from_dlpack(PyObject* x, PyObject* device, PyObject* copy) {
  if (!offers_dlpack(x))
    fail<BridgeError>("from_dlpack: a ", Py_TYPE(x)->tp_name,
                      " has no __dlpack__; spanwise.asarray() converts other arrays too");
  ImportOptions options{.copy = copy_mode_from(copy)};
  if (given(device)) options.device = device_from(device);
  return wrap(import_array(x, options));
}

PyObject* convert_to_named(PyObject* x, PyObject* library, PyObject* copyif) {
  if (!PyUnicode_Check(library)) throw py::type_error("convert(): library must be a str");
  const Bridge& target = target_bridge(std::string(py::str(py::handle(library))));
  return convert(x, target, copyif_mode_from(copyif)).release().ptr();
}

const Bridge& bridge_of_capsule(PyObject* self) {
  return *static_cast<const Bridge*>(PyCapsule_GetPointer(self, nullptr));
}

PyObject* to_library(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  if (count == 1 && names == nullptr && is_array(values[0]))
    if (PyObject* result = shared_with(bridge_of_capsule(self), array_in(values[0]))) return result;
  static constexpr CallSignature<2> signature{"to_<library>", {"x", "copyif"}, 1, 2};
  const auto [x, copyif] = signature.read(values, count, names);
  return convert(x, bridge_of_capsule(self), copyif_mode_from(copyif)).release().ptr();
}

PyObject* from_library(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  if (count == 1 && names == nullptr) {
    PyObject* shared = shared_object(values[0], &bridge_of_capsule(self));
    if (shared != nullptr || PyErr_Occurred() != nullptr) return shared;
  }
  static constexpr CallSignature<2> signature{"from_<library>", {"x", "copyif"}, 1, 2};
  const auto [x, copyif] = signature.read(values, count, names);
  return wrap(import_through(bridge_of_capsule(self), x, {.copy = copyif_mode_from(copyif)}));
}

// Adds to_<library>() or from_<library>(). The definition and its strings are never freed, since
// the function refers to them.
void add_conversion(py::module_& module, const Bridge& bridge, bool is_export) {
  const std::string library(bridge.name());
  const auto* name = new std::string((is_export ? "to_" : "from_") + library);
  const auto* doc = new std::string(
      *name + "(x, copyif=False)\n--\n\n" +
      (is_export
           ? "`x`, any library's array, as an array of " + library + " that shares its memory.\n"
           : "`x`, an array of " + library + ", as a spanwise.Array that shares its memory.\n") +
      "If the memory cannot be shared: CopyNeededError, or a copy with copyif=True.");
  auto* definition =
      new PyMethodDef(is_export ? method<&to_library>(name->c_str(), doc->c_str())
                                : method<&from_library>(name->c_str(), doc->c_str()));
  const py::capsule self(static_cast<const void*>(&bridge));
  const py::str module_name = py::str(module.attr("__name__"));
  module.add_object(name->c_str(),
                    owned(PyCFunction_NewEx(definition, self.ptr(), module_name.ptr())));
}

PyMethodDef bridge_functions[] = {
    declared<
        "from_dlpack(x, /, *, device=None, copy=None)",
        "An Array from an object with __dlpack__, or from a DLPack capsule. Shares memory if "
        "it\ncan, else copies; copy=False raises CopyNeededError instead, copy=True always copies.",
        &from_dlpack, &shared_through_dlpack>(),
    declared<
        "convert(x, library, copyif=False)",
        "`x`, any library's array, as an array of \"numpy\", \"torch\", \"jax\", "
        "\"cupy\",\n\"numba\", \"pycuda\", \"cudamat\", \"gnumpy\", \"warp\" or \"tensorflow\". It "
        "shares the\nmemory of `x`; if that is not possible, it raises CopyNeededError, or returns "
        "a copy\nwith copyif=True. `x` itself if it is an array of that library.",
        &convert_to_named>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(bridge_functions) {
  add_functions(module, bridge_functions);
  for (const Bridge* bridge : registered_bridges()) {
    if (!bridge->exports()) continue;
    add_conversion(module, *bridge, /*is_export=*/true);
    add_conversion(module, *bridge, /*is_export=*/false);
  }
}

}  // namespace spanwise::python
