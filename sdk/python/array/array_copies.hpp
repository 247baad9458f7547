// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <span>
#include <string_view>

#include "spanwise/core/array.hpp"
#include "spanwise/runtime/copy.hpp"

/// NumPy's `order` argument, and copies and assignments of elements.
namespace spanwise::python {

enum class ArrayOrder { c, f, a, k };

/// "C", "F", "A" or "K", either case. Throws ArgumentError.
ArrayOrder order_from(std::string_view name);

/// order_from() of a str; `default_value` where the argument is absent or None.
ArrayOrder order_or(PyObject* argument, ArrayOrder default_value);

/// Resolves "A" for a new result of these operands, as numpy.ufunc: f if all of them are
/// column-major, else c. Returns other orders unchanged. A null operand is a number.
ArrayOrder resolved_order(ArrayOrder order, std::span<const Array* const> operands) noexcept;

/// A packed layout of `shape`: row-major (c), column-major (f), column-major only if `like` is
/// column-major and not row-major (a), or with the axes in the order of the strides of `like` (k; c
/// if the ranks differ).
Layout packed_layout(ArrayOrder order, const Shape& shape, const Layout& like = {});

/// A new array with the elements of `source`, cast to `dtype` and copied to `device`. Waits without
/// the GIL.
Array copied(const Array& source, DType dtype, Device device, ArrayOrder order);

/// numpy.reshape: elements are read and placed in `order`, which must not be k. A view if the
/// strides allow it, else according to `mode` as spanwise::reshape. Waits without the GIL.
Array reshaped(const Array& source, const Shape& shape, ArrayOrder order, CopyMode mode);

/// numpy.ravel: as reshaped(), to one dimension, in any order (k: in memory order).
Array flattened(const Array& source, ArrayOrder order, CopyMode mode);

/// target[...] = value: a Python number, an array of any library on any device, or nested lists. It
/// is broadcast and cast to the target; the two may overlap. Throws ReadOnlyError, LayoutError and
/// the errors of scalar_from() and the bridges. Waits without the GIL.
void assign(const Array& target, PyObject* value);

/// target[...] = source. Throws and waits as above.
void assign(const Array& target, const Array& source);

/// `value` as an array, to be assigned to one of `dtype`. Lists are converted to `dtype`, so that
/// numbers outside its range raise; arrays are not cast.
Array assignable(PyObject* value, DType dtype);

}  // namespace spanwise::python
