// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "python/array/array_copies.hpp"
#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"

/// The methods that make views, and reshape and ravel, which copy only where a view is impossible.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using Axes = std::array<int, max_rank>;

// The shape of a call f(2, 3) or f((2, 3)).
Shape shape_from_arguments(PyObject* const* values, Py_ssize_t count) {
  if (count == 1) return shape_from(values[0]);
  Shape shape(static_cast<int>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyBool_Check(values[i]))
      fail<DTypeError>("reshape: expected ints, got a bool; convert it with int(x)");
    shape[static_cast<int>(i)] = integer_from(values[i]);
  }
  return shape;
}

// Sets the base of the result if it is a view of `self`.
PyObject* view_or_copy(PyObject* self, Array result) {
  if (result.storage() == array_in(self).storage()) return wrap_view(self, std::move(result));
  return wrap(std::move(result));
}

PyObject* reshape_to(PyObject* self, const Shape& shape, PyObject* order, PyObject* copy) {
  const ArrayOrder target_order = order_or(order, ArrayOrder::c);
  if (target_order == ArrayOrder::k)
    fail<ArgumentError>("reshape: expected order \"C\", \"F\" or \"A\", got ",
                        "\"K\", which defines no order of the elements in a new shape");
  const CopyMode mode = copy_mode_from(copy);
  if (target_order == ArrayOrder::c && mode != CopyMode::always)
    if (std::optional<Layout> layout = array_in(self).layout().reshape(shape))
      return wrap_view(self, *std::move(layout));
  return view_or_copy(self, reshaped(array_in(self), shape, target_order, mode));
}

PyObject* reshape(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<3> signature{"reshape", {"shape", "order", "copy"}, 0, 0};
  const auto [shape, order, copy] = signature.read(values + count, 0, kwnames);
  const bool is_named = shape != nullptr;
  if (is_named ? count != 0 : count == 0) {
    throw py::type_error("reshape() needs one shape: a.reshape(2, 3) or a.reshape((2, 3))");
  }
  return reshape_to(self, is_named ? shape_from(shape) : shape_from_arguments(values, count), order,
                    copy);
}

Layout permuted(const Array& array, const Axes& axes) {
  return array.layout().permute({axes.data(), static_cast<std::size_t>(array.rank())});
}

PyObject* transpose(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<0> signature{"transpose", {}, 0, 0};
  signature.read(values + count, 0, kwnames);
  const Array& array = array_in(self);
  if (count == 0 || (count == 1 && values[0] == Py_None)) {
    return wrap_view(self, array.layout().transpose());
  }
  const Shape permutation = shape_from_arguments(values, count);
  if (permutation.size() != array.rank())
    fail<LayoutError>("transpose: expected ", array.rank(), " axes for shape ", array.shape(),
                      ", got ", permutation);
  Axes axes;
  for (int i = 0; i < array.rank(); ++i) {
    axes[static_cast<std::size_t>(i)] = array.layout().normalise_axis(permutation[i]);
  }
  return wrap_view(self, permuted(array, axes));
}

PyObject* swapaxes(PyObject* self, PyObject* axis1, PyObject* axis2) {
  const Array& array = array_in(self);
  Axes axes{};
  std::iota(axes.begin(), axes.end(), 0);
  const auto position = [&array](PyObject* axis) {
    return static_cast<std::size_t>(array.layout().normalise_axis(integer_from(axis)));
  };
  std::swap(axes[position(axis1)], axes[position(axis2)]);
  return wrap_view(self, permuted(array, axes));
}

PyObject* squeeze(PyObject* self, PyObject* axis) {
  const Layout& layout = array_in(self).layout();
  std::array<bool, max_rank> drop{};
  for (int i = 0; i < layout.rank(); ++i) {
    drop[static_cast<std::size_t>(i)] = !given(axis) && layout.shape[i] == 1;
  }
  // As NumPy: for rank 0 the axes 0 and -1 are accepted and ignored.
  const bool is_ignored = given(axis) && layout.rank() == 0 && PyLong_Check(axis) &&
                          (integer_from(axis) == 0 || integer_from(axis) == -1);
  if (given(axis) && !is_ignored) {
    for (const std::int64_t a : shape_from(axis)) {
      bool& is_dropped = drop[static_cast<std::size_t>(layout.normalise_axis(a))];
      if (is_dropped)
        fail<LayoutError>("squeeze: axis ", a, " is named twice for shape ", layout.shape);
      is_dropped = true;
    }
  }
  Layout squeezed = layout;
  // From the last axis, so that removing one does not renumber the others.
  for (int i = layout.rank() - 1; i >= 0; --i) {
    if (drop[static_cast<std::size_t>(i)]) squeezed = squeezed.squeeze(i);
  }
  return wrap_view(self, std::move(squeezed));
}

PyObject* ravel(PyObject* self, PyObject* order) {
  const Array& array = array_in(self);
  const ArrayOrder target_order = order_or(order, ArrayOrder::c);
  // Fast path for C-contiguous arrays.
  if (target_order != ArrayOrder::f && array.layout().is_row_major())
    return wrap_view(self, Layout{Shape{array.size()}, Strides{1}, array.layout().offset});
  return view_or_copy(self, flattened(array, target_order, CopyMode::if_needed));
}

PyObject* flatten(PyObject* self, PyObject* order) {
  return wrap(flattened(array_in(self), order_or(order, ArrayOrder::c), CopyMode::always));
}

PyObject* view(PyObject* self, PyObject* dtype) {
  const Array& array = array_in(self);
  if (!given(dtype)) return wrap_view(self, Layout(array.layout()));
  return wrap_view(self, array.reinterpret(dtype_from(dtype)));
}

PyObject* diagonal(PyObject* self, PyObject* offset, PyObject* axis1, PyObject* axis2) {
  const Layout& layout = array_in(self).layout();
  const int first = layout.normalise_axis(integer_or(axis1, 0));
  const int second = layout.normalise_axis(integer_or(axis2, 1));
  return wrap_view(self, layout.diagonal(integer_or(offset, 0), first, second));
}

// Read-only as in NumPy: several elements may have the same address.
PyObject* broadcast_to(PyObject* self, PyObject* shape) {
  return wrap_view(self, array_in(self).broadcast_to(shape_from(shape)).as_readonly());
}

PyMethodDef view_methods[] = {
    method<&reshape>(
        "reshape",
        "reshape($self, /, *shape, order='C', copy=None)\n--\n\n"
        "The elements in another shape, given as (2, 3) or as 2, 3; one extent may be -1.\n"
        "A view if the strides allow it (then .base is not None), else a "
        "copy;\n"
        "copy=False raises CopyNeededError instead of copying, copy=True always copies."),
    method<&transpose>("transpose",
                       "transpose($self, /, *axes)\n--\n\n"
                       "View with the axes reversed, or in the given order: (1, 0) or 1, 0."),
    declared<"swapaxes($self, axis1, axis2)", "View with two axes exchanged.", &swapaxes>(),
    declared<
        "squeeze($self, axis=None)",
        "View without the axes of extent 1, or without those in `axis`, which must have extent 1.",
        &squeeze>(),
    declared<"ravel($self, order='C')",
             "A vector of the elements; a view if the strides allow it, else a copy.", &ravel>(),
    declared<"flatten($self, order='C')", "A new vector with a copy of the elements.", &flatten>(),
    declared<"view($self, dtype=None)", "View of the same bytes as another dtype.", &view>(),
    declared<"diagonal($self, offset=0, axis1=0, axis2=1)",
             "View of the diagonals of two axes, along the last axis of the result; writeable if "
             "the array\nis.",
             &diagonal>(),
    declared<"broadcast_to($self, shape)",
             "Read-only view broadcast to `shape`, with strides of 0.", &broadcast_to>(),
    {nullptr, nullptr, 0, nullptr}};

// The array argument of a module function as an object, which becomes the base of its views.
py::object as_object(PyObject* x) {
  if (is_array(x)) return py::reinterpret_borrow<py::object>(x);
  return py::cast(import_array(x));
}

PyObject* reshape_function(PyObject* a, PyObject* shape, PyObject* order, PyObject* copy) {
  if (is_variable(a)) {
    if (given(order) || given(copy))
      fail<GraphError>("reshape: order= and copy= are for arrays; of a variable the order is C");
    return py::handle(a).attr("reshape")(py::handle(shape)).release().ptr();
  }
  return reshape_to(as_object(a).ptr(), shape_from(shape), order, copy);
}

PyObject* broadcast_to_function(PyObject* array, PyObject* shape) {
  if (is_variable(array))
    return py::handle(array).attr("broadcast_to")(py::handle(shape)).release().ptr();
  return broadcast_to(as_object(array).ptr(), shape);
}

// Read-only where elements share addresses. Throws for addresses outside of the array's storage.
PyObject* as_strided(PyObject* x, PyObject* shape, PyObject* strides) {
  const py::object object = as_object(x);
  const Array& array = array_in(object.ptr());
  const std::int64_t item = array.dtype().itemsize();
  const auto steps = py::reinterpret_steal<py::object>(PySequence_Tuple(strides));
  if (!steps) throw py::error_already_set();
  Layout layout = Layout::row_major(shape_from(shape));
  layout.offset = array.layout().offset;
  const Py_ssize_t count = PyTuple_GET_SIZE(steps.ptr());
  if (count != layout.rank())
    fail<ArgumentError>("as_strided: expected a stride for each axis of the shape ", layout.shape,
                        ", got ", count);
  for (int axis = 0; axis < layout.rank(); ++axis) {
    const std::int64_t bytes = integer_from(PyTuple_GET_ITEM(steps.ptr(), axis));
    if (bytes % item != 0)
      fail<LayoutError>("as_strided: expected strides that are multiples of the itemsize ", item,
                        ", got ", bytes);
    layout.strides[axis] = bytes / item;
  }
  const auto elements = static_cast<std::int64_t>(array.storage().bytes()) / item;
  const auto [first, last] = layout.offset_range();
  if (first < 0 || last >= elements)
    fail<LayoutError>("as_strided: shape ", layout.shape, " with strides of ", layout.strides,
                      " elements reaches outside of the ", elements,
                      " elements of the array's memory, of which the first is at ", layout.offset);
  Array view(array.storage(), layout, array.dtype());
  if (layout.may_overlap_itself()) view = view.as_readonly();
  return wrap_view(object.ptr(), array.readonly() ? view.as_readonly() : std::move(view));
}

PyMethodDef view_functions[] = {
    declared<"_as_strided(x, shape, strides)", "A view with any shape and strides in bytes.",
             &as_strided>(),
    declared<"reshape(a, shape, order='C', *, copy=None)",
             "As Array.reshape, for any library's array.", &reshape_function>(),
    declared<"broadcast_to(array, shape)", "As Array.broadcast_to, for any library's array.",
             &broadcast_to_function>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_views, array_type) {
  add_array_methods(view_methods);
  add_functions(module, view_functions);
}

}  // namespace spanwise::python
