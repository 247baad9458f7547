// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <span>
#include <string_view>

#include "spanwise/array.hpp"
#include "spanwise/copy.hpp"

/// NumPy's `order` argument.
namespace spanwise::python {

enum class Order { c, f, a, k };

/// "C", "F", "A" or "K", either case. Throws ArgumentError.
Order order_from(std::string_view word);

/// An `order` argument, read; `otherwise` where it is absent or None.
Order order_in(PyObject* argument, Order otherwise);

/// What "A" means for a new result of these operands: f where all of them are column-major, else c,
/// as in numpy.ufunc; other orders are themselves. A null operand is a number.
Order settled(Order order, std::span<const Array* const> operands) noexcept;

/// A compact layout of `shape`: row-major (c), column-major (f), column-major only if `like` is and
/// is not row-major (a), or with the axes in the order of `like`'s strides (k; where the ranks
/// differ: c).
Layout layout_in(Order order, const Shape& shape, const Layout& like = {});

/// A new array with the elements of `source`, cast and moved. Waits without the GIL.
Array copied(const Array& source, DType dtype, Device device, Order order);

/// numpy.reshape: the elements read and placed in `order`, which is not k; a view where the strides
/// allow, else by `mode` as spanwise::reshape. Waits without the GIL.
Array reshaped(const Array& source, const Shape& shape, Order order, CopyMode mode);

/// numpy.ravel: one-dimensional, in any order (k: as the elements lie in memory). As reshaped().
Array flattened(const Array& source, Order order, CopyMode mode);

}  // namespace spanwise::python
