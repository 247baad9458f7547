// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/numpy.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/interop/library_bridge.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass ndarray_class("numpy", "ndarray"), generic_class("numpy", "generic");

// The first type number of types that packages add to NumPy (NPY_USERDEF).
constexpr int first_added_number = 256;

const char* remedy_for(char kind) {
  switch (kind) {
    case 'M':
    case 'm':
      return "view the times as numbers: x.view(\"int64\")";
    case 'S':
    case 'U':
    case 'V':
      return "view its bytes: x.view(\"uint8\")";
    default:
      return "convert it: x.astype(\"float64\")";
  }
}

// Added types (ml_dtypes) are identified by name and size, because some are padded that DLPack
// packs.
ElementType named_element(const py::dtype& descriptor, int number) {
  const std::string name = py::str(descriptor.attr("name"));
  if (!descriptor.attr("names").is_none())
    fail<DTypeError>("numpy: an array of structs (", name,
                     ") has no one dtype; pass one field of it, x[\"field\"], or its bytes, "
                     "x.view(\"uint8\").reshape(*x.shape, x.itemsize)");
  if (number >= first_added_number) {
    try {
      const DType dtype = DType::parse(name);
      if (dtype.itemsize() == descriptor.itemsize()) return {dtype, false};
    } catch (const DTypeError&) {
      // The error below describes the array.
    }
  }
  fail<DTypeError>("numpy: dtype ", name, " has no equivalent in Spanwise; ",
                   remedy_for(descriptor.kind()));
}

// The element type of an ndarray's descriptor. Throws DTypeError with a remedy for types that are
// not numbers.
ElementType element_of(PyObject* descriptor) {
  if (const auto element = numpy_element(descriptor)) [[likely]]
    return *element;
  const int number = py::detail::array_descriptor_proxy(descriptor)->type_num;
  return named_element(py::reinterpret_borrow<py::dtype>(descriptor), number);
}

// Masked elements are invalid; sharing the memory would expose them.
void refuse_mask(PyObject* array) {
  const py::object module = loaded_module("numpy.ma");
  if (!module || !py::isinstance(array, module.attr("MaskedArray"))) return;
  const py::object mask = py::handle(array).attr("mask");
  if (py::bool_(py::module_::import("numpy").attr("any")(mask)))
    fail<ArgumentError>(
        "numpy: a masked array with masked elements; expected no masked ones, pass "
        "x.filled(value), or x.data for the values under the mask");
}

// Reads the fields of PyArrayObject, which NumPy keeps binary compatible from 1.7 to 2.x (every
// extension compiled against it has them inlined); pybind11 declares them.
ForeignMemory memory_of(PyObject* array) {
  const auto* fields = py::detail::array_proxy(array);
  const auto axes = static_cast<std::size_t>(fields->nd);
  const ElementType element = element_of(fields->descr);
  return {.data = fields->data,
          .device = cpu,
          .dtype = element.dtype,
          .shape = Shape(std::span<const std::int64_t>(fields->dimensions, axes)),
          .byte_strides = Strides(std::span<const std::int64_t>(fields->strides, axes)),
          .readonly = (fields->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_) == 0,
          .byte_swapped = element.byte_swapped};
}

ForeignView view_of_array(PyObject* array) {
  return {.owner = python_owner(array), .memory = memory_of(array)};
}

// Whether the strides are those that NumPy computes itself, which takes less time than checking
// strides that it is passed.
bool is_packed(const std::int64_t* shape, const std::int64_t* strides, int rank) noexcept {
  std::int64_t step = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (strides[axis] != step) return false;
    step *= shape[axis];
  }
  return step != 0;
}

// A new ndarray that shares the memory of `array` and keeps it alive.
PyObject* ndarray_over(const Array& array) {
  // NumPy's own function: pybind11's array creates two vectors first, and queries flags by name.
  // Not a static initializer: it imports NumPy, which releases the GIL, and another thread would
  // then wait for the initializer while holding the GIL.
  static constinit const py::detail::npy_api* cached_api = nullptr;
  if (cached_api == nullptr) cached_api = &py::detail::npy_api::get();
  const py::detail::npy_api& api = *cached_api;
  using Flags = py::detail::npy_api::constants;
  const int rank = array.rank();
  const std::int64_t* shape = array.shape().data();
  const std::int64_t* element_strides = array.strides().data();
  const std::int64_t item = array.dtype().itemsize();  // a power of two, as NumPy's own are
  int flags = array.readonly() ? 0 : Flags::NPY_ARRAY_WRITEABLE_;
  // For a null address NumPy would allocate memory.
  static char without_elements;
  void* data = array.data();
  if (data == nullptr) data = &without_elements;
  std::array<Py_intptr_t, max_rank> byte_strides;
  Py_intptr_t* strides = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if ((address & static_cast<std::uintptr_t>(item - 1)) == 0 &&
      is_packed(shape, element_strides, rank)) {
    flags |= Flags::NPY_ARRAY_ALIGNED_;  // NumPy does not check it if it computes the strides
  } else {
    strides = byte_strides.data();
    for (int axis = 0; axis < rank; ++axis) strides[axis] = element_strides[axis] * item;
  }
  PyObject* descriptor = numpy_dtype(array.dtype()).release().ptr();
  PyObject* result = api.PyArray_NewFromDescr_(api.PyArray_Type_, descriptor, rank, shape, strides,
                                               data, flags, nullptr);
  PyObject* owner = result != nullptr ? python::wrap(array) : nullptr;
  if (owner == nullptr) {
    Py_XDECREF(result);
    throw py::error_already_set();
  }
  // The same as PyArray_SetBaseObject(), for an ndarray without a base and an owner that is not an
  // ndarray.
  py::detail::array_proxy(result)->base = owner;
  return result;
}

class NumpyBridge final : public LibraryBridge {
 public:
  NumpyBridge() : LibraryBridge("numpy", "NumPy's C ABI", ndarray_class, &generic_class) {}

  bool speaks_dlpack(PyObject* object) const override {  // NumPy's scalars do not support it
    return ndarray_class.has(object);
  }

  bool try_describe(PyObject* object, BorrowedTensor& memory) const override {
    if (!ndarray_class.is_type_of(object)) return false;
    const auto* fields = py::detail::array_proxy(object);
    const auto element = numpy_element(fields->descr);
    if (!element || element->byte_swapped) return false;
    memory.data = fields->data;
    memory.dtype = element->dtype;
    memory.rank = fields->nd;
    memory.shape = fields->dimensions;
    memory.strides = fields->strides;
    memory.readonly = (fields->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_) == 0;
    return true;
  }

  ForeignView view(PyObject* object, bool) const override {
    if (ndarray_class.has(object)) {
      if (!ndarray_class.is_type_of(object)) refuse_mask(object);
      return view_of_array(object);
    }
    // A scalar is a value: NumPy copies it to a new 0-d array, which only Spanwise refers to.
    const py::object array = py::handle(object).attr("__array__")();
    ForeignView source = view_of_array(array.ptr());
    ForeignView view;
    view.array = take(source, CopyMode::always, "numpy");
    view.created = true;
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    // Throws with the package to install; NumPy itself has the other dtypes.
    if (!is_numpys_own(array.dtype())) numpy_dtype(array.dtype());
    if (array.device().is_cpu()) return std::nullopt;
    return ShareBlocker{
        text("its memory is on ", array.device(), ", and NumPy's arrays are on the host"),
        "allow a copy (copyif=True), or call x.numpy()"};
  }

  PyObject* wrap(const Array& array) const override { return ndarray_over(array); }

  Array exportable_copy(const Array& array) const override { return copy_on_host(array); }
};

const NumpyBridge numpy_bridge;
[[maybe_unused]] const bool numpy_registered = register_bridge(numpy_bridge);

}  // namespace
}  // namespace spanwise::python
