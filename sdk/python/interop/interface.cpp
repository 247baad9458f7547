// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "interface.hpp"

#include <span>
#include <string>

#include "python/support/call.hpp"
#include "python/support/numpy_descriptor.hpp"
#include "python/support/snapshot.hpp"
#include "python/support/tuple.hpp"
#include "spanwise/core/error.hpp"
#include "typestr.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::int64_t checked_integer(py::handle value, const char* key, std::string_view prefix) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  int overflow = 0;
  long long result = -1;
  if (number) result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  PyErr_Clear();
  if (!number || overflow != 0)
    fail<BridgeError>(prefix, ": \"", key, "\" holds ", std::string(py::repr(value)),
                      "; expected an integer of 64 bits");
  return result;
}

template <class D>
D checked_dims(const py::object& value, const char* key, std::string_view prefix) {
  if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr()))
    fail<BridgeError>(prefix, ": \"", key, "\" is a ", Py_TYPE(value.ptr())->tp_name,
                      "; expected a tuple of integers");
  const py::tuple items = items_of(value.ptr());
  if (items.size() > max_rank)
    fail<BridgeError>(prefix, ": \"", key, "\" has ", items.size(), " axes; expected at most ",
                      max_rank);
  D result(static_cast<int>(items.size()));
  for (int axis = 0; axis < result.size(); ++axis)
    result[axis] = checked_integer(items[static_cast<std::size_t>(axis)], key, prefix);
  return result;
}

class Parser {
 public:
  Parser(py::handle dict, std::string_view prefix) : dict_(dict), prefix_(prefix) {}

  InterfaceDict parse() {
    if (!PyDict_Check(dict_.ptr()))
      fail<BridgeError>(prefix_, ": expected a dict, got ", Py_TYPE(dict_.ptr())->tp_name);
    InterfaceDict result;
    ForeignMemory& memory = result.memory;
    memory.shape = checked_dims<Shape>(required("shape"), "shape", prefix_);
    read_element(memory);
    const py::object strides = optional("strides");
    memory.row_major = !strides;
    if (strides) memory.byte_strides = checked_dims<Strides>(strides, "strides", prefix_);
    read_data(result);
    if (const py::object version = optional("version"))
      result.version = checked_integer(version, "version", prefix_);
    if (const py::object offset = optional("offset"))
      result.offset = checked_integer(offset, "offset", prefix_);
    if (const py::object stream = optional("stream"))
      result.stream = static_cast<std::uintptr_t>(checked_integer(stream, "stream", prefix_));
    if (optional("mask"))
      fail<ArgumentError>(prefix_, ": got an array with a mask, expected one ",
                          "without; fill the masked elements first");
    return result;
  }

 private:
  // Null where the entry is absent or None.
  py::object optional(const char* key) const {
    PyObject* value = PyDict_GetItemString(dict_.ptr(), key);
    if (value == nullptr || value == Py_None) return {};
    return py::reinterpret_borrow<py::object>(value);
  }
  py::object required(const char* key) const {
    py::object value = optional(key);
    if (!value) fail<BridgeError>(prefix_, ": the dict has no \"", key, "\"");
    return value;
  }

  void read_element(ForeignMemory& memory) const {
    const py::object typestr = required("typestr");
    if (!PyUnicode_Check(typestr.ptr()))
      fail<BridgeError>(prefix_, ": \"typestr\" is a ", Py_TYPE(typestr.ptr())->tp_name,
                        "; expected text such as \"<f4\"");
    const ElementType element = element_from_typestr(std::string(py::str(typestr)), prefix_);
    memory.dtype = element.dtype;
    memory.byte_swapped = element.byte_swapped;
  }

  void read_data(InterfaceDict& result) const {
    result.data = optional("data");
    if (!result.data || !PyTuple_Check(result.data.ptr())) return;
    const auto pair = py::reinterpret_steal<py::tuple>(result.data.release());
    if (pair.size() != 2)
      fail<BridgeError>(prefix_, ": \"data\" has ", pair.size(),
                        " entries; expected (address, read-only)");
    // Addresses above 2^63 are no int64, so they are read as unsigned.
    const py::object address = pair[0].is_none() ? py::int_(0) : py::object(pair[0]);
    const unsigned long long number =
        PyLong_Check(address.ptr())
            ? PyLong_AsUnsignedLongLong(address.ptr())
            : static_cast<unsigned long long>(checked_integer(address, "data", prefix_));
    const bool failed = PyErr_Occurred() != nullptr;
    PyErr_Clear();
    if (failed)
      fail<BridgeError>(prefix_, ": \"data\" holds the address ", std::string(py::repr(address)),
                        "; expected 64 bits");
    result.has_address = true;
    result.memory.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
    result.memory.readonly = truth_or(pair[1].ptr(), false);
  }

  py::handle dict_;
  std::string_view prefix_;
};

}  // namespace

InterfaceDict parse_interface(py::handle dict, std::string_view prefix) {
  return Parser(dict, prefix).parse();
}

Shape integers_of(PyObject* object, const AttributeName& name, std::string_view prefix) {
  const py::object values = attribute_or_null(object, name);
  if (!values)
    fail<BridgeError>(prefix, ": ", name.text(), " is missing; expected a tuple of integers");
  return checked_dims<Shape>(values, name.text(), prefix);
}

py::dict interface_of(const Array& array) {
  const std::string typestr = typestr_of(array.dtype());
  py::object strides = py::none();
  if (!array.layout().is_row_major())
    strides = integer_tuple(array.strides(), array.dtype().itemsize());
  py::list descr;
  descr.append(py::make_tuple("", typestr));
  py::dict result;
  result["shape"] = integer_tuple(array.shape());
  result["typestr"] = typestr;
  result["descr"] = std::move(descr);
  result["strides"] = std::move(strides);
  result["version"] = 3;
  return result;
}

bool try_read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                     bool is_packed) noexcept {
  const pybind11::object dtype = attributes.dtype.of(array);
  const std::optional<DType> native = dtype ? native_numpy_dtype(dtype.ptr()) : std::nullopt;
  if (!native) return false;
  const auto scratch = std::span(memory.scratch);
  memory.rank = read_integers(array, attributes.shape, scratch.first(max_rank));
  memory.dtype = *native;
  memory.shape = scratch.data();
  if (memory.rank < 0 || is_packed) return memory.rank >= 0;
  memory.strides = scratch.data() + max_rank;
  return read_integers(array, attributes.strides, scratch.last(max_rank)) == memory.rank;
}

}  // namespace spanwise::python
