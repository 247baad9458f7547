// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "legacy.hpp"

#include <string>
#include <utility>

#include "library.hpp"
#include "python/support/gil.hpp"
#include "python/support/snapshot.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/runtime/gpu_context.hpp"
#include "spanwise/stream.hpp"
#include "streams.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constexpr std::string_view context_remedy =
    "import pycuda.autoprimaryctx in the place of pycuda.autoinit";

// The device of an array without elements, which has no address: a GPU if there is one.
Device any_device() {
  const Device chosen = default_device();
  return chosen.is_cuda() || !why_no_cuda().empty() ? chosen : Device(DeviceKind::cuda, 0);
}

}  // namespace

bool LegacyLibrary::is_fake() const {
  const auto module = py::reinterpret_steal<py::object>(PyImport_GetModule(module_name_.get()));
  if (!module) PyErr_Clear();
  if (!module || module.ptr() == module_) [[likely]]
    return module && is_stand_in_;
  static constinit const Name device_name("__spanwise_device__");
  const py::object device = attribute_or_null(module.ptr(), device_name);
  is_stand_in_ = device && PyUnicode_Check(device.ptr()) && py::cast<std::string>(device) == "cpu";
  Py_XDECREF(std::exchange(module_, Py_NewRef(module.ptr())));
  return is_stand_in_;
}

void LegacyLibrary::set_device(ForeignView& view) const {
  ForeignMemory& memory = view.memory;
  if (memory.is_empty()) {
    memory.data = nullptr;
    memory.device = is_fake() ? cpu : any_device();
    return;
  }
  if (is_fake()) {
    memory.device = cpu;
    return;
  }
  const std::string reason = why_no_cuda();
  if (!reason.empty())
    fail<DeviceError>(name_, ": the array is on a GPU, and there is none here: ", reason);
  const auto device = device_of(memory.data);
  if (!device.has_value())
    fail<BridgeError>(name_, ": the CUDA driver does not recognize the address ", memory.data,
                      "; expected memory of a GPU that has not been freed");
  const auto context = gpu_context_of(memory.data);
  if (context && !context->primary) {
    throw SharingError(name_, {text("its memory is of a context of its own on ", context->device,
                                    ", and Spanwise works in the primary one"),
                               text(context_remedy, ", or allow a copy (copyif=True)")});
  }
  memory.device = *device;
  view.streams.push_back(legacy_stream);
  view.streams_stay = true;
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
    fail<DeviceError>(name_,
                      ": the current context of this thread is one of "
                      "its own on ",
                      context->device, ", where Spanwise's memory is not; ", context_remedy);
  return context->device;
}

std::optional<ShareBlocker> LegacyLibrary::share_blocker(const Array& array) const {
  if (!is_fake()) {
    if (auto blocker = host_share_blocker(array, name_)) return blocker;
  }
  if (const Device wanted = library_device(); array.device() != wanted) {
    return ShareBlocker{
        text("its memory is on ", array.device(), ", and ", name_, " works on ", wanted),
        text("allow a copy (copyif=True), or move it first: x.to(\"", wanted, "\")")};
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

Shape integers_of(PyObject* object, const Name& name, std::string_view who) {
  const py::object values = attribute_or_null(object, name);
  const auto refuse = [&] {
    fail<BridgeError>(who, ": ", std::string(py::str(py::handle(name.get()))), " is ",
                      values ? std::string(py::repr(values)) : "missing",
                      "; expected a tuple of integers");
  };
  if (!values || (!PyTuple_Check(values.ptr()) && !PyList_Check(values.ptr()))) refuse();
  const py::tuple items = items_of(values.ptr());
  if (items.size() > max_rank)
    fail<BridgeError>(who, ": ", items.size(), " dimensions; expected at most ", max_rank);
  Shape result(static_cast<int>(items.size()));
  for (int i = 0; i < result.size(); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.ptr(), i);
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item));
    result[i] = number ? PyLong_AsLongLong(number.ptr()) : -1;
    if (result[i] == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse();
    }
  }
  return result;
}

}  // namespace spanwise::python
