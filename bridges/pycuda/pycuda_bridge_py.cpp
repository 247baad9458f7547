// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/interop/library_bridge.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"

/// Imports PyCUDA's GPUArray by its attributes (pycuda/gpuarray.py, GPUArray.__init__).
namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass gpu_array_class("pycuda.gpuarray", "GPUArray");
constinit const LegacyLibrary pycuda_library("pycuda", "pycuda");
constinit const LayoutAttributes pycuda_layout;
constinit const CachedAttribute gpudata_attribute("gpudata");
constinit const AttributeName gpudata_name("gpudata"), shape_name("shape"), strides_name("strides"),
    dtype_attribute("dtype"), native_name("isnative");

// gpudata is a DeviceAllocation, a block of a pool, an integer in views, or None without elements.
void* address_of(PyObject* array) {
  const py::object gpudata = attribute_or_null(array, gpudata_name);
  if (!gpudata || gpudata.is_none()) return nullptr;
  // Of text, int() raises a ValueError, as an allocation's own __int__ may.
  const bool is_text = py::isinstance<py::str>(gpudata) || py::isinstance<py::bytes>(gpudata);
  const auto number =
      is_text ? py::object() : py::reinterpret_steal<py::object>(PyNumber_Long(gpudata.ptr()));
  void* address = number ? PyLong_AsVoidPtr(number.ptr()) : nullptr;
  if (is_text || PyErr_Occurred() != nullptr) {
    clear_conversion_error();
    fail<BridgeError>("pycuda: gpudata is ", std::string(py::repr(gpudata)),
                      "; expected an allocation of PyCUDA or an address");
  }
  return address;
}

// Whether the current context is one that PyCUDA created; Spanwise's memory is in the primary
// context.
bool uses_own_context() {
  const auto context = current_gpu_context();
  return !pycuda_library.is_fake() && context && !context->primary;
}

class PycudaBridge final : public LibraryBridge {
 public:
  PycudaBridge() : LibraryBridge("pycuda", "GPUArray's attributes", gpu_array_class) {}

  bool try_describe(PyObject* array, BorrowedTensor& memory) const override {
    if (!gpu_array_class.is_type_of(array)) return false;
    if (!try_read_layout(array, pycuda_layout, memory)) return false;
    memory.data = reinterpret_cast<void*>(read_address(array, gpudata_attribute));
    return pycuda_library.try_describe(memory);
  }

  ForeignView view(PyObject* array, bool may_copy) const override {
    ForeignView view{.owner = python_owner(array), .memory = memory_of(array)};
    try {
      pycuda_library.set_device(view);
    } catch (const SharingError&) {
      if (!may_copy) throw;
      // Only PyCUDA can read the memory, in its own context; copy through the host.
      const py::object host = py::handle(array).attr("get")();
      view = {.array = copy_on_gpu(import_array(host.ptr())), .copied = true};
    }
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    import_library("pycuda.gpuarray", "pycuda");
    check_dtype(array.dtype(), is_numpys_own(array.dtype()));
    if (uses_own_context()) {
      return ShareBlocker{
          "PyCUDA's current context is not the primary one, in which the array's memory is",
          "import pycuda.autoprimaryctx instead of pycuda.autoinit, or allow a copy "
          "(copyif=True)"};
    }
    if (auto blocker = pycuda_library.share_blocker(array)) return blocker;
    for (int axis = 0; axis < array.rank(); ++axis) {
      if (array.strides()[axis] > 0 || array.shape()[axis] <= 1 || array.size() == 0) continue;
      return ShareBlocker{text("its strides ", strides_text(array), " are not positive on axis ",
                               axis, ", and PyCUDA copies such arrays wrongly or not at all"),
                          "allow a copy (copyif=True)"};
    }
    return std::nullopt;
  }

  PyObject* wrap(const Array& array) const override {
    const py::module_ module = py::module_::import("pycuda.gpuarray");
    const bool on_host = array.device().is_cpu() && !pycuda_library.is_fake();
    if (on_host) {  // from exportable_copy(), for a context in which only PyCUDA can allocate
      const py::object host = object_of(array).attr("numpy")();
      return module.attr("to_gpu")(host).release().ptr();
    }
    check_context(array.device());
    const py::tuple shape = integer_tuple(array.shape());
    const py::object dtype = numpy_dtype(array.dtype());
    if (array.size() == 0) return module.attr("GPUArray")(shape, dtype).release().ptr();
    const py::int_ address(reinterpret_cast<std::uintptr_t>(array.data()));
    py::object result = module.attr("GPUArray")(
        shape, dtype, py::arg("base") = object_of(array), py::arg("gpudata") = address,
        py::arg("strides") = integer_tuple(array.strides(), array.dtype().itemsize()));
    pycuda_library.order(array);
    return result.release().ptr();
  }

  Array exportable_copy(const Array& array) const override {
    const bool over_host = [] {
      const GilAcquire locked;
      return uses_own_context();
    }();
    return over_host ? copy_on_host(array) : pycuda_library.copied(array);
  }

 private:
  static ForeignMemory memory_of(PyObject* array) {
    py::object dtype = attribute_or_null(array, dtype_attribute);
    if (!dtype)
      fail<BridgeError>("pycuda: a GPUArray without dtype; expected a fully constructed one");
    const bool is_native = bool_attribute(dtype.ptr(), native_name);
    if (!is_native) dtype = dtype.attr("newbyteorder")("=");
    const Shape shape = integers_of(array, shape_name, "pycuda");
    const Shape strides = integers_of(array, strides_name, "pycuda");
    if (shape.size() != strides.size())
      fail<BridgeError>("pycuda: strides for ", strides.size(), " axes in an array of ",
                        shape.size(),
                        "; expected one an axis, make the array again without strides=");
    return {.data = address_of(array),
            .dtype = dtype_from(dtype),
            .shape = shape,
            .byte_strides = Strides(std::span<const std::int64_t>(strides)),
            .byte_swapped = !is_native};
  }

  // PyCUDA keeps a stack of contexts for each thread and needs an entry there, even if a context is
  // current.
  static void check_context(Device device) {
    if (device.is_cpu()) return;
    const py::object context = py::module_::import("pycuda.driver").attr("Context");
    if (context.attr("get_current")().is_none())
      fail<DeviceError>(
          "pycuda: this thread has no context of PyCUDA; expected the primary one, "
          "import pycuda.autoprimaryctx first");
  }
};

const PycudaBridge pycuda_bridge;
[[maybe_unused]] const bool pycuda_registered = register_bridge(pycuda_bridge);

}  // namespace

// Aliases by the name of PyCUDA's class, which the names of Theano's functions contain, too.
SW_BIND(pycuda_names, bridge_functions) {
  module.attr("to_gpuarray") = module.attr("to_pycuda");
  module.attr("from_gpuarray") = module.attr("from_pycuda");
  module.def("_works_in_primary_context", [] {
    const auto context = current_gpu_context();
    return context && context->primary;
  });
}

}  // namespace spanwise::python
