// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "python/array/array_copies.hpp"
#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/interop/exchange.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"

/// The functions that make arrays, with NumPy's signatures and device=: empty, zeros, ones, full,
/// their *_like forms and eye; array, asarray and ascontiguousarray; also copyto and
/// may_share_memory.
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

// array, asarray, ascontiguousarray, copyto and may_share_memory.

bool has_order(ArrayOrder order, const Layout& layout) {
  if (order == ArrayOrder::c) return layout.is_row_major();
  if (order == ArrayOrder::f) return layout.is_column_major();
  return true;  // "A" and "K" accept any layout
}

ImportOptions import_options(PyObject* dtype, PyObject* device, CopyMode mode) {
  ImportOptions options{.copy = mode, .may_compute = true};
  if (given(dtype)) options.dtype = dtype_from(dtype);
  if (given(device)) options.device = device_from(device);
  return options;
}

PyObject* as_array(PyObject* x, const ImportOptions& options, ArrayOrder order) {
  Array array = import_array(x, options);
  if (!has_order(order, array.layout())) {
    if (options.copy == CopyMode::never)
      fail<CopyNeededError>(
          "asarray: ", array,
          " has another memory order; pass copy=None to allow a copy, or omit order");
    array = copied(array, array.dtype(), array.device(), order);
  }
  // Returns x itself if nothing changed, so that asarray(asarray(x)) makes no new object.
  if (is_array(x)) {
    const Array& source = array_in(x);
    if (source.storage() == array.storage() && source.layout() == array.layout() &&
        source.dtype() == array.dtype()) {
      return Py_NewRef(x);
    }
  }
  return wrap(std::move(array));
}

// may_compute=false is _asarray(), for operands of functions written in Python: lazy arrays are not
// computed.
template <bool may_compute>
PyObject* asarray(PyObject* x, PyObject* dtype, PyObject* device, PyObject* copy, PyObject* order) {
  ImportOptions options = import_options(dtype, device, copy_mode_from(copy));
  options.may_compute = may_compute;
  return as_array(x, options, order_or(order, ArrayOrder::k));
}

// The fast path of asarray() with one argument: programs that mix libraries call it for every array
// that they pass.
PyObject* asarray_without_options(PyObject* x) {
  return is_array(x) ? Py_NewRef(x) : shared_object(x);
}

Array with_rank(Array array, std::int64_t rank) {
  if (rank > max_rank) fail<LayoutError>("array: expected ndmin <= ", max_rank, ", got ", rank);
  while (array.rank() < rank) array = array.expand(0);
  return array;
}

// A single copy in the given order, from memory that is shared or borrowed during the call.
Array copy_of(PyObject* x, const ImportOptions& options, ArrayOrder order) {
  const auto copy = [&](const Array& source) {
    return copied(source, options.dtype.value_or(source.dtype()),
                  options.device.value_or(source.device()), order);
  };
  if (is_array(x)) return copy(array_in(x));
  if (!options.device && !options.dtype && order != ArrayOrder::f)
    if (const auto memory = small_memory(x)) {
      Array created = empty(memory->shape, memory->dtype, cpu);
      std::memcpy(created.data(), memory->data, static_cast<std::size_t>(memory->bytes));
      return created;
    }
  if (!options.device || options.device->is_cpu())
    if (const std::optional<Array> borrowed = borrowed_array(x)) return copy(*borrowed);
  ImportOptions sharing{.may_compute = true};
  if (StrictCopies::active()) sharing.copy = CopyMode::always;  // array() is an explicit copy
  return copy(import_array(x, sharing));
}

// The fast path of array() with one argument.
PyObject* array_without_options(PyObject* x) {
  return is_number_or_list(x) ? nullptr : wrap(copy_of(x, {}, ArrayOrder::k));
}

PyObject* array(PyObject* x, PyObject* dtype, PyObject* device, PyObject* copy, PyObject* order,
                PyObject* ndmin) {
  const CopyMode mode = copy == nullptr ? CopyMode::always : copy_mode_from(copy);
  const ArrayOrder target_order = order_or(order, ArrayOrder::k);
  ImportOptions options = import_options(dtype, device, mode);
  // Conversion of a number or list makes a new array, which need not be copied.
  if (mode != CopyMode::always || is_number_or_list(x)) {
    if (mode == CopyMode::always) options.copy = CopyMode::if_needed;
    const auto created = py::reinterpret_steal<py::object>(as_array(x, options, target_order));
    if (!created || !given(ndmin)) return Py_XNewRef(created.ptr());
    return wrap_view(created.ptr(), with_rank(array_in(created.ptr()), integer_from(ndmin)));
  }
  return wrap(with_rank(copy_of(x, options, target_order), integer_or(ndmin, 0)));
}

// As NumPy's, the result has at least rank 1.
PyObject* ascontiguousarray(PyObject* a, PyObject* dtype, PyObject* device) {
  PyObject* created =
      as_array(a, import_options(dtype, device, CopyMode::if_needed), ArrayOrder::c);
  if (created == nullptr || array_in(created).rank() > 0) return created;
  const auto rank_0 = py::reinterpret_steal<py::object>(created);
  return wrap_view(created, array_in(created).expand(0));
}

PyObject* output_array(PyObject* x, PyObject* caller) {
  const OutputArray array(x, text_in(caller));
  return is_array(x) ? Py_NewRef(x) : wrap(array);
}

PyObject* copyto(PyObject* dst, PyObject* src, PyObject* casting, PyObject* where) {
  if (where != nullptr && where != Py_True)
    return py::module_::import("spanwise._numpy.elementwise")
        .attr("copyto_where")(py::handle(dst), py::handle(src),
                              given(casting) ? py::handle(casting) : py::str("same_kind"),
                              py::handle(where))
        .release()
        .ptr();
  if (is_array(dst) && is_array(src) && array_in(src).dtype() == array_in(dst).dtype() &&
      !given(casting)) {
    assign(array_in(dst), array_in(src));  // no import and no cast
    Py_RETURN_NONE;
  }
  const OutputArray output(dst, "copyto");
  const Array& target = output;
  const std::string rule = given(casting) ? value_of<std::string>(casting, "casting") : "same_kind";
  if (is_python_scalar(src)) {
    Promotion promotion;  // NEP 50: a number of the target's kind takes its dtype
    promotion.add(target.dtype());
    if (promotion.try_add_number(src))
      check_casting(promotion.result(), target.dtype(), rule, "copyto");
    assign(target, src);
  } else {
    const Array source = assignable(src, target.dtype());
    check_casting(source.dtype(), target.dtype(), rule, "copyto");
    assign(target, source);
  }
  Py_RETURN_NONE;
}

PyObject* share_memory(PyObject* a, PyObject* b) {
  return PyBool_FromLong(may_share_memory(import_array(a), import_array(b)));
}

PyMethodDef import_functions[] = {
    declared<
        "asarray(x, dtype=None, *, device=None, copy=None, order=None)",
        "`x` (a number, nested lists, or any library's array) as an Array. It shares the memory of "
        "`x`\nif it can, else copies; copy=False raises CopyNeededError instead, copy=True always "
        "copies.\nThe default device is that of `x`; for numbers and lists the default device.",
        &asarray<true>, &asarray_without_options>(),
    declared<"_asarray(x, dtype=None, *, device=None, copy=None, order=None)",
             "asarray() for operands: raises BridgeError (a TypeError) for a lazy array.",
             &asarray<false>, &asarray_without_options>(),
    declared<
        "array(x, dtype=None, *, device=None, copy=True, order='K', ndmin=0)",
        "A new array with a copy of `x`: a number, nested lists, or any library's array. "
        "copy=False\nraises CopyNeededError where a copy is needed, copy=None copies only then.",
        &array, &array_without_options>(),
    declared<"ascontiguousarray(a, dtype=None, *, device=None)",
             "`a` itself if it is C-contiguous, else a C-contiguous copy; at least of rank 1.",
             &ascontiguousarray>(),
    declared<"_output_array(x, caller, /)",
             "An array of any library, to which the function `caller` writes, as an Array over the "
             "same\nmemory.",
             &output_array>(),
    declared<"copyto(dst, src, casting='same_kind', where=True)",
             "dst[...] = src, broadcast, cast by the rule `casting` and copied between devices; "
             "the two may\noverlap. `dst` is a writeable array of any library. Only elements where "
             "the mask `where` is\ntrue are written.",
             &copyto>(),
    declared<"may_share_memory(a, b)",
             "Whether the two may have a byte in common: False is certain, True may be a false "
             "positive.",
             &share_memory>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_create) { add_functions(module, create_functions); }

SW_BIND(array_import) { add_functions(module, import_functions); }

}  // namespace spanwise::python
