// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/interop/foreign_description.hpp"

#include <pybind11/numpy.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>

#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';
constexpr std::string_view kind_letters = "iufVVcb";  // by DTypeCode; V: opaque and bfloat
constexpr char swapped_order = std::endian::native == std::endian::little ? '>' : '<';

[[noreturn]] void fail_kind(std::string_view type_text, std::string_view remedy,
                            std::string_view prefix) {
  fail<DTypeError>(prefix, ": Spanwise has no dtype for elements of type \"", type_text, "\"; ",
                   remedy);
}

DType of_kind(DTypeCode code, int bytes, std::string_view type_text, std::string_view prefix) {
  const bool is_known = (bytes > 0 && bytes <= 16) && DType(code, 8 * bytes).is_computable();
  if (!is_known)
    fail_kind(type_text, "convert them to a narrower type, for instance float64", prefix);
  return DType(code, 8 * bytes);
}

}  // namespace

char kind_letter(DType dtype) noexcept {
  return dtype.lanes() == 1 ? kind_letters[static_cast<std::size_t>(dtype.code())] : 'V';
}

std::optional<DTypeCode> code_of_kind(char letter) noexcept {
  const std::size_t code = kind_letters.find(letter);
  if (letter == 'V' || code == std::string_view::npos) return std::nullopt;
  return static_cast<DTypeCode>(code);
}

ElementType element_from_typestr(std::string_view typestr, std::string_view prefix) {
  int bytes = 0;
  const bool has_bytes = typestr.size() >= 3;
  const char* last = typestr.data() + typestr.size();
  if (has_bytes) {
    const auto [end, error] = std::from_chars(typestr.data() + 2, last, bytes);
    if (error != std::errc{} || (end != last && *end != '[')) bytes = 0;  // "<M8[ns]" has a unit
  }
  if (!has_bytes || bytes <= 0)
    fail<BridgeError>(prefix, ": type string \"", typestr,
                      "\"; expected byte order, kind and bytes, such as \"<f4\"");
  const bool swapped = typestr[0] == swapped_order;
  if (const auto code = code_of_kind(typestr[1]))
    return {of_kind(*code, bytes, typestr, prefix), swapped && *code != DTypeCode::bool_};
  switch (typestr[1]) {
    case 'V':
      // PyTorch and ml_dtypes write bfloat16 as "<V2"; structs have no byte order ("|V2").
      if (bytes == 2 && typestr[0] != '|') return {bfloat16, swapped};
      fail_kind(typestr, "view one field of the struct, or the bytes as uint8", prefix);
    case 'm':
    case 'M':
      fail_kind(typestr, "view the times as int64: x.view('int64')", prefix);
    case 'O':
      fail_kind(typestr, "convert the objects to numbers: x.astype('float64')", prefix);
    default:
      fail_kind(typestr, "convert them to numbers first", prefix);
  }
}

ElementType element_from_format(std::string_view format, int itemsize, std::string_view prefix) {
  std::string_view code = format;
  bool swapped = false;
  if (!code.empty() && std::string_view("@=<>!").find(code[0]) != std::string_view::npos) {
    const char order = code[0] == '!' ? '>' : code[0];
    swapped = order == swapped_order;
    code.remove_prefix(1);
  }
  // PEP 3118 writes complex as "Zf" and "Zd"; some libraries use NumPy's 'F' and 'D'.
  if (code == "Zf" || code == "Zd" || code == "F" || code == "D")
    return {of_kind(DTypeCode::complex, itemsize, format, prefix), swapped};
  if (code.size() == 1) {
    if (code[0] == '?') return {of_kind(DTypeCode::bool_, itemsize, format, prefix), false};
    if (std::string_view("bhilqn").find(code[0]) != std::string_view::npos)
      return {of_kind(DTypeCode::int_, itemsize, format, prefix), swapped};
    if (std::string_view("BHILQNc").find(code[0]) != std::string_view::npos)
      return {of_kind(DTypeCode::uint, itemsize, format, prefix), swapped};
    if (std::string_view("efd").find(code[0]) != std::string_view::npos)
      return {of_kind(DTypeCode::float_, itemsize, format, prefix), swapped};
  }
  fail_kind(format, "cast the buffer to numbers first: memoryview(x).cast('B')", prefix);
}

std::string typestr_of(DType dtype) {
  const char order = dtype.itemsize() == 1 ? '|' : native_order;
  return text(order, kind_letter(dtype), dtype.itemsize());
}

namespace {

constinit const ForeignClass descriptor_class("numpy", "dtype");

// NumPy's type numbers are part of its ABI, unchanged since 1.0 (numpy/ndarraytypes.h).
using Numbers = py::detail::npy_api::constants;
constexpr int half_number = 23;  // NPY_HALF, which pybind11 does not name
constexpr int table_size = half_number + 1;

constexpr auto dtypes_by_number = [] {
  constexpr bool is_long_64 = sizeof(long) == 8;
  std::array<std::optional<DType>, table_size> dtypes{};
  dtypes[Numbers::NPY_BOOL_] = bool_;
  dtypes[Numbers::NPY_BYTE_] = int8;
  dtypes[Numbers::NPY_UBYTE_] = uint8;
  dtypes[Numbers::NPY_SHORT_] = int16;
  dtypes[Numbers::NPY_USHORT_] = uint16;
  dtypes[Numbers::NPY_INT_] = int32;
  dtypes[Numbers::NPY_UINT_] = uint32;
  dtypes[Numbers::NPY_LONG_] = is_long_64 ? int64 : int32;
  dtypes[Numbers::NPY_ULONG_] = is_long_64 ? uint64 : uint32;
  dtypes[Numbers::NPY_LONGLONG_] = int64;
  dtypes[Numbers::NPY_ULONGLONG_] = uint64;
  dtypes[Numbers::NPY_FLOAT_] = float32;
  dtypes[Numbers::NPY_DOUBLE_] = float64;
  dtypes[Numbers::NPY_CFLOAT_] = complex64;
  dtypes[Numbers::NPY_CDOUBLE_] = complex128;
  dtypes[half_number] = float16;
  return dtypes;
}();

}  // namespace

std::optional<ElementType> numpy_element(PyObject* descriptor) noexcept {
  const auto* fields = py::detail::array_descriptor_proxy(descriptor);
  const auto number = static_cast<std::size_t>(fields->type_num);
  if (number >= dtypes_by_number.size() || !dtypes_by_number[number]) [[unlikely]]
    return std::nullopt;
  return ElementType{*dtypes_by_number[number],
                     fields->byteorder == (PY_LITTLE_ENDIAN ? '>' : '<')};
}

std::optional<DType> native_numpy_dtype(PyObject* object) noexcept {
  auto* type = reinterpret_cast<PyTypeObject*>(descriptor_class.get());
  if (type == nullptr || !PyObject_TypeCheck(object, type)) return std::nullopt;
  const auto element = numpy_element(object);
  if (!element || element->byte_swapped) return std::nullopt;
  return element->dtype;
}

namespace {

std::int64_t checked_integer(py::handle value, const char* key, std::string_view prefix) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  int overflow = 0;
  long long result = -1;
  if (number) result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  clear_conversion_error();
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
    clear_conversion_error();
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
