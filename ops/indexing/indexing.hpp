// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/runtime/copy.hpp"

/// Advanced indexing with NumPy's semantics (numpy.org/doc/stable/user/basics.indexing.html).
/// Reading returns a new C-contiguous array on the indexed array's device. Writing casts and
/// broadcasts the value, which may overlap the target, as may an index.
///
/// Index arrays are of any integer dtype, on any device. They are checked before any element is
/// read or written: on the host, or by a kernel on a GPU, whose result (16 bytes) is downloaded, so
/// the call waits for the current stream. It also waits for the number of true elements (8 bytes)
/// of a mask on a GPU, which determines the result's shape, except to assign one value to all of
/// them.
namespace spanwise::ops {

/// numpy.newaxis and the Ellipsis of an index.
struct NewAxis {};
struct Ellipsis {};
/// One part of an index. A bool array is a mask over as many axes as its rank.
using IndexPart = std::variant<std::int64_t, Slice, NewAxis, Ellipsis, Array>;

/// What happens to an out-of-range index: an error, modulo the extent, or clipped to the range. For
/// indices on a GPU, `raise` waits for the check; with `raise_later` the next wait of the host for
/// the device throws the error, and the results until then are of other elements.
enum class Bounds { raise, wrap, clip, raise_later };
/// "raise", "wrap" or "clip". Throws ArgumentError.
SW_API Bounds bounds_from(std::string_view mode);

/// array[key]. Throws BoundsError for indices that are not integers or bools, out of range, or do
/// not broadcast; LayoutError if the result would have too many dimensions.
SW_API Array index_by(const Array& array, std::span<const IndexPart> key,
                      Bounds bounds = Bounds::raise);
/// array[key] = value. An element that is indexed repeatedly gets the last value in C order. Throws
/// what index_by() and copy() throw, before anything is written.
SW_API void assign_by(const Array& array, std::span<const IndexPart> key, const Array& value,
                      Bounds bounds = Bounds::raise);

/// How accumulate_by() combines an element and a value.
enum class Accumulation : std::uint8_t { add, subtract, multiply, maximum, minimum };
/// From NumPy's name of the operation. Throws ArgumentError.
SW_API Accumulation accumulation_from(std::string_view name);

/// array[key] = array[key] + value (or the operation `how`), once per occurrence of an index
/// (numpy.ufunc.at). `value` is cast to the array's dtype; bool has no subtract. On the CPU in C
/// order. On a GPU in no particular order, with atomic functions: results of integers, maxima and
/// minima are reproducible, while sums and products of floats may differ in their last bits where
/// an index is repeated. Throws what assign_by() throws, and DTypeError for products, maxima and
/// minima of complex128 on a GPU.
SW_API void accumulate_by(const Array& array, std::span<const IndexPart> key, const Array& value,
                          Accumulation how, Bounds bounds = Bounds::raise);

/// numpy.take: array[:, ..., indices, ...] along `axis`, which is not negative, here and below.
SW_API Array take(const Array& array, const Array& indices, int axis, Bounds bounds);
/// array[indices] = values for an array of rank 1; values are repeated as needed (numpy.put).
SW_API void put(const Array& array, const Array& indices, const Array& values, Bounds bounds);
/// numpy.take_along_axis: both have the same rank and broadcast along all axes but `axis`.
SW_API Array take_along(const Array& array, const Array& indices, int axis);
SW_API void put_along(const Array& array, const Array& indices, int axis, const Array& values);

/// take() of a vector on the host without pending work, for int64 `indices` in C order of `shape`,
/// aligned or not. Throws BoundsError.
SW_API Array take_small(const Array& vector, const void* indices, const Shape& shape);

/// The number of true elements. Waits for the current stream if the array is on a GPU.
SW_API std::int64_t count_true(const Array& array);
/// Their indices: int64 (rank, count), one row per axis, in C order. Waits likewise.
SW_API Array positions_of_true(const Array& array);

/// numpy.repeat along `axis`: a new C-contiguous array on the array's device. Throws ArgumentError
/// for negative `times`.
SW_API Array repeat(const Array& array, std::int64_t times, int axis);
/// The same with a number per slice: integers of rank 0 or 1, read on the host (downloaded from a
/// GPU). Throws DTypeError, LayoutError, ArgumentError.
SW_API Array repeat(const Array& array, const Array& times, int axis);

enum class Side { left, right };

/// numpy.searchsorted: the index in `sorted`, a vector in ascending order with NaN at the end, at
/// which each of `values` would be inserted, before or after the elements that equal it. An int64
/// array of the shape of `values`, on the device of both; queued on the current stream of a GPU.
/// Both are cast to their promoted dtype. Throws DTypeError for complex numbers, LayoutError if
/// `sorted` is not a vector.
SW_API Array search_sorted(const Array& sorted, const Array& values, Side side);

}  // namespace spanwise::ops
