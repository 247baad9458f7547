// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// The bound class. Device itself has a type_caster, which accepts all forms of a device.
struct PyDevice {
  Device device;
};

// The open `with device:` blocks of this thread; they set the thread's default device.
std::vector<std::unique_ptr<DeviceGuard>>& device_guards() {
  thread_local std::vector<std::unique_ptr<DeviceGuard>> stack;
  return stack;
}

std::string text_of(py::handle object) { return py::str(object).cast<std::string>(); }

// Device objects of other libraries: torch.device has type and index, cupy.cuda.Device has id,
// jax.Device has platform and id.
std::optional<Device> foreign_device(py::handle object) {
  if (py::hasattr(object, "type") && py::hasattr(object, "index")) {
    const py::object index = object.attr("index");
    const std::string type = text_of(object.attr("type"));
    return Device::parse(index.is_none() || type == "cpu" ? type : type + ":" + text_of(index));
  }
  if (!py::hasattr(object, "id")) return std::nullopt;
  if (py::hasattr(object, "platform")) {
    if (text_of(object.attr("platform")) == "cpu") return cpu;
  } else if (!text_of(py::type::handle_of(object).attr("__module__")).starts_with("cupy")) {
    return std::nullopt;
  }
  return Device(DeviceKind::cuda, value_of<int>(object.attr("id"), "device: id"));
}

// Fast path for the most frequent argument.
bool is_cpu_name(PyObject* object) noexcept {
  return PyUnicode_CheckExact(object) && PyUnicode_GET_LENGTH(object) == 3 &&
         PyUnicode_CompareWithASCIIString(object, "cpu") == 0;
}

std::optional<Device> try_device_from(py::handle object, bool through_attribute = true) {
  if (is_cpu_name(object.ptr())) return cpu;
  if (py::isinstance<PyDevice>(object)) return py::cast<const PyDevice&>(object).device;
  if (py::isinstance<py::str>(object)) return named_device(text_of(object));
  if (is_array(object.ptr())) return array_in(object.ptr()).device();
  if (const auto device = foreign_device(object)) return device;
  if (through_attribute && py::hasattr(object, "device"))
    return try_device_from(object.attr("device"), false);
  return std::nullopt;
}

py::object compare_equal(const PyDevice& self, py::handle other) {
  if (py::isinstance<PyDevice>(other))
    return py::bool_(py::cast<const PyDevice&>(other).device == self.device);
  if (!py::isinstance<py::str>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  try {
    return py::bool_(Device::parse(text_of(other)) == self.device);
  } catch (const ArgumentError&) {
    return py::bool_(false);
  }
}

void leave_device() {
  if (device_guards().empty())
    fail<ArgumentError>("device: left a `with` block that this thread has not entered");
  device_guards().pop_back();
}

std::string kind_name(Device device) {
  const std::string name = device.name();  // "cuda:0"
  return name.substr(0, name.find(':'));
}

void bind_properties(py::module_& module) {
  py::class_<DeviceProperties> type(module, "DeviceProperties",
                                    "The name, architecture and limits of a device.");
  type.def_readonly("name", &DeviceProperties::name, "The vendor's name.");
  type.def_readonly("architecture", &DeviceProperties::architecture, "\"sm_90\", \"x86_64\"");
  type.def_readonly("driver", &DeviceProperties::driver, "The driver's version; empty on the CPU.");
  type.def_readonly("total_memory", &DeviceProperties::total_memory, "Bytes.");
  type.def_readonly("free_memory", &DeviceProperties::free_memory, "Bytes.");
  type.def_readonly("multiprocessors", &DeviceProperties::multiprocessors,
                    "Streaming multiprocessors; worker threads on the CPU.");
  type.def_readonly("warp_size", &DeviceProperties::warp_size);
  type.def_readonly("max_threads_per_block", &DeviceProperties::max_threads_per_block);
  type.def_property_readonly("max_block", [](const DeviceProperties& self) {
    return py::tuple(py::cast(self.max_block));
  });
  type.def_property_readonly(
      "max_grid", [](const DeviceProperties& self) { return py::tuple(py::cast(self.max_grid)); });
  type.def_readonly("max_shared_bytes", &DeviceProperties::max_shared_bytes,
                    "Shared memory per block without opt-in.");
  type.def_readonly("max_shared_bytes_optin", &DeviceProperties::max_shared_bytes_optin,
                    "Maximum shared memory per block, with opt-in.");
  type.def("__repr__", [](const DeviceProperties& self) {
    return text("<", self.name, ", ", self.architecture, ", ", self.total_memory >> 20, " MiB, ",
                self.multiprocessors, " multiprocessors>");
  });
}

void bind_device(py::module_& module) {
  py::class_<PyDevice> type(
      module, "device",
      "The CPU or a GPU. As a context manager it is the thread's default device for new arrays.");
  type.def(
      py::init([](py::handle x) { return std::make_unique<PyDevice>(PyDevice{device_from(x)}); }),
      py::arg("x") = py::none(), py::pos_only(),
      "\"cpu\", \"cuda\", \"cuda:1\", another library's device or array, or None for the default "
      "device. Does not check that the device exists.");
  type.def_property_readonly(
      "name", [](const PyDevice& self) { return self.device.name(); }, "\"cuda:0\"");
  type.def_property_readonly(
      "kind", [](const PyDevice& self) { return kind_name(self.device); },
      "\"cpu\" or \"cuda\"; for imported memory also \"cuda_host\" or \"cuda_managed\".");
  type.def_property_readonly("ordinal", [](const PyDevice& self) { return self.device.ordinal(); });
  type.def_property_readonly(
      "properties",
      [](const PyDevice& self) {
        const GilRelease unlocked;
        return properties(self.device);
      },
      "A DeviceProperties. Raises DeviceError if the device does not exist.");
  type.def(
      "synchronize", [](const PyDevice& self) { synchronize(self.device); },
      py::call_guard<GilRelease>(), "Waits for all work on the device.");
  type.def("__enter__", [](const py::object& self) {
    device_guards().push_back(
        std::make_unique<DeviceGuard>(value_of<const PyDevice&>(self, "device").device));
    return self;
  });
  type.def("__exit__", [](const PyDevice&, const py::args&) { leave_device(); });
  type.def("__eq__", &compare_equal, py::arg("other"), py::pos_only());
  type.def("__hash__", [](const PyDevice& self) { return py::hash(py::str(self.device.name())); });
  type.def("__str__", [](const PyDevice& self) { return self.device.name(); });
  type.def("__repr__", [](const PyDevice& self) { return "device('" + self.device.name() + "')"; });
  type.def("__reduce__", [](const py::object& self) {
    return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("name")));
  });
}

}  // namespace

namespace {

void refuse_dtype(py::handle object) {
  if (const auto dtype = try_dtype_from(object))
    fail<ArgumentError>(
        "device: expected \"cpu\", \"cuda\", \"cuda:1\", a device or an array, got the "
        "dtype ",
        *dtype, "; cast with x.astype(\"", *dtype, "\")");
}

}  // namespace

Device device_from(py::handle object) {
  if (object.is_none()) return default_device();
  try {
    if (const auto device = try_device_from(object)) return *device;
  } catch (const ArgumentError&) {
    refuse_dtype(object);
    throw;
  }
  refuse_dtype(object);
  fail<ArgumentError>("device: expected \"cpu\", \"cuda\", \"cuda:1\", a device or an array, got ",
                      std::string(py::repr(object)), " of type ", Py_TYPE(object.ptr())->tp_name);
}

py::object device_object(Device device) {
  // One object per device, never freed: the interpreter may end before or after static destructors.
  static auto* const objects = new std::vector<std::pair<Device, PyObject*>>;
  for (const auto& [known, object] : *objects) {
    if (known == device) return py::reinterpret_borrow<py::object>(object);
  }
  py::object result = py::cast(PyDevice{device});
  objects->emplace_back(device, result.inc_ref().ptr());
  return result;
}

SW_BIND(devices) {
  bind_properties(module);
  bind_device(module);
  module.def("devices", &devices, py::call_guard<GilRelease>(),
             "All devices of this machine, the CPU last. Initialises the CUDA driver.");
  module.def(
      "default_device", &default_device,
      "The default device for new arrays: of the innermost `with device:` of this thread, else "
      "config.device, else the first GPU, else the CPU.");
  module.def(
      "synchronize", [](Device device) { synchronize(device); }, py::arg("device") = py::none(),
      py::call_guard<GilRelease>(), "Waits for all work on the device.");
  module.def("_why_no_cuda", &why_no_cuda, py::call_guard<GilRelease>());
}

}  // namespace spanwise::python
