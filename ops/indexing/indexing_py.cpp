// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "indexing.hpp"
#include "python/array/array_copies.hpp"
#include "python/array/array_hooks.hpp"
#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

/// array[key] for keys that hold index arrays, lists or masks, and NumPy's functions over indices
/// and masks, which are also methods of arrays.
namespace spanwise::python {

namespace py = pybind11;

namespace {

/// Indices or a mask: any library's array, nested lists, or a number. An empty list has an integer
/// dtype, as in NumPy.
Array index_array_in(PyObject* object) {
  if (is_array(object)) return array_in(object);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    const Array listed = import_array(object, {.device = cpu});  // checked on the host
    return listed.size() == 0 && listed.dtype() == float64 ? astype(listed, int64) : listed;
  }
  return import_array(object);
}

/// The value of a[k] = v for a `target` array. A number on the host is not copied: the array refers
/// to this object and must not outlive it.
class ValueArray {
 public:
  ValueArray(PyObject* object, const Array& target) {
    if (!is_python_scalar(object)) {
      array_ = assignable(object, target.dtype());
      return;
    }
    number_ = scalar_from(object, target.dtype());
    const auto bytes = static_cast<std::size_t>(target.dtype().itemsize());
    array_ = !runs_on_host(target.device())
                 ? full(Shape{}, number_, target.dtype(), target.device())
                 : Array(Storage::adopt(const_cast<void*>(number_.data()), bytes, cpu, nullptr,
                                        nullptr, /*readonly=*/true),
                         Layout{}, target.dtype());
  }
  ValueArray(const ValueArray&) = delete;
  ValueArray& operator=(const ValueArray&) = delete;
  const Array& array() const noexcept { return array_; }

 private:
  Scalar number_{false};
  Array array_;
};

// is_long() of the array or of an index array of `key`.
bool is_long_by_key(const Array& array, std::span<const ops::IndexPart> key) noexcept {
  return is_long(array) || std::ranges::any_of(key, [](const ops::IndexPart& part) {
           const auto* indices = std::get_if<Array>(&part);
           return indices != nullptr && is_long(*indices);
         });
}

// ---- Keys

Slice slice_from(PyObject* part) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  unpack_slice(part, start, stop, step);
  return {start, stop, step};
}

// Python objects that importers might convert to an array, but that NumPy never takes as an index.
bool is_never_index(PyObject* part) {
  return PyFloat_Check(part) || PyComplex_Check(part) || PyUnicode_Check(part) ||
         PyBytes_Check(part) || PyDict_Check(part);
}

ops::IndexPart part_from(PyObject* part) {
  if (is_array(part)) {
    const Array& array = array_in(part);
    if (array.rank() == 0 && array.dtype().is_integer()) return item(array).as_int64();
    return array;
  }
  if (part == Py_Ellipsis) return ops::Ellipsis{};
  if (part == Py_None) return ops::NewAxis{};
  if (PySlice_Check(part)) return slice_from(part);
  if (PyBool_Check(part)) return index_array_in(part);
  if (is_integer_index(part)) {
    const Py_ssize_t value = PyNumber_AsSsize_t(part, nullptr);  // clips
    if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
    return std::int64_t{value};
  }
  if (is_never_index(part)) refuse_index(part);
  try {
    return index_array_in(part);
  } catch (const BridgeError&) {
    refuse_index(part);
  }
}

// The parts of a key; most keys have one part, which needs no allocation.
class Key {
 public:
  explicit Key(PyObject* key) {
    if (!PyTuple_Check(key)) {
      single_[0] = part_from(key);
      is_single_ = true;
      return;
    }
    const Py_ssize_t size = PyTuple_GET_SIZE(key);
    several_.reserve(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) several_.push_back(part_from(PyTuple_GET_ITEM(key, i)));
  }
  std::span<const ops::IndexPart> parts() const noexcept {
    return is_single_ ? std::span<const ops::IndexPart>(single_) : several_;
  }

 private:
  std::array<ops::IndexPart, 1> single_{};
  std::vector<ops::IndexPart> several_;
  bool is_single_ = false;
};

PyObject* try_take_small(PyObject* self, PyObject* key) {
  const Array& vector = array_in(self);
  if (vector.rank() != 1 || !no_pending_work(vector)) return nullptr;
  if (is_array(key)) {
    const Array& indices = array_in(key);
    const bool fits = indices.dtype() == int64 && indices.rank() > 0 && !is_long(indices) &&
                      no_pending_work(indices) && indices.layout().is_row_major();
    return fits ? wrap(ops::take_small(vector, indices.data(), indices.shape())) : nullptr;
  }
  const auto indices = small_memory(key);
  if (!indices || indices->dtype != int64 || indices->shape.empty()) return nullptr;
  return wrap(ops::take_small(vector, indices->data, indices->shape));
}

PyObject* read_by_key(PyObject* self, PyObject* key) {
  const Array& array = array_in(self);
  // Fast path for one int64 index array.
  if (array.rank() > 0 && !is_long(array)) {
    const auto is_simple = [](const Array& indices) {
      return indices.dtype() == int64 && indices.rank() > 0 && !is_long(indices);
    };
    if (is_array(key)) {
      if (is_simple(array_in(key)))
        return wrap(ops::take(array, array_in(key), 0, ops::Bounds::raise));
    } else if (!PyTuple_Check(key) && !PyList_Check(key)) {
      if (const auto borrowed = borrowed_array(key); borrowed && is_simple(*borrowed))
        return wrap(ops::take(array, *borrowed, 0, ops::Bounds::raise));
    }
  }
  const Key parsed(key);
  if (!is_long_by_key(array, parsed.parts())) return wrap(ops::index_by(array, parsed.parts()));
  const Array source = array;  // another thread may release the Python object
  return wrap(without_gil([&] { return ops::index_by(source, parsed.parts()); }));
}

void assign_by_key(PyObject* self, PyObject* key, PyObject* value_object) {
  const Key parsed(key);
  const Array target = array_in(self);
  const ValueArray owner(value_object, target);
  const Array& value = owner.array();
  without_gil(is_long_by_key(target, parsed.parts()),
              [&] { ops::assign_by(target, parsed.parts(), value); });
}

void accumulate_by_key(const char* name, PyObject* self, PyObject* key, PyObject* value_object) {
  const Key parsed(key);
  const Array target = array_in(self);
  const ValueArray owner(value_object, target);
  const Array& value = owner.array();
  const ops::Accumulation how = ops::accumulation_from(name);
  without_gil(is_long_by_key(target, parsed.parts()) || is_long(value),
              [&] { ops::accumulate_by(target, parsed.parts(), value, how); });
}

// ---- Functions

// The result, or `out` if given, to which the result is copied.
PyObject* stored_in_out(Array result, PyObject* out, const char* caller) {
  if (!given(out)) return wrap(std::move(result));
  const OutputArray output(out, caller);
  const Array& target = output;
  if (target.shape() != result.shape())
    fail<LayoutError>(caller, ": output array does not match the result: expected shape ",
                      result.shape(), ", got ", target.shape());
  check_casting(result.dtype(), target.dtype(), "same_kind", caller);
  assign(target, result);
  return Py_NewRef(out);
}

ops::Bounds bounds_of(PyObject* mode) {
  return given(mode) ? ops::bounds_from(text_in(mode)) : ops::Bounds::raise;
}

// The array and the axis for an `axis` argument: the flattened array for None, and for 0 or -1 of
// an array of rank 0, which NumPy accepts.
std::pair<Array, int> resolve_axis(const Array& array, PyObject* axis) {
  if (!given(axis)) return {reshape(array, {-1}), 0};
  const std::int64_t dim = integer_from(axis);
  if (array.rank() == 0 && (dim == 0 || dim == -1)) return {reshape(array, {1}), 0};
  return {array, array.layout().normalise_axis(dim)};
}

PyObject* take(PyObject* a, PyObject* indices, PyObject* axis, PyObject* out, PyObject* mode) {
  if (is_variable(a)) {
    if (given(out) || bounds_of(mode) != ops::Bounds::raise)
      fail<GraphError>("take: out= and mode= are for arrays; a variable has no memory yet");
    return py::handle(a)
        .attr("take")(py::handle(indices), py::handle(given(axis) ? axis : Py_None))
        .release()
        .ptr();
  }
  const auto [source, dim] = resolve_axis(import_array(a), axis);
  const Array index_array = index_array_in(indices);
  const ops::Bounds bounds = bounds_of(mode);
  const auto work = [&, &from = source, &at = dim] {
    return ops::take(from, index_array, at, bounds);
  };
  return stored_in_out(without_gil(is_long(source) || is_long(index_array), work), out, "take");
}

PyObject* compress(PyObject* condition, PyObject* a, PyObject* axis, PyObject* out) {
  const Array array = import_array(a), mask = index_array_in(condition);
  if (mask.rank() != 1)
    fail<LayoutError>("compress: condition must be a 1-d array, got shape ", mask.shape());
  const auto [source, dim] = resolve_axis(array, axis);
  const auto work = [&, &from = source, &at = dim] {
    return ops::take(from, ops::positions_of_true(mask).index(0, 0), at, ops::Bounds::raise);
  };
  return stored_in_out(without_gil(is_long(source) || is_long(mask), work), out, "compress");
}

PyObject* compress_method(PyObject* self, PyObject* condition, PyObject* axis, PyObject* out) {
  return compress(condition, self, axis, out);
}

PyObject* repeat(PyObject* a, PyObject* repeats, PyObject* axis) {
  const auto [source, dim] = resolve_axis(import_array(a), axis);
  const auto work_with = [&, &from = source, &at = dim](const auto& times) {
    return wrap(without_gil(is_long(from), [&] { return ops::repeat(from, times, at); }));
  };
  if (PyLong_CheckExact(repeats)) return work_with(integer_from(repeats));
  return work_with(index_array_in(repeats));
}

// Without an axis, the elements of a flat array are selected by a vector.
void check_flat_indices(const char* caller, const Array& indices) {
  if (indices.rank() != 1)
    fail<ArgumentError>(caller,
                        ": when axis=None, `indices` must have a single dimension, got shape ",
                        indices.shape());
}

PyObject* take_along_axis(PyObject* arr, PyObject* indices, PyObject* axis) {
  // NumPy's default is the last axis; None flattens the array.
  const Array array = import_array(arr), index_array = index_array_in(indices);
  const bool is_flat = axis == Py_None;
  if (is_flat) check_flat_indices("take_along_axis", index_array);
  const Array source = is_flat && array.rank() != 1 ? reshape(array, {-1}) : array;
  const int dim =
      is_flat ? 0 : source.layout().normalise_axis(axis == nullptr ? -1 : integer_from(axis));
  return wrap(without_gil(is_long(source) || is_long(index_array),
                          [&] { return ops::take_along(source, index_array, dim); }));
}

// Writes to a flat view of the array, or to a flat copy that is copied back.
template <class Write>
void write_flat(const Array& target, Write&& write) {
  without_gil([&] {
    if (const auto view = target.try_reshape({target.size()})) return write(*view);
    const Array line = reshape(target, {-1}, CopyMode::always);
    write(line);
    copy(reshape(line, target.shape()), target);
  });
}

PyObject* put(PyObject* a, PyObject* ind, PyObject* v, PyObject* mode) {
  const OutputArray output(a, "put");
  const Array &target = output, index_array = index_array_in(ind);
  const ValueArray value(v, target);
  const ops::Bounds bounds = bounds_of(mode);
  write_flat(target,
             [&](const Array& line) { ops::put(line, index_array, value.array(), bounds); });
  Py_RETURN_NONE;
}
PyObject* put_along_axis(PyObject* arr, PyObject* indices, PyObject* values, PyObject* axis) {
  const OutputArray output(arr, "put_along_axis");
  const Array &target = output, index_array = index_array_in(indices);
  const ValueArray owner(values, target);
  const Array& value = owner.array();
  if (axis == Py_None) {
    check_flat_indices("put_along_axis", index_array);
    write_flat(target, [&](const Array& line) { ops::put_along(line, index_array, 0, value); });
  } else {
    const int dim = target.layout().normalise_axis(integer_from(axis));
    without_gil([&] { ops::put_along(target, index_array, dim, value); });
  }
  Py_RETURN_NONE;
}

Array positions_in(const Array& array) {
  return without_gil(is_long(array), [&] { return ops::positions_of_true(array); });
}

py::tuple nonzero(PyObject* a) {
  const Array array = import_array(a);
  if (array.rank() <= 0)
    fail<ArgumentError>(
        "nonzero: calling nonzero on 0d arrays is not allowed; use "
        "a.reshape(1).nonzero()");
  const Array positions = positions_in(array);
  py::tuple rows(positions.shape()[0]);
  for (Py_ssize_t i = 0; i < positions.shape()[0]; ++i)
    PyTuple_SET_ITEM(rows.ptr(), i, owned(wrap(positions.index(0, i))).release().ptr());
  return rows;
}

PyObject* argwhere(PyObject* a) { return wrap(positions_in(import_array(a)).transpose()); }

PyObject* flatnonzero(PyObject* a) {
  const Array array = import_array(a);
  return wrap(without_gil(is_long(array), [&] {
    return ops::positions_of_true(array.rank() == 1 ? array : reshape(array, {-1})).index(0, 0);
  }));
}

PyObject* search_sorted(PyObject* a, PyObject* v, PyObject* right) {
  const Array sorted = import_array(a), values = import_array(v);
  const auto side = truth_or(right, false) ? ops::Side::right : ops::Side::left;
  return wrap(without_gil(is_long(sorted) || is_long(values),
                          [&] { return ops::search_sorted(sorted, values, side); }));
}

PyMethodDef functions[] = {
    declared<
        "take(a, indices, axis=None, out=None, mode='raise')",
        "The elements (of the flattened `a`) or slices along `axis` at `indices`.\nmode='wrap' "
        "takes indices modulo the extent, 'clip' clips them to the range.",
        &take>(),
    declared<"compress(condition, a, axis=None, out=None)",
             "The slices along `axis` where `condition` is true.", &compress>(),
    declared<"repeat(a, repeats, axis=None)",
             "Repeats each element, or slice along `axis`, `repeats` times.", &repeat>(),
    declared<"take_along_axis(arr, indices, axis=-1)",
             "The elements at `indices` along `axis`, such as those that argsort returns.",
             &take_along_axis>(),
    declared<"put(a, ind, v, mode='raise')", "a.flat[ind] = v, with `v` repeated as needed.",
             &put>(),
    declared<"put_along_axis(arr, indices, values, axis)",
             "Assigns to the elements that take_along_axis reads.", &put_along_axis>(),
    declared<"_searchsorted(a, v, right)",
             "The insertion points of `v` in the sorted vector `a`; both on one device.",
             &search_sorted>(),
    declared<"nonzero(a)", "The indices of nonzero elements: one int64 array per axis, in C order.",
             &nonzero>(),
    declared<"argwhere(a)", "The indices of nonzero elements, one row per element.", &argwhere>(),
    declared<"flatnonzero(a)", "The indices of nonzero elements of the flattened `a`.",
             &flatnonzero>(),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef methods[] = {
    declared<"take($self, indices, axis=None, out=None, mode='raise')", "As spanwise.take.",
             &take>(),
    declared<"compress($self, condition, axis=None, out=None)", "As spanwise.compress.",
             &compress_method>(),
    declared<"repeat($self, repeats, axis=None)", "As spanwise.repeat.", &repeat>(),
    declared<"put($self, indices, values, mode='raise')", "As spanwise.put.", &put>(),
    declared<"nonzero($self)", "As spanwise.nonzero.", &nonzero>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(indexing, array_type) {
  array_indexing = {&try_take_small, &read_by_key, &assign_by_key, &accumulate_by_key};
  add_array_methods(methods);
  add_functions(module, functions);
}

}  // namespace spanwise::python
