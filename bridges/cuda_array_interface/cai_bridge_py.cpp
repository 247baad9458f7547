// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/array/array_object.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/interop/library_bridge.hpp"
#include "python/stream_object.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/stream.hpp"

/// The CUDA Array Interface (numba-cuda, docs, "CUDA Array Interface"): import of versions 2 and 3,
/// and Array.__cuda_array_interface__, version 3, which only arrays on a GPU have.
namespace spanwise::python {

namespace py = pybind11;

namespace {

constexpr std::string_view cai_name = "cuda_array_interface";
constinit const AttributeName interface_name("__cuda_array_interface__");

// Version 3 gives the stream of the producer's work. Version 2 cannot, and some libraries always
// give none; their work is assumed on the legacy default stream and on the current stream of the
// library that the object comes from.
void add_streams(ForeignView& view, const InterfaceDict& interface, PyObject* object, int ordinal) {
  if (interface.stream) {
    if (*interface.stream == 0)
      fail<BridgeError>(cai_name,
                        ": stream 0, which the interface forbids as ambiguous; expected None, 1, "
                        "2 or the address of a CUstream");
    view.streams.push_back(*interface.stream);
    return;
  }
  view.streams.push_back(legacy_stream);
  if (const std::uintptr_t current = current_stream_of_library(object, ordinal); current > 1)
    view.streams.push_back(current);
}

class CudaArrayInterfaceBridge final : public Bridge {
 public:
  std::string_view name() const override { return cai_name; }
  BridgePriority priority() const override { return BridgePriority::cuda_array_interface; }
  std::string_view protocols() const override { return "CUDA Array Interface 2 and 3"; }

  // Checks the object, not its type: many types have the attribute only for arrays on a GPU.
  bool accepts(PyObject* object) const override {
    return !PyType_Check(object) && attribute_or_null(object, interface_name);
  }

  ForeignView view(PyObject* object, bool) const override {
    const py::object dict = attribute_or_null(object, interface_name);
    if (!dict)
      fail<BridgeError>(cai_name, ": this ", Py_TYPE(object)->tp_name,
                        " has no __cuda_array_interface__ now (is it on the CPU?)");
    const InterfaceDict interface = parse_interface(dict, cai_name);
    if (!interface.has_address)
      fail<BridgeError>(cai_name, ": \"data\" is not (address, read-only) in the dict of a ",
                        Py_TYPE(object)->tp_name);
    if (interface.version > 3)
      fail<BridgeError>(cai_name, ": version ", interface.version, "; expected 3 at most");
    ForeignView view{.owner = python_owner(object), .memory = interface.memory};
    if (view.memory.is_empty()) view.memory.data = nullptr;
    view.memory.device = device_of_memory(view.memory.data, cai_name);
    // Pinned memory may be offered, too; it is used on the CPU, and no stream is involved.
    const bool on_gpu = view.memory.device.kind() != DeviceKind::cuda_host;
    if (on_gpu && view.memory.data != nullptr)
      add_streams(view, interface, object, view.memory.device.ordinal());
    return view;
  }
};

const CudaArrayInterfaceBridge cai_bridge;
[[maybe_unused]] const bool cai_registered = register_bridge(cai_bridge);

// Array.__cuda_array_interface__, version 3: only arrays on a GPU have it.

PyObject* get_cuda_array_interface(PyObject* self) {
  const Array& array = array_in(self);
  if (array.device().is_cpu()) {
    // AttributeError, because libraries use hasattr() to check whether an array is on a GPU.
    PyErr_SetString(PyExc_AttributeError,
                    "__cuda_array_interface__: the array is on the CPU; move it with x.to('cuda')");
    return nullptr;
  }
  py::dict interface = interface_of(array);
  // The interface has one stream for all queued work: the current one, after it waits for the
  // others.
  const Stream stream = Stream::current(array.device());
  order_use(stream, array, !array.readonly());
  const auto address =
      array.size() == 0 ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(array.data());
  interface["data"] = py::make_tuple(address, array.readonly());
  interface["stream"] = stream.handle();
  return interface.release().ptr();
}

PyGetSetDef cai_attributes[] = {
    attribute<&get_cuda_array_interface>(
        "__cuda_array_interface__",
        "The CUDA Array Interface, version 3. Arrays on the CPU do not have it."),
    {}};

}  // namespace

SW_BIND(bridge_cuda_array_interface, array_type) { add_array_attributes(cai_attributes); }

}  // namespace spanwise::python
