// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/interop/library_bridge.hpp"

#include <string>
#include <utility>

#include "python/stream_object.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::python {

namespace py = pybind11;

void LibraryBridge::check_dtype(DType dtype, bool has_dtype) const {
  if (!has_dtype)
    fail<DTypeError>(library_, ": no dtype ", dtype, "; cast it first: x.astype(...)");
}

std::optional<ShareBlocker> LibraryBridge::order_blocker(const Array& array,
                                                         std::string_view display_name) {
  if (array.layout().is_row_major()) return std::nullopt;
  return ShareBlocker{text("its strides ", strides_text(array), " for shape ", array.shape(),
                           " are not C order, the only layout that ", display_name, " has"),
                      "allow a copy (copyif=True)"};
}

std::optional<ShareBlocker> LibraryBridge::alignment_blocker(const Array& array,
                                                             std::uintptr_t alignment,
                                                             std::string_view need) {
  if (reinterpret_cast<std::uintptr_t>(array.data()) % alignment == 0) return std::nullopt;
  return ShareBlocker{text("its address is no multiple of ", alignment, " bytes, which ", need),
                      "allow a copy (copyif=True), or allocate it with spanwise.empty()"};
}

py::module_ import_library(const char* module, const char* package) {
  return import_library(module, package, text("install it: pip install ", package).c_str());
}

py::module_ import_library(const char* module, const char* library, const char* remedy) {
  try {
    return py::module_::import(module);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    fail<BridgeError>(library, ": cannot be imported here (", std::string(py::str(error.value())),
                      "); ", remedy);
  }
}

std::optional<ShareBlocker> readonly_share_blocker(const Array& array, std::string_view library) {
  if (!array.readonly()) return std::nullopt;
  return ShareBlocker{
      text("its memory is read-only, and ", library, "'s arrays can always be written"),
      "allow a copy (copyif=True)"};
}

std::optional<ShareBlocker> host_share_blocker(const Array& array, std::string_view library) {
  if (array.device().is_cuda()) return std::nullopt;
  return ShareBlocker{
      text("its memory is on ", array.device(), ", and ", library, "'s arrays are on a GPU"),
      "allow a copy (copyif=True), or move it first: x.to(\"cuda\")"};
}

Device default_gpu() {
  const Device device = default_device();
  return device.is_cuda() ? device : Device(DeviceKind::cuda, 0);
}

Device device_of_memory(const void* address, std::string_view prefix) {
  if (address != nullptr)
    if (const auto device = device_of(address)) return *device;
  const std::string reason = why_no_cuda();
  if (!reason.empty())
    fail<DeviceError>(prefix, ": the array is on a GPU, but no GPU is available: ", reason);
  if (address != nullptr)
    fail<BridgeError>(prefix, ": the CUDA driver does not recognize the address ", address,
                      "; the memory was freed, or is no GPU memory");
  return default_gpu();
}

Array copy_on_gpu(const Array& array) {
  if (array.device().is_cuda()) return copy(array);
  const std::string reason = why_no_cuda();
  if (!reason.empty()) fail<DeviceError>("copy to a GPU: ", reason);
  return copy(to_device(array, default_gpu()));
}

Array copy_on_host(const Array& array) {
  return array.device().is_cpu() ? copy(array) : to_device(array, cpu);
}

bool bool_attribute(PyObject* object, const AttributeName& name) {
  return truth_or(owned(PyObject_GetAttr(object, name.get())).ptr(), false);
}

bool bool_method(PyObject* object, const AttributeName& name) {
  return truth_or(owned(PyObject_CallMethodNoArgs(object, name.get())).ptr(), false);
}

namespace {

constexpr std::string_view context_remedy =
    "import pycuda.autoprimaryctx instead of pycuda.autoinit";

// Where a library over host memory works: the default device if that is a CPU, which may be a
// numbered one.
Device host_of_fakes() {
  const Device device = default_device();
  return device.is_cpu() ? device : Device(cpu);
}

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
    memory.device = is_fake()               ? host_of_fakes()
                    : why_no_cuda().empty() ? default_gpu()
                                            : default_device();
    return;
  }
  if (is_fake()) {
    memory.device = host_of_fakes();
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
    memory.device = is_fake() ? host_of_fakes() : Device(cpu);
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
  if (is_fake()) return host_of_fakes();
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
  const Device device = library_device();
  if (is_fake() ? !array.device().is_cpu() : array.device() != device) {
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
