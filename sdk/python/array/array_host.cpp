// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "python/array/array_copies.hpp"
#include "python/array/array_object.hpp"
#include "python/array/array_slots.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// The methods that copy elements to the host: item, tolist, numpy, __array__, __complex__,
/// __format__.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// `flat` is an index in C order, as for numpy.ndarray.item.
Array element_at(const Array& array, std::int64_t flat) {
  const std::int64_t size = array.size();
  if (flat < -size || flat >= size)
    fail<BoundsError>("item: index ", flat, " is outside an array of ", size, " elements");
  if (flat < 0) flat += size;
  Layout layout = array.layout();
  for (int axis = layout.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = layout.shape[axis];
    layout = layout.index(axis, flat % extent);
    flat /= extent;
  }
  return array.with_layout(std::move(layout));
}

Array element_at(const Array& array, const Shape& index) {
  if (index.size() != array.rank())
    fail<BoundsError>("item: expected ", array.rank(), " indices for shape ", array.shape(),
                      ", got ", index.size());
  Layout layout = array.layout();
  for (const std::int64_t i : index) layout = layout.index(0, i);
  return array.with_layout(std::move(layout));
}

Array element_at(const Array& array, PyObject* const* values, Py_ssize_t count) {
  if (count == 0) return array;
  if (count == 1) {
    return PyTuple_Check(values[0]) ? element_at(array, shape_from(values[0]))
                                    : element_at(array, integer_from(values[0]));
  }
  Shape index(static_cast<int>(count));
  for (Py_ssize_t i = 0; i < count; ++i) index[static_cast<int>(i)] = integer_from(values[i]);
  return element_at(array, index);
}

py::object item_method(PyObject* self, PyObject* const* values, Py_ssize_t count,
                       PyObject* kwnames) {
  static constexpr CallSignature<0> signature{"item", {}, 0, 0};
  signature.read(values + count, 0, kwnames);
  return python_number(element_at(array_in(self), values, count));
}

template <class T>
PyObject* number_at(const std::byte* address) noexcept {
  T value;
  std::memcpy(&value, address, sizeof value);
  if constexpr (std::is_floating_point_v<T>)
    return PyFloat_FromDouble(static_cast<double>(value));
  else if constexpr (std::is_signed_v<T>)
    return PyLong_FromLongLong(value);
  else
    return PyLong_FromUnsignedLongLong(value);
}
struct BoolByte {};
template <>
PyObject* number_at<BoolByte>(const std::byte* address) noexcept {
  return PyBool_FromLong(address[0] != std::byte{0});
}

// Puts n elements, `step` bytes apart, into a new list. Returns false with a Python error set.
using FillList = bool (*)(PyObject* list, const std::byte* address, std::int64_t step,
                          std::int64_t n);
template <class T>
bool try_fill_list(PyObject* list, const std::byte* address, std::int64_t step,
                   std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i, address += step) {
    PyObject* number = number_at<T>(address);
    if (number == nullptr) return false;
    PyList_SET_ITEM(list, i, number);
  }
  return true;
}

// How to read elements of one dtype; null for dtypes that have to be converted first.
struct NumberReader {
  PyObject* (*number_at)(const std::byte* address) = nullptr;
  FillList try_fill_list = nullptr;
};

template <class T>
constexpr NumberReader reader{&number_at<T>, &try_fill_list<T>};

NumberReader reader_of(DType dtype) noexcept {
  static constexpr std::pair<DType, NumberReader> readers[] = {
      {float64, reader<double>},       {int64, reader<std::int64_t>},
      {float32, reader<float>},        {bool_, reader<BoolByte>},
      {int32, reader<std::int32_t>},   {int16, reader<std::int16_t>},
      {int8, reader<std::int8_t>},     {uint64, reader<std::uint64_t>},
      {uint32, reader<std::uint32_t>}, {uint16, reader<std::uint16_t>},
      {uint8, reader<std::uint8_t>}};
  for (const auto& [known, number_reader] : readers)
    if (known == dtype) return number_reader;
  return {};
}

py::object list_from(const Array& array, const std::byte* address, int axis, FillList fill) {
  const std::int64_t extent = array.shape()[axis];
  // An array without elements may have no address to add strides to.
  const std::int64_t step =
      address == nullptr ? 0 : array.strides()[axis] * array.dtype().itemsize();
  py::object list = owned(PyList_New(extent));
  if (axis == array.rank() - 1) {
    if (!fill(list.ptr(), address, step, extent)) throw py::error_already_set();
    return list;
  }
  for (std::int64_t i = 0; i < extent; ++i, address += step)
    PyList_SET_ITEM(list.ptr(), i, list_from(array, address, axis + 1, fill).release().ptr());
  return list;
}

PyObject* tolist(PyObject* self) {
  const Array& array = array_in(self);
  const FillList fill = reader_of(array.dtype()).try_fill_list;
  if (fill != nullptr && array.rank() > 0 && no_pending_work(array))
    return list_from(array, static_cast<const std::byte*>(array.data()), 0, fill).release().ptr();
  // NumPy may lack bfloat16; the cast to float32 is exact.
  const bool is_bfloat16 = array.dtype() == bfloat16;
  return to_numpy(is_bfloat16 ? copied(array, float32, array.device(), ArrayOrder::k) : array)
      .attr("tolist")()
      .release()
      .ptr();
}

py::object numpy(PyObject* self) { return to_numpy(array_in(self)); }

// NumPy's protocol (numpy.org/doc/stable/user/basics.interoperability.html): copy=False must raise
// where a copy is needed.
PyObject* array_protocol(PyObject* self, PyObject* dtype, PyObject* copy_argument) {
  const Array& array = array_in(self);
  const CopyMode mode = copy_mode_from(copy_argument);
  if (mode == CopyMode::never && !array.device().is_cpu())
    fail<CopyNeededError>("__array__: ", array,
                          " cannot be shared with NumPy, which sees host memory only; allow the "
                          "copy: a.numpy()");
  const py::object host = to_numpy(array);
  if (given(dtype) && dtype_from(dtype) != array.dtype()) {
    if (mode == CopyMode::never)
      fail<CopyNeededError>("__array__: ", array.dtype(), " cannot be read as ",
                            std::string(py::str(dtype)),
                            " without a copy; allow it with copy=None");
    return host.attr("astype")(py::handle(dtype)).release().ptr();
  }
  const bool is_shared = array.device().is_cpu();
  const py::object result = mode == CopyMode::always && is_shared ? host.attr("copy")() : host;
  return Py_NewRef(result.ptr());
}

// As NumPy: an array of rank 0 is formatted as its number; others accept only the empty format.
PyObject* format(PyObject* self, PyObject* spec) {
  const Array& array = array_in(self);
  if (array.rank() == 0 && array.dtype().is_computable())
    return PyObject_Format(python_number(array).ptr(), spec);
  if (PyUnicode_Check(spec) && PyUnicode_GET_LENGTH(spec) == 0) return PyObject_Str(self);
  throw py::type_error(text("Array: expected an empty format for shape ", array.shape(),
                            ", got one for a number; format one element: f\"{a.item():.3f}\""));
}

PyMethodDef host_methods[] = {
    method<&item_method>("item",
                         "item($self, /, *args)\n--\n\n"
                         "The only element, or the element at an index (flat or one per axis), as "
                         "a Python\nnumber. Waits for the array."),
    declared<"tolist($self)",
             "The elements as nested lists of Python numbers. Waits for the array.", &tolist>(),
    declared<"numpy($self)",
             "A numpy.ndarray that shares the memory of an array on the CPU; a copy of an array on "
             "a GPU.\nWaits for the array.",
             &numpy>(),
    declared<"__array__($self, dtype=None, *, copy=None)", "", &array_protocol>(),
    declared<"__complex__($self)", "", &array_complex>(),
    declared<"__format__($self, format_spec, /)", "", &format>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

py::object python_number(const Array& array) {
  if (array.size() == 1 && no_pending_work(array))
    if (const NumberReader numbers = reader_of(array.dtype()); numbers.number_at != nullptr)
      return owned(numbers.number_at(static_cast<const std::byte*>(array.data())));
  return python_number(without_gil(is_long(array), [&] { return item(array); }));
}

py::object python_number(const Scalar& scalar) {
  const DType dtype = scalar.dtype();
  if (const NumberReader numbers = reader_of(dtype); numbers.number_at != nullptr)
    return owned(numbers.number_at(static_cast<const std::byte*>(scalar.data())));
  if (!dtype.is_computable())
    fail<DTypeError>(
        "spanwise: an element of dtype ", dtype,
        " is no Python number; convert with a.view() or with a library that supports the dtype");
  if (dtype.is_floating()) return owned(PyFloat_FromDouble(scalar.as_double()));
  const Scalar wide = scalar.cast(complex128);
  double parts[2];
  std::memcpy(parts, wide.data(), sizeof parts);
  return owned(PyComplex_FromDoubles(parts[0], parts[1]));
}

Array on_host(const Array& array) {
  if (array.device().is_cpu()) return array;
  const GilRelease unlocked;
  return to_device(array, cpu);
}

py::object to_numpy(const Array& array) {
  const Bridge* bridge = find_bridge("numpy");
  if (bridge == nullptr)
    fail<BridgeError>("numpy(): this build of spanwise has no bridge to NumPy");
  const Array host = on_host(array);
  if (auto blocker = bridge->share_blocker(host))
    throw SharingError("numpy()", *std::move(blocker));
  py::object created = owned(bridge->wrap(host));
  bridge->count_export(!array.device().is_cpu(), array.nbytes());
  return created;
}

SW_BIND(array_host, array_type) { add_array_methods(host_methods); }

}  // namespace spanwise::python
