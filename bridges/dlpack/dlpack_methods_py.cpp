// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <optional>
#include <string_view>

#include "dlpack_capsule.hpp"
#include "dlpack_streams.hpp"
#include "dlpack_tensor.hpp"
#include "python/support/array.hpp"
#include "python/support/declared.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/runtime/stream.hpp"

/// Array.__dlpack__ and __dlpack_device__ (array API standard 2024.12, "Data interchange").
namespace spanwise::dlpack {

namespace py = pybind11;
using python::array_in;

namespace {

struct ExportRequest {
  std::optional<std::int64_t> stream{};  ///< the consumer's; nothing for None
  bool versioned = false;
  std::optional<TensorDevice> device{};
  CopyMode copy = CopyMode::if_needed;
};

std::pair<long, long> integer_pair_from(PyObject* object, const char* argument) {
  if (const auto pair = integer_pair_in(object)) return *pair;
  throw py::type_error(text("__dlpack__: ", argument, " is a ", Py_TYPE(object)->tp_name,
                            "; expected None or a tuple of two integers"));
}

ExportRequest parse_request(PyObject* stream, PyObject* max_version, PyObject* device,
                            PyObject* copy) {
  ExportRequest request;
  request.copy = python::copy_mode_from(copy);
  if (python::given(stream)) {
    request.stream = PyLong_AsLongLong(stream);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  }
  if (python::given(max_version))
    request.versioned = integer_pair_from(max_version, "max_version").first >= 1;
  if (python::given(device)) {
    const auto [type, id] = integer_pair_from(device, "dl_device");
    request.device = TensorDevice{static_cast<DeviceType>(type), static_cast<std::int32_t>(id)};
  }
  return request;
}

// Copies to the host, the only other device that every producer must support.
Array to_host(const Array& array, const ExportRequest& request) {
  const TensorDevice requested = *request.device;
  const bool is_possible = requested.type == DeviceType::cpu && !array.device().is_cpu();
  if (!is_possible || request.copy == CopyMode::never) {
    throw SharingError("__dlpack__", {text("the array is on ", array.device(), ", and device (",
                                           static_cast<int>(requested.type), ", ", requested.id,
                                           ") was requested"),
                                      "move it first: x.to(...)"});
  }
  if (request.stream)
    fail<ArgumentError>("__dlpack__: stream ", request.stream.value_or(0),
                        " with dl_device=(1, 0); expected None, since the host has no streams");
  const python::GilRelease unlocked;
  return to_device(array, cpu);
}

bool is_elsewhere(const Array& array, const ExportRequest& request) {
  if (!request.device) return false;
  const TensorDevice own = device_of(array), requested = *request.device;
  return requested.type != own.type || (own.type != DeviceType::cpu && requested.id != own.id);
}

// Whether a function of torch is the caller: its releases up to 2.11 abort the process for negative
// strides, and later ones refuse them; the consumer cannot be identified otherwise.
bool is_called_by_torch() noexcept {
  PyObject* globals = PyEval_GetGlobals();
  PyObject* name = globals != nullptr ? PyDict_GetItemString(globals, "__name__") : nullptr;
  if (name == nullptr || !PyUnicode_Check(name)) return false;
  const char* module = PyUnicode_AsUTF8(name);
  if (module == nullptr) PyErr_Clear();
  return module != nullptr && std::string_view(module).starts_with("torch.");
}

void refuse_negative_strides(const Array& array) {
  const Layout& layout = array.layout();
  for (int axis = 0; axis < layout.rank(); ++axis) {
    if (layout.strides[axis] >= 0 || layout.shape[axis] <= 1 || array.size() == 0) continue;
    if (!is_called_by_torch()) return;
    throw SharingError("__dlpack__",
                       {text("its strides ", strides_text(array), " are negative on axis ", axis,
                             ", which torch cannot represent"),
                        "pass x.copy(), or spanwise.to_torch(x, copyif=True)"});
  }
}

PyObject* export_array(const Array& source, const ExportRequest& request) {
  if (is_elsewhere(source, request))
    return capsule_of(to_host(source, request), request.versioned, flag_is_copied);
  const std::optional<Stream> consumer = consumer_stream(request.stream, source.device());
  if (request.copy == CopyMode::always) {
    Array copied = source;
    {
      const python::GilRelease unlocked;
      std::optional<StreamGuard> guard;
      if (consumer) guard.emplace(*consumer);  // the copy is queued on the consumer's stream
      copied = copy(source);
    }
    if (consumer) order_consumer(*consumer, copied);
    return capsule_of(copied, request.versioned, flag_is_copied);
  }
  if (source.readonly() && !request.versioned) {
    throw SharingError("__dlpack__",
                       {"the array is read-only, which DLPack can express from version 1.0 on only",
                        "ask for max_version=(1, 0), or for copy=True"});
  }
  refuse_negative_strides(source);
  if (consumer) order_consumer(*consumer, source);
  return capsule_of(source, request.versioned);
}

PyObject* dlpack(PyObject* self, PyObject* stream, PyObject* max_version, PyObject* device,
                 PyObject* copy) {
  return export_array(array_in(self), parse_request(stream, max_version, device, copy));
}

PyObject* dlpack_device(PyObject* self) {
  const TensorDevice device = device_of(array_in(self));
  return Py_BuildValue("(ii)", static_cast<int>(device.type), static_cast<int>(device.id));
}

PyMethodDef dlpack_methods[] = {
    python::declared<
        "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)",
        "A DLPack capsule that shares the array's memory. `stream` is the consumer's, and is made "
        "to\nwait for queued work. Read-only arrays need max_version >= (1, 0).",
        &dlpack>(),
    python::declared<"__dlpack_device__($self, /)", "DLPack's (device type, device id).",
                     &dlpack_device>(),
    {}};

}  // namespace

SW_BIND(bridge_dlpack, array_type) {
  python::add_array_methods(dlpack_methods);
  auto* table = const_cast<ExchangeApi*>(&exchange_api());
  const py::object capsule = python::owned(PyCapsule_New(table, exchange_capsule_name, nullptr));
  py::setattr(reinterpret_cast<PyObject*>(python::array_type), "__dlpack_c_exchange_api__",
              capsule);
}

}  // namespace spanwise::dlpack
