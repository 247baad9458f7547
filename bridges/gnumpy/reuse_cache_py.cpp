// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "reuse_cache.hpp"

#include "python/support/snapshot.hpp"

#include <cstdint>
#include <string>

namespace spanwise::python {

namespace py = pybind11;

namespace {

bool is_freed(py::handle matrix) { return !py::cast<bool>(matrix.attr("mat").attr("on_device")); }

// Gnumpy counts the bytes of its cached matrices, to decide when to free them.
void subtract_bytes(const py::module_& gnumpy, py::handle elements) {
  constexpr const char* counter = "__memoryInUse";
  const auto bytes = static_cast<std::int64_t>(sizeof(float)) * py::cast<std::int64_t>(elements);
  if (py::hasattr(gnumpy, counter))
    gnumpy.attr(counter) = py::cast<std::int64_t>(gnumpy.attr(counter)) - bytes;
}

// Changes the lists in place, because Gnumpy may be using one. Matrices that were in a list before
// the collection are valid, so a list from which Gnumpy is about to take one does not become empty.
void remove_freed(const py::module_& gnumpy) {
  const py::object cache = py::getattr(gnumpy, "_cmsForReuse", py::none());
  if (!py::isinstance<py::dict>(cache)) return;  // the interpreter clears its modules at exit
  for (const auto& [size, cached] : entries_of(cache.ptr())) {
    const auto matrices = py::reinterpret_borrow<py::list>(cached);
    for (std::size_t i = matrices.size(); i-- > 0;) {
      if (!is_freed(matrices[i])) continue;
      subtract_bytes(gnumpy, size);
      matrices.attr("pop")(i);
    }
  }
}

}  // namespace

void watch_reuse_cache(const py::module_& gnumpy) {
  static PyObject* watched = nullptr;  // the module; guarded by the GIL
  if (watched == gnumpy.ptr()) [[likely]]
    return;
  watched = py::object(gnumpy).release().ptr();
  remove_freed(gnumpy);
  py::module_::import("gc")
      .attr("callbacks")
      .attr("append")(py::cpp_function([gnumpy](const std::string& phase, const py::dict& info) {
        if (phase == "stop" && py::cast<bool>(info["collected"])) remove_freed(gnumpy);
      }));
}

}  // namespace spanwise::python
