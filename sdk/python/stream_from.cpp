// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>

#include "python/interop/lifetime.hpp"
#include "python/interop/streams.hpp"
#include "python/support/array.hpp"
#include "python/support/stream.hpp"
#include "python/support/value.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// The CUstream in an integer or a ctypes object; nothing for other objects.
std::optional<std::uintptr_t> handle_value(py::handle value) {
  // ctypes integers (Numba) have the number in .value; a null pointer is None.
  const py::object number = PyLong_Check(value.ptr()) ? py::reinterpret_borrow<py::object>(value)
                                                      : py::getattr(value, "value", value);
  if (number.is_none()) return 0;
  if (!PyIndex_Check(number.ptr())) return std::nullopt;
  return value_of<std::uintptr_t>(py::int_(number), "stream: handle");
}

std::string type_name(py::handle object) {
  return py::type::of(object).attr("__name__").cast<std::string>();
}

// The CUstream of another library's stream object; nothing for other objects.
std::optional<std::uintptr_t> stream_handle(py::handle stream) {
  if (py::hasattr(stream, "__cuda_stream__")) {
    // (protocol version, handle):
    // https://nvidia.github.io/cuda-python/cuda-core/latest/interoperability.html
    const py::object result = stream.attr("__cuda_stream__");
    const py::tuple pair = PyCallable_Check(result.ptr()) ? py::tuple(result()) : py::tuple(result);
    return handle_value(pair[1]);
  }
  // PyTorch; CuPy; Numba and PyCUDA.
  for (const char* name : {"cuda_stream", "ptr", "handle"}) {
    if (py::hasattr(stream, name)) return handle_value(stream.attr(name));
  }
  // Handles of cuda.bindings have __int__ only.
  const std::string type = type_name(stream);
  if (type == "CUstream" || type == "cudaStream_t")
    return handle_value(py::int_(py::reinterpret_borrow<py::object>(stream)));
  return std::nullopt;
}

// Whether the object owns its stream: ExternalStream of PyTorch and CuPy, and the result of Numba's
// external_stream(), do not.
bool owns_its_stream(py::handle stream) {
  const py::object external = py::getattr(stream, "external", py::none());
  return type_name(stream) != "ExternalStream" && external.ptr() != Py_True;
}

// The ordinal of the device that the object names; nothing without one. In CuPy -1 means the
// current device.
std::optional<std::int64_t> ordinal_of(py::handle stream) {
  for (const char* name : {"device_index", "device_id"}) {
    const py::object ordinal = py::getattr(stream, name, py::none());
    if (!PyLong_Check(ordinal.ptr())) continue;
    const auto value = value_of<std::int64_t>(ordinal, name);
    if (value >= 0) return value;
  }
  return std::nullopt;
}

Device device_named_by(py::handle stream) {
  const Device device = default_device();
  const auto ordinal = device.is_cuda() ? ordinal_of(stream) : std::nullopt;
  return ordinal ? Device(DeviceKind::cuda, static_cast<int>(*ordinal)) : device;
}

// Throws ArgumentError if the object names another device.
void check_device(py::handle stream, Device device) {
  const auto ordinal = ordinal_of(stream);
  if (ordinal.has_value() && *ordinal != device.ordinal())
    fail<ArgumentError>("stream: expected a stream of ", device, ", got a ",
                        Py_TYPE(stream.ptr())->tp_name, " of cuda:", *ordinal, "; create it on ",
                        device);
}

}  // namespace

Stream stream_from(py::handle object, std::optional<Device> explicit_device) {
  const bool is_own = py::isinstance<Stream>(object);
  const Device device =
      explicit_device || is_own ? explicit_device.value_or(cpu) : device_named_by(object);
  if (object.is_none()) return Stream::current(device);
  if (is_own) {
    const Stream& own = py::cast<const Stream&>(object);
    if (explicit_device && own.device() != device)
      fail<ArgumentError>("stream: expected a stream of ", device, ", got one of ", own.device(),
                          "; create it with spanwise.Stream(\"", device, "\")");
    return own;
  }
  const bool is_integer = PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr());
  const auto handle = is_integer ? handle_value(object) : stream_handle(object);
  if (!handle.has_value())
    fail<ArgumentError>(
        "stream: expected a spanwise.Stream, an integer handle or a stream of "
        "another library (__cuda_stream__, .cuda_stream, .ptr or .handle), got ",
        std::string(py::repr(object)), " of type ", Py_TYPE(object.ptr())->tp_name);
  if (!device.is_cuda())
    fail<ArgumentError>("stream: work on ", device, " takes no CUDA stream, got ",
                        std::string(py::repr(object)), "; omit the stream, or use arrays of a GPU");
  if (is_integer) return Stream::foreign(device, *handle);
  check_device(object, device);
  // In a stream object 0 is the legacy default stream; as an integer it is ambiguous and refused.
  const std::uintptr_t unambiguous = interface_stream(*handle);
  if (!owns_its_stream(object)) return Stream::foreign(device, unambiguous);
  return Stream::foreign(device, unambiguous, hold_object(object.ptr()));
}

}  // namespace spanwise::python
