// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <string>

#include "python/interop/library_bridge.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass warp_array_class("warp", "array");
constexpr int max_warp_axes = 4;

class WarpBridge final : public LibraryBridge {
 public:
  WarpBridge() : LibraryBridge("warp", "DLPack without version", warp_array_class) {}

  bool speaks_dlpack(PyObject*) const override { return true; }

  ForeignView view(PyObject* array, bool may_copy) const override {
    try {
      return find_bridge("dlpack")->view(array, may_copy);
    } catch (py::error_already_set& refusal) {
      if (!refusal.matches(PyExc_RuntimeError)) throw;
      fail<DTypeError>("warp: an array of ", std::string(py::str(py::handle(array).attr("dtype"))),
                       ", whose memory Warp does not export (",
                       std::string(py::str(refusal.value())),
                       "); expected numbers, vectors or matrices, make an array for each field");
    }
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    import_library("warp", "warp-lang");
    const DType dtype = array.dtype();
    if (!dtype.is_computable() || dtype.is_complex())
      fail<DTypeError>("warp: no dtype ", dtype,
                       "; cast it first: x.astype(...), or view complex numbers as floats: "
                       "x.view(\"float32\")");
    if (array.rank() < 1 || array.rank() > max_warp_axes)
      fail<ArgumentError>("warp: got an array of shape ", array.shape(), "; expected 1 to ",
                          max_warp_axes, " axes, pass x.reshape(...)");
    return readonly_share_blocker(array, "Warp");
  }

  PyObject* wrap(const Array& array) const override {
    return py::module_::import("warp").attr("from_dlpack")(object_of(array)).release().ptr();
  }
};

const WarpBridge warp_bridge;
[[maybe_unused]] const bool warp_registered = register_bridge(warp_bridge);

}  // namespace
}  // namespace spanwise::python
