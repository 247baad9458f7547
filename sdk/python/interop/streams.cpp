// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <array>
#include <string>
#include <string_view>

#include "python/support/snapshot.hpp"
#include "streams.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::uintptr_t torch_stream(int ordinal) {
  const py::object cuda = loaded_module("torch.cuda");
  if (!cuda) return 0;
  return cuda.attr("current_stream")(ordinal).attr("cuda_stream").cast<std::uintptr_t>();
}

// CuPy has a current stream for each device.
std::uintptr_t cupy_stream(int ordinal) {
  const py::object cuda = loaded_module("cupy.cuda");
  if (!cuda) return 0;
  return cuda.attr("get_current_stream")(ordinal).attr("ptr").cast<std::uintptr_t>();
}

// Numba has one default stream per context: by default the legacy default stream.
std::uintptr_t numba_stream(int) {
  const py::object cuda = loaded_module("numba.cuda");
  if (!cuda) return 0;
  const py::object handle = cuda.attr("default_stream")().attr("handle");
  const py::object value = py::getattr(handle, "value", handle);
  return value.is_none() ? 0 : py::int_(value).cast<std::uintptr_t>();
}

struct StreamLibrary {
  std::string_view package;
  std::uintptr_t (*current_stream)(int ordinal);
};
constexpr std::array<StreamLibrary, 3> libraries{
    {{"torch", &torch_stream}, {"cupy", &cupy_stream}, {"numba", &numba_stream}}};

// "torch.nn.parameter.Parameter" -> "torch"
std::string package_of(PyTypeObject* type) {
  const py::object module =
      py::getattr(reinterpret_cast<PyObject*>(type), "__module__", py::none());
  const std::string name = PyUnicode_Check(module.ptr()) ? std::string(py::str(module)) : "";
  return name.substr(0, name.find('.'));
}

}  // namespace

std::uintptr_t current_stream_of_library(PyObject* object, int ordinal) noexcept {
  try {
    // Also looks at base classes, for subclasses defined in other modules.
    for (PyTypeObject* type = Py_TYPE(object); type != nullptr; type = type->tp_base) {
      const std::string package = package_of(type);
      for (const StreamLibrary& library : libraries)
        if (package == library.package) return library.current_stream(ordinal);
    }
  } catch (const std::exception&) {
    // The caller falls back to the legacy default stream.
  }
  return 0;
}

}  // namespace spanwise::python
