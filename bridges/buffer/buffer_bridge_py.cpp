// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/array/array_object.hpp"
#include "python/interop/foreign_description.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constexpr std::string_view buffer_name = "buffer";

/// Objects of the buffer protocol (PEP 3118): bytes, bytearray, memoryview, array.array, mmap,
/// ctypes arrays. The buffer stays exported until the storage is released; a bytearray cannot be
/// resized before.
class BufferBridge final : public Bridge {
 public:
  std::string_view name() const override { return buffer_name; }
  BridgePriority priority() const override { return BridgePriority::buffer; }
  std::string_view protocols() const override { return "buffer protocol"; }

  bool accepts(PyObject* object) const override { return PyObject_CheckBuffer(object) != 0; }

  ForeignView view(PyObject* object, bool) const override {
    // The owner is a memoryview, Python's object for an exported buffer. Its Py_buffer has shape
    // and strides even where the exporter left them out.
    const py::object holder = owned(PyMemoryView_FromObject(object));
    const Py_buffer& buffer = *PyMemoryView_GET_BUFFER(holder.ptr());
    if (buffer.suboffsets != nullptr)
      fail<BridgeError>(buffer_name, ": the buffer of a ", Py_TYPE(object)->tp_name,
                        " holds pointers to its rows; pass its rows one by one, or a copy");
    const ElementType element = element_from_format(buffer.format != nullptr ? buffer.format : "B",
                                                    static_cast<int>(buffer.itemsize), buffer_name);
    const auto axes = static_cast<std::size_t>(buffer.ndim);
    return {.owner = python_owner(holder.ptr()),
            .memory = {.data = buffer.buf,
                       .device = cpu,
                       .dtype = element.dtype,
                       .shape = Shape(std::span<const std::int64_t>(buffer.shape, axes)),
                       .byte_strides = Strides(std::span<const std::int64_t>(buffer.strides, axes)),
                       .readonly = buffer.readonly != 0,
                       .byte_swapped = element.byte_swapped}};
  }
};

const BufferBridge buffer_bridge;
[[maybe_unused]] const bool buffer_registered = register_bridge(buffer_bridge);

}  // namespace
}  // namespace spanwise::python
