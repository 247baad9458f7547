// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "python/array/array_object.hpp"
#include "python/support/gil.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/memory.hpp"

namespace spanwise::python {

namespace py = pybind11;

using namespace py::literals;

namespace {

// A MemorySource over a Python function, which returns objects that own their memory.
class PythonSource final : public MemorySource {
 public:
  PythonSource(std::string name, py::function allocate)
      : name_(std::move(name)), allocate_(allocate.release().ptr()) {}
  ~PythonSource() override { release_with_gil(allocate_); }

  std::string name() const override { return name_; }

  Block allocate(Device device, std::size_t bytes, std::uintptr_t stream) override {
    const GilAcquire locked;
    py::object owner = call_allocator(device, bytes, stream);
    const auto address = address_of(owner);
    if (address == 0)
      fail<OutOfMemoryError>("memory: the allocator ", name_, " gave no memory for ", bytes,
                             " bytes on ", device);
    if (address % 16 != 0)
      fail<ArgumentError>("memory: the allocator ", name_, " gave address ", address,
                          "; expected a multiple of 16, the alignment of the widest element");
    return {reinterpret_cast<void*>(address), owner.release().ptr()};
  }

  void deallocate(Device, const Block& block, std::size_t) noexcept override {
    release_with_gil(static_cast<PyObject*>(block.owner));
  }

 private:
  // MemoryError, and exceptions whose name contains "OutOfMemory" (each library
  // has its own), become OutOfMemoryError.
  py::object call_allocator(Device device, std::size_t bytes, std::uintptr_t stream) const {
    try {
      return py::handle(allocate_)(device.ordinal(), bytes, stream);
    } catch (const py::error_already_set& error) {
      const std::string type = error.type().attr("__name__").cast<std::string>();
      if (!error.matches(PyExc_MemoryError) && type.find("OutOfMemory") == std::string::npos) throw;
      fail<OutOfMemoryError>("memory: the allocator ", name_, " has no ", bytes, " bytes for ",
                             device, ": ", type, ": ", std::string(py::str(error.value())));
    }
  }

  std::uintptr_t address_of(const py::object& owner) const {
    if (PyLong_Check(owner.ptr())) {
      fail<ArgumentError>("memory: the allocator ", name_,
                          " returned a bare address; expected an object that keeps the memory "
                          "allocated, with its address as .ptr, .data_ptr() or int()");
    }
    if (py::hasattr(owner, "ptr"))
      return value_of<std::uintptr_t>(owner.attr("ptr"), "memory: .ptr");
    if (py::hasattr(owner, "data_ptr"))
      return value_of<std::uintptr_t>(owner.attr("data_ptr")(), "memory: .data_ptr()");
    return value_of<std::uintptr_t>(py::int_(owner), "memory: int()");
  }

  std::string name_;
  PyObject* allocate_;
};

py::dict stats_of(Device device) {
  clear_element_free_list();  // arrays in the free list count as used
  const MemoryStats stats = without_gil([&] { return memory_stats(device); });
  return py::dict("device"_a = device.name(), "used"_a = stats.used, "peak"_a = stats.peak,
                  "allocations"_a = stats.allocations, "held"_a = stats.held, "free"_a = stats.free,
                  "total"_a = stats.total, "limit"_a = stats.limit, "allocator"_a = stats.source);
}

// A source of _memory_use(), which returns the previous one; null (None) is the pool.
using Source = std::shared_ptr<MemorySource>;

}  // namespace

SW_BIND(memory) {
  py::class_<MemorySource, Source>(module, "_MemorySource")
      .def_property_readonly("name", member(&MemorySource::name));
  module.def("_memory_stats", &stats_of);
  module.def("_memory_reset_peak", &reset_peak_memory);
  module.def("_memory_trim", [](Device device) {
    clear_element_free_list();
    const GilRelease unlocked;
    trim_memory(device);
  });
  module.def("_memory_limit", &limit_memory);
  module.def("_memory_source", [](const std::string& name, py::function allocate) -> Source {
    return std::make_shared<PythonSource>(name, std::move(allocate));
  });
  module.def(
      "_memory_use",
      [](Device device, Source source) {
        if (device.is_cpu()) enable_element_free_list(source == nullptr);
        return use_memory_source(device, std::move(source));
      },
      py::arg("device"), py::arg("source").none(true));
}

}  // namespace spanwise::python
