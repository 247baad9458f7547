// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/bridge_library.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass ndarray_class("cupy", "ndarray");

class CupyBridge final : public Bridge {
 public:
  std::string_view name() const override { return "cupy"; }
  int order() const override { return 40; }
  std::string_view protocols() const override {
    return "DLPack, CUDA Array Interface for negative strides";
  }
  std::string_view module() const override { return "cupy"; }

  bool accepts(PyObject* object) const override { return ndarray_class.has(object); }

  ForeignView view(PyObject* array, bool may_copy) const override {
    try {
      return find_bridge("dlpack")->view(array, may_copy);
    } catch (const BridgeError&) {
      // CuPy divides byte strides without their sign, so that negative ones become too large for
      // any memory; and it has no DLPack code for some dtypes. Its dictionary is right in both.
      return find_bridge("cuda_array_interface")->view(array, may_copy);
    }
  }

  bool exports() const override { return true; }
  std::optional<Obstacle> obstacle(const Array& array) const override {
    import_library("cupy", "cupy-cuda13x");
    require<DTypeError>(array.dtype().is_computable() && array.dtype() != bfloat16,
                        "cupy: no dtype ", array.dtype(), "; cast it first: x.astype(...)");
    if (auto obstacle = host_obstacle(array, "CuPy")) return obstacle;
    return readonly_obstacle(array, "CuPy");
  }

  PyObject* wrap(const Array& array) const override {
    return py::module_::import("cupy").attr("from_dlpack")(object_of(array)).release().ptr();
  }

  Array fitting(const Array& array) const override { return copy_on_gpu(array); }
};

const CupyBridge cupy_bridge;
[[maybe_unused]] const bool cupy_registered = register_bridge(cupy_bridge);

}  // namespace
}  // namespace spanwise::python
