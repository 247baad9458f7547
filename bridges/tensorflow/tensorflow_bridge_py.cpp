// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "python/interop/dlpack_exchange.hpp"
#include "python/interop/library_bridge.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass tf_tensor_class("tensorflow", "Tensor");
constinit const AttributeName dlpack_of_tensor("__dlpack__"), dtype_of_tensor("dtype");

// The alignment in bytes of TensorFlow's allocators, which its kernels rely on: they abort the
// process for an unaligned tensor from DLPack (tensorflow/core/framework/allocator.h:
// kAllocatorAlignment).
constexpr std::uintptr_t tf_alignment = 64;

// The DLPack export of a tensor of strings or handles aborts the process, so reject them first.
void refuse_other_elements(PyObject* tensor) {
  const py::object dtype = attribute_or_null(tensor, dtype_of_tensor);
  const std::string name = dtype ? std::string(py::str(dtype.attr("name"))) : "none";
  try {
    DType::parse(name);
  } catch (const DTypeError&) {
    fail<DTypeError>("tensorflow: a tensor of ", name,
                     "; expected numbers, convert it first: tf.cast, tf.strings.to_number");
  }
}

class TensorflowBridge final : public LibraryBridge {
 public:
  TensorflowBridge() : LibraryBridge("tensorflow", "DLPack without version", tf_tensor_class) {}

  ForeignView view(PyObject* tensor, bool may_copy) const override {
    refuse_other_elements(tensor);
    const py::object method = attribute_or_null(tensor, dlpack_of_tensor);
    if (!method)
      fail<ArgumentError>(
          "tensorflow: a symbolic tensor has no memory yet; expected an eager "
          "one, call spanwise outside of tf.function, or through tf.py_function");
    // Without a stream, which TensorFlow rejects: it returns the tensor after its work has
    // completed.
    const py::object capsule = method();
    ForeignView view = find_bridge("dlpack")->view(capsule.ptr(), may_copy);
    view.memory.readonly = true;  // tensors are immutable, which unversioned DLPack cannot express
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    import_library("tensorflow", "tensorflow");
    check_dtype(array.dtype(), array.dtype().is_computable());
    if (!array.device().is_cpu()) {
      return ShareBlocker{text("its memory is on ", array.device(),
                               ", and TensorFlow has no stream that could wait for the work on it"),
                          "allow a copy to the host (copyif=True)"};
    }
    if (array.size() == 0) return std::nullopt;
    if (auto blocker = order_blocker(array, "TensorFlow")) return blocker;
    return alignment_blocker(array, tf_alignment, "TensorFlow needs");
  }

  PyObject* wrap(const Array& array) const override {
    const py::object capsule = as_immutable_producer(array).attr(dlpack_of_tensor.get())();
    return py::module_::import("tensorflow")
        .attr("experimental")
        .attr("dlpack")
        .attr("from_dlpack")(capsule)
        .release()
        .ptr();
  }

  Array exportable_copy(const Array& array) const override { return copy_on_host(array); }
};

const TensorflowBridge tensorflow_bridge;
[[maybe_unused]] const bool tensorflow_registered = register_bridge(tensorflow_bridge);

}  // namespace
}  // namespace spanwise::python
