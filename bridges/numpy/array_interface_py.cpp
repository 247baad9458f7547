// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/interop/interface.hpp"
#include "python/interop/typestr.hpp"
#include "python/support/array.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

/// Imports NumPy's array interface, version 3: objects in host memory that describe it by a
/// dictionary or a C struct (numpy.org, "The array interface protocol").
namespace spanwise::python {

namespace py = pybind11;

namespace {

constexpr std::string_view array_interface_name = "array_interface";
constinit const AttributeName dict_name("__array_interface__"), struct_name("__array_struct__");

// Throws if the interface describes memory outside of the buffer that it names.
void check_inside(const ForeignMemory& memory, const Py_buffer& buffer) {
  __int128 lowest = static_cast<std::byte*>(memory.data) - static_cast<std::byte*>(buffer.buf);
  __int128 highest = lowest, step = memory.dtype.itemsize();
  for (int axis = memory.shape.size() - 1; axis >= 0; --axis) {
    if (memory.shape[axis] == 0) return;
    const __int128 stride = memory.row_major ? step : memory.byte_strides[axis];
    const __int128 reach = stride * (memory.shape[axis] - 1);
    (reach < 0 ? lowest : highest) += reach;
    step *= memory.shape[axis];
  }
  highest += memory.dtype.itemsize();
  if (lowest < 0 || highest > buffer.len)
    fail<BridgeError>(array_interface_name, ": shape and strides reach outside the buffer of ",
                      buffer.len, " bytes that \"data\" names");
}

// "data" may be a buffer instead of an address; if it is missing, the object itself is the buffer.
ForeignView view_of_buffer(InterfaceDict interface, PyObject* object) {
  PyObject* exporter = interface.data ? interface.data.ptr() : object;
  const auto buffer = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(exporter));
  if (!buffer) {
    PyErr_Clear();
    fail<BridgeError>(array_interface_name, ": \"data\" of type ", Py_TYPE(exporter)->tp_name,
                      " is neither (address, read-only) nor a buffer");
  }
  const Py_buffer& bytes = *PyMemoryView_GET_BUFFER(buffer.ptr());
  if (PyBuffer_IsContiguous(&bytes, 'C') != 1)
    fail<BridgeError>(array_interface_name,
                      ": the buffer that \"data\" names has gaps; expected contiguous bytes");
  ForeignView view{.owner = python_owner(buffer.ptr()), .memory = std::move(interface.memory)};
  if (!view.memory.row_major && view.memory.byte_strides.size() != view.memory.shape.size())
    fail<BridgeError>(array_interface_name, ": \"strides\" has ", view.memory.byte_strides.size(),
                      " entries; expected ", view.memory.shape.size());
  view.memory.data = static_cast<std::byte*>(bytes.buf) + interface.offset;
  view.memory.readonly = bytes.readonly != 0;
  check_inside(view.memory, bytes);
  return view;
}

// The struct in the capsule of `__array_struct__` (numpy/ndarraytypes.h, PyArrayInterface).
struct ArrayStruct {
  int two;  // always 2, to identify the struct
  int nd;
  char kind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;
  void* data;
  PyObject* descr;
};
constexpr int flag_not_swapped = 0x200, flag_writeable = 0x400;

ForeignView view_of_struct(const py::object& capsule, PyObject* object) {
  const auto* fields = static_cast<ArrayStruct*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  PyErr_Clear();
  if (fields == nullptr || fields->two != 2)
    fail<BridgeError>(array_interface_name, ": __array_struct__ holds no array struct");
  if (fields->nd < 0 || fields->nd > max_rank)
    fail<BridgeError>(array_interface_name, ": ", fields->nd,
                      " axes in __array_struct__; expected 0 to ", max_rank);
  const bool swapped = (fields->flags & flag_not_swapped) == 0;
  const char order = swapped == static_cast<bool>(PY_LITTLE_ENDIAN) ? '>' : '<';
  const ElementType element =
      element_from_typestr(text(order, fields->kind, fields->itemsize), array_interface_name);
  const auto axes = static_cast<std::size_t>(fields->nd);
  return {.owner = python_owner(py::make_tuple(py::handle(object), capsule).ptr()),
          .memory = {.data = fields->data,
                     .device = cpu,
                     .dtype = element.dtype,
                     .shape = Shape(std::span<const std::int64_t>(fields->shape, axes)),
                     .byte_strides = Strides(std::span<const std::int64_t>(
                         fields->strides, fields->strides == nullptr ? 0 : axes)),
                     .row_major = fields->strides == nullptr,
                     .readonly = (fields->flags & flag_writeable) == 0,
                     .byte_swapped = element.byte_swapped}};
}

class ArrayInterfaceBridge final : public Bridge {
 public:
  std::string_view name() const override { return array_interface_name; }
  BridgePriority priority() const override { return BridgePriority::array_interface; }
  std::string_view protocols() const override { return "__array_interface__ 3"; }

  bool accepts(PyObject* object) const override {
    return attribute_or_null(object, dict_name) || attribute_or_null(object, struct_name);
  }

  ForeignView view(PyObject* object, bool) const override {
    if (const py::object capsule = attribute_or_null(object, struct_name))
      return view_of_struct(capsule, object);
    const py::object dict = attribute_or_null(object, dict_name);
    if (!dict) fail<BridgeError>(array_interface_name, ": the object has no __array_interface__");
    InterfaceDict interface = parse_interface(dict, array_interface_name);
    if (!interface.has_address) return view_of_buffer(std::move(interface), object);
    // Some objects allocate the memory when they make the dict, which then keeps it alive.
    return {.owner = python_owner(py::make_tuple(py::handle(object), dict).ptr()),
            .memory = std::move(interface.memory)};
  }
};

const ArrayInterfaceBridge interface_bridge;
[[maybe_unused]] const bool interface_registered = register_bridge(interface_bridge);

}  // namespace
}  // namespace spanwise::python
