// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/interop/library_bridge.hpp"
#include "python/stream_object.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// The class has this name in numba-cuda and in older Numba.
constinit const ForeignClass device_array_class("numba.cuda.cudadrv.devicearray",
                                                "DeviceNDArrayBase");

// Numba queues kernels on the legacy default stream unless the caller gives another; that stream
// waits here, so that Numba need not synchronize the host.
void order_default_stream(PyObject* object, const Array& array) {
  if (array.size() == 0) return;
  const std::uintptr_t stream = current_stream_of_library(object, array.device().ordinal());
  order_use(Stream::foreign(array.device(), interface_stream(stream)), array, true);
}

class NumbaBridge final : public LibraryBridge {
 public:
  NumbaBridge() : LibraryBridge("numba", "CUDA Array Interface 3", device_array_class) {}

  ForeignView view(PyObject* array, bool may_copy) const override {
    return find_bridge("cuda_array_interface")->view(array, may_copy);
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    import_library("numba.cuda", "numba-cuda");
    check_dtype(array.dtype(), is_numpys_own(array.dtype()));
    if (auto blocker = host_share_blocker(array, "Numba")) {
      blocker->remedy += "; Numba's functions for the CPU take spanwise.to_numpy(x)";
      return blocker;
    }
    for (int axis = 0; axis < array.rank(); ++axis) {
      if (array.strides()[axis] == 0 && array.shape()[axis] > 1)
        return ShareBlocker{text("axis ", axis, " is broadcast (stride 0), which Numba treats as ",
                                 "contiguous memory"),
                            "allow a copy (copyif=True)"};
    }
    return readonly_share_blocker(array, "Numba");
  }

  PyObject* wrap(const Array& array) const override {
    const py::object result = py::module_::import("numba.cuda")
                                  .attr("as_cuda_array")(object_of(array), py::arg("sync") = false);
    order_default_stream(result.ptr(), array);
    return result.inc_ref().ptr();
  }

  Array exportable_copy(const Array& array) const override { return copy_on_gpu(array); }
};

const NumbaBridge numba_bridge;
[[maybe_unused]] const bool numba_registered = register_bridge(numba_bridge);

}  // namespace
}  // namespace spanwise::python
