// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <utility>

#include "assign.hpp"
#include "order.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/number_kind.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"

/// empty, zeros, ones, full, their *_like forms and eye: NumPy's signatures with device=.
namespace spanwise::python {

namespace py = pybind11;

namespace {

enum class Content { uninitialised, zeros, ones };

void fill_with(const Array& array, Content content) {
  if (content == Content::uninitialised) return;
  const Scalar value = Scalar(std::int64_t{content == Content::ones}).cast(array.dtype());
  const GilRelease unlocked(is_long(array));
  fill(array, value);
}

Array zeros_of(const Shape& shape, DType dtype, Device device) {
  std::int64_t size = dtype.itemsize();  // in bytes; where it overflows, zeros() throws
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(size, extent, &size)) break;
  const GilRelease unlocked(is_long(device, size));
  return zeros(shape, dtype, device);
}

// zeros() is cheaper than empty() and a fill: fresh pages of the system are zero already.
Array make_array(const Layout& layout, DType dtype, Device device, Content content) {
  if (content == Content::zeros && layout.is_row_major()) {
    return zeros_of(layout.shape, dtype, device);
  }
  Array result = empty_in(layout, dtype, device);
  fill_with(result, content);
  return result;
}

Device device_or_default(PyObject* device) {
  return given(device) ? device_from(device) : default_device();
}

// The default dtype is float64, as in NumPy.
template <Content content>
PyObject* make(PyObject* shape, PyObject* dtype, PyObject* order, PyObject* device) {
  if (content != Content::ones && !given(order)) {  // fast path for C order
    const Shape extents = shape_from(shape);
    const DType type = dtype_or(dtype, float64);
    const Device target = device_or_default(device);
    if (content == Content::uninitialised) return wrap(empty(extents, type, target));
    return wrap(zeros_of(extents, type, target));
  }
  const Layout layout = packed_layout(order_or(order, ArrayOrder::c), shape_from(shape));
  return wrap(make_array(layout, dtype_or(dtype, float64), device_or_default(device), content));
}

// The dtype of full() for this value: NumPy's for a Python number, else the value's own.
DType dtype_of_value(PyObject* value) {
  const NumberKind kind = number_kind(value);
  return kind != NumberKind::none ? number_dtype(kind, {}) : import_array(value).dtype();
}

PyObject* full(PyObject* shape, PyObject* value, PyObject* dtype, PyObject* order,
               PyObject* device) {
  const DType type = given(dtype) ? dtype_from(dtype) : dtype_of_value(value);
  const Layout layout = packed_layout(order_or(order, ArrayOrder::c), shape_from(shape));
  Array result = empty_in(layout, type, device_or_default(device));
  assign(result, value);
  return wrap(std::move(result));
}

// As `a`, except for arguments that are not absent or None.
Array make_array_like(PyObject* a, PyObject* dtype, PyObject* order, PyObject* shape,
                      PyObject* device, Content content) {
  const Array model = import_array(a);
  const Shape extents = given(shape) ? shape_from(shape) : model.shape();
  const Layout layout = packed_layout(order_or(order, ArrayOrder::k), extents, model.layout());
  return make_array(layout, dtype_or(dtype, model.dtype()), device_or(device, model.device()),
                    content);
}

template <Content content>
PyObject* make_like(PyObject* a, PyObject* dtype, PyObject* order, PyObject* shape,
                    PyObject* device) {
  return wrap(make_array_like(a, dtype, order, shape, device, content));
}

PyObject* full_like(PyObject* a, PyObject* value, PyObject* dtype, PyObject* order, PyObject* shape,
                    PyObject* device) {
  Array result = make_array_like(a, dtype, order, shape, device, Content::uninitialised);
  assign(result, value);
  return wrap(std::move(result));
}

// The diagonal `k`, clipped to 64 bits: a diagonal outside the matrix is empty.
std::int64_t diagonal_index_from(PyObject* k) {
  if (!given(k)) return 0;
  const Py_ssize_t value = PyNumber_AsSsize_t(k, nullptr);  // clips instead of raising
  if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return value;
}

PyObject* eye(PyObject* rows, PyObject* columns, PyObject* k, PyObject* dtype, PyObject* order,
              PyObject* device) {
  const std::int64_t n = integer_from(rows);
  const Layout layout =
      packed_layout(order_or(order, ArrayOrder::c), Shape{n, integer_or(columns, n)});
  const DType type = dtype_or(dtype, float64);
  Array matrix = make_array(layout, type, device_or_default(device), Content::zeros);
  fill_with(matrix.diagonal(diagonal_index_from(k)), Content::ones);
  return wrap(std::move(matrix));
}

PyMethodDef create_functions[] = {
    declared<"empty(shape, dtype=None, order='C', *, device=None)",
             "An uninitialised array; float64 and on the default device unless given.",
             &make<Content::uninitialised>>(),
    declared<"zeros(shape, dtype=None, order='C', *, device=None)",
             "An array of zeros; float64 and on the default device unless given.",
             &make<Content::zeros>>(),
    declared<"ones(shape, dtype=None, order='C', *, device=None)",
             "An array of ones; float64 and on the default device unless given.",
             &make<Content::ones>>(),
    declared<"full(shape, fill_value, dtype=None, order='C', *, device=None)",
             "An array filled with `fill_value`, a number or an array that is broadcast to "
             "`shape`.\nThe default dtype is that of `fill_value`.",
             &full>(),
    declared<"empty_like(a, dtype=None, order='K', *, shape=None, device=None)",
             "An uninitialised array with the shape, dtype, device and order of axes of `a`.",
             &make_like<Content::uninitialised>>(),
    declared<"zeros_like(a, dtype=None, order='K', *, shape=None, device=None)",
             "An array of zeros with the shape, dtype, device and order of axes of `a`.",
             &make_like<Content::zeros>>(),
    declared<"ones_like(a, dtype=None, order='K', *, shape=None, device=None)",
             "An array of ones with the shape, dtype, device and order of axes of `a`.",
             &make_like<Content::ones>>(),
    declared<"full_like(a, fill_value, dtype=None, order='K', *, shape=None, device=None)",
             "An array filled with `fill_value`, with the shape, dtype, device and order of axes "
             "of `a`.",
             &full_like>(),
    declared<
        "eye(N, M=None, k=0, dtype=None, order='C', *, device=None)",
        "An (N, M) matrix with ones on the k-th diagonal and zeros elsewhere; float64 by default.",
        &eye>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_create) { add_functions(module, create_functions); }

}  // namespace spanwise::python
