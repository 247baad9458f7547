// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "legacy.hpp"

#include <string>
#include <utility>

#include "library.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"
#include "streams.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constexpr std::string_view context_remedy =
    "import pycuda.autoprimaryctx instead of pycuda.autoinit";

}  // namespace

bool LegacyLibrary::is_fake() const {
  const auto module = py::reinterpret_steal<py::object>(PyImport_GetModule(module_name_.get()));
  if (!module) PyErr_Clear();
  if (!module || module.ptr() == module_) [[likely]]
    return module && is_fake_;
  static constinit const AttributeName device_name("__spanwise_device__");
  const py::object device = attribute_or_null(module.ptr(), device_name);
  is_fake_ = device && PyUnicode_Check(device.ptr()) && py::cast<std::string>(device) == "cpu";
  Py_XDECREF(std::exchange(module_, Py_NewRef(module.ptr())));
  return is_fake_;
}

void LegacyLibrary::set_device(ForeignView& view) const {
  ForeignMemory& memory = view.memory;
  if (memory.is_empty()) {
    memory.data = nullptr;
    // A GPU if there is one: an array without elements has no address.
    memory.device = is_fake() ? cpu : why_no_cuda().empty() ? default_gpu() : default_device();
    return;
  }
  if (is_fake()) {
    memory.device = cpu;
    return;
  }
  memory.device = device_of_memory(memory.data, name_);
  const auto context = gpu_context_of(memory.data);
  if (context && !context->primary) {
    throw SharingError(name_, {text("its memory is in another context of ", context->device,
                                    " than the primary one, in which Spanwise works"),
                               text(context_remedy, ", or allow a copy (copyif=True)")});
  }
  view.streams.push_back(legacy_stream);
  view.persistent_streams = true;
}

bool LegacyLibrary::try_describe(BorrowedTensor& memory) const noexcept {
  try {
    memory.device = cpu;
    if (memory.data == nullptr || is_fake()) return memory.data != nullptr;
    // Memory of a stream-ordered pool has no context; its device is queried separately.
    const auto context = gpu_context_of(memory.data);
    const auto device = context ? std::optional(context->device) : device_of(memory.data);
    if (!device || !device->is_cuda()) return false;
    memory.device = *device;
    memory.stream = legacy_stream;
    return !context || context->primary;
  } catch (const std::exception&) {
    return false;  // set_device() throws the error
  }
}

// The device of the library's next call: that of the current context, or device 0, which the CUDA
// runtime uses if there is none.
Device LegacyLibrary::library_device() const {
  if (is_fake()) return cpu;
  const std::string reason = why_no_cuda();
  if (!reason.empty()) fail<DeviceError>(name_, ": its arrays are on a GPU: ", reason);
  const auto context = current_gpu_context();
  if (!context) return Device(DeviceKind::cuda, 0);
  if (!context->primary)
    fail<DeviceError>(name_, ": the current context of this thread is not the primary one of ",
                      context->device, ", in which Spanwise's memory is; ", context_remedy);
  return context->device;
}

void LegacyLibrary::check_count(const Array& array) const {
  if (array.size() > INT32_MAX)
    fail<ArgumentError>(name_, ": got ", array.size(),
                        " elements; expected 2147483647 at most, since CUDAMat counts in 32 bits; "
                        "pass parts of it");
}

std::optional<ShareBlocker> LegacyLibrary::share_blocker(const Array& array) const {
  if (!is_fake()) {
    if (auto blocker = host_share_blocker(array, name_)) return blocker;
  }
  if (const Device device = library_device(); array.device() != device) {
    return ShareBlocker{
        text("its memory is on ", array.device(), ", and ", name_, " works on ", device),
        text("allow a copy (copyif=True), or move it first: x.to(\"", device, "\")")};
  }
  return readonly_share_blocker(array, name_);
}

Array LegacyLibrary::copied(const Array& array, bool column_major) const {
  const Device target = [&] {
    const GilAcquire locked;
    return library_device();
  }();
  const Array source = column_major ? array.transpose() : array;
  const Array created = source.device() == target ? copy(source) : copy(to_device(source, target));
  return column_major ? created.transpose() : created;
}

void LegacyLibrary::order(const Array& array) const {
  if (array.size() == 0 || !array.device().is_cuda()) return;
  order_use(Stream::foreign(array.device(), legacy_stream), array, true);
}

}  // namespace spanwise::python
