// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "arguments_py.hpp"
#include "indexing.hpp"
#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"
#include "python/support/dtype.hpp"
#include "search.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

/// NumPy's functions over indices and masks, and the array methods of the same names.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The result, or `out` if given, to which the result is copied.
PyObject* stored_in_out(Array result, PyObject* out, const char* caller) {
  if (!given(out)) return wrap(std::move(result));
  const Array target = writable_array(out);
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

// ---- take, compress, repeat ----

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

// ---- Writing ----

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
  const Array target = writable_array(a), index_array = index_array_in(ind);
  const ValueArray value(v, target);
  const ops::Bounds bounds = bounds_of(mode);
  if (target.readonly())
    fail<ReadOnlyError>("put: assignment destination is read-only: ", target,
                        "; put into a copy: a.copy()");
  write_flat(target,
             [&](const Array& line) { ops::put(line, index_array, value.array(), bounds); });
  Py_RETURN_NONE;
}
PyObject* put_along_axis(PyObject* arr, PyObject* indices, PyObject* values, PyObject* axis) {
  const Array target = writable_array(arr), index_array = index_array_in(indices);
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

// ---- Searching

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
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef methods[] = {
    declared<"take($self, indices, axis=None, out=None, mode='raise')", "As spanwise.take.",
             &take>(),
    declared<"compress($self, condition, axis=None, out=None)", "As spanwise.compress.",
             &compress_method>(),
    declared<"repeat($self, repeats, axis=None)", "As spanwise.repeat.", &repeat>(),
    declared<"put($self, indices, values, mode='raise')", "As spanwise.put.", &put>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(indexing_functions, array_type) {
  add_array_methods(methods);
  add_functions(module, functions);
}

}  // namespace spanwise::python
