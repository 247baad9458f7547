// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"

/// NumPy's protocols for other classes: import of the array interface, version 3, from a dictionary
/// or a C struct (numpy.org, "The array interface protocol"), and of __array__(); and
/// Array.__array_interface__, which only arrays on the CPU with one of NumPy's own dtypes have.
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

constinit const AttributeName method_name("__array__");

/// Lowest priority: objects whose only interface is a method that returns an ndarray.
class ArrayMethodBridge final : public Bridge {
 public:
  std::string_view name() const override { return "array_method"; }
  BridgePriority priority() const override { return BridgePriority::conversion; }
  std::string_view protocols() const override { return "__array__"; }

  // A class is not an array, although the method can be found on it.
  bool accepts(PyObject* object) const override {
    return !PyType_Check(object) && attribute_or_null(object, method_name);
  }

  bool is_conversion() const override { return true; }

  ForeignView view(PyObject* object, bool may_copy) const override {
    const py::object array = call(object, may_copy);
    const Bridge& numpy = *find_bridge("numpy");
    if (!numpy.accepts(array.ptr()))
      fail<BridgeError>("array_method: __array__() of ", Py_TYPE(object)->tp_name, " returned a ",
                        Py_TYPE(array.ptr())->tp_name, "; expected a numpy.ndarray");
    return numpy.view(array.ptr(), may_copy);
  }

 private:
  // NumPy 2 passes copy=False to forbid a copy; older methods do not accept the argument.
  static py::object call(PyObject* object, bool may_copy) {
    const py::object method = attribute_or_null(object, method_name);
    if (!method) fail<BridgeError>("array_method: no __array__");
    if (may_copy) return method();
    try {
      return method(py::arg("copy") = false);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
    throw SharingError("array_method", {"its __array__ does not accept copy=False, so it may copy",
                                        "allow a copy (copy=None, copyif=True)"});
  }
};

const ArrayMethodBridge method_bridge;
[[maybe_unused]] const bool method_registered = register_bridge(method_bridge);

// Array.__array_interface__, version 3: only arrays on the CPU with one of NumPy's own dtypes have
// it.

PyObject* get_array_interface(PyObject* self) {
  const Array& array = array_in(self);
  if (!array.device().is_cpu()) {
    PyErr_SetString(PyExc_AttributeError,
                    "__array_interface__: the array is on a GPU; copy it with x.numpy()");
    return nullptr;
  }
  // NumPy would import the elements as raw bytes; without the interface it calls __array__(), which
  // imports the package that defines the dtype.
  if (buffer_format(array.dtype()) == nullptr) {
    PyErr_Format(PyExc_AttributeError,
                 "__array_interface__: the interface has no type for %s; use x.numpy()",
                 array.dtype().name().c_str());
    return nullptr;
  }
  py::dict interface = interface_of(array);
  // NumPy treats a null address as missing, even without elements.
  static char no_elements[16];
  const void* address = array.data() != nullptr ? array.data() : no_elements;
  interface["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(address), array.readonly());
  return interface.release().ptr();
}

PyGetSetDef interface_attributes[] = {
    attribute<&get_array_interface>(
        "__array_interface__",
        "NumPy's array interface, version 3. Arrays on a GPU do not have it, "
        "nor those of dtypes that\nit has no type for."),
    {}};

}  // namespace

SW_BIND(bridge_array_interface, array_type) { add_array_attributes(interface_attributes); }

}  // namespace spanwise::python
