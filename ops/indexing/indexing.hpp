// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "spanwise/array.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/export.hpp"
#include "spanwise/layout.hpp"

/// Indexing by arrays, as NumPy's (numpy.org/doc/stable/user/basics.indexing.html): reading makes a
/// new C-contiguous array on the indexed array's device, writing casts, broadcasts and is right
/// where the value or an index overlaps the target.
///
/// Index arrays are of any integer dtype, on any device; they are looked at before anything is
/// read or written. Those on the host are checked there. Those on a GPU are checked by a kernel,
/// whose verdict (16 bytes) is downloaded: the call waits for the current stream. The same holds
/// for a mask on a GPU, whose number of true elements (8 bytes) decides the result's shape.
namespace spanwise::ops {

/// numpy.newaxis and the Ellipsis of an index.
struct NewAxis {};
struct Ellipsis {};
/// One part of an index. A bool array is a mask over as many axes as it has.
using IndexPart = std::variant<std::int64_t, Slice, NewAxis, Ellipsis, Array>;

/// What an index outside its axis is: an error, or counted round, or cut to the ends.
enum class Bounds { raise, wrap, clip };
/// "raise", "wrap" or "clip". Throws ArgumentError.
SW_API Bounds bounds_from(std::string_view mode);

/// array[key]. Throws BoundsError for an index that is none, is outside or does not broadcast;
/// LayoutError where the result would have too many dimensions.
SW_API Array index_by(const Array& array, std::span<const IndexPart> key);
/// array[key] = value; where an element is named twice, the last value in C order stays. Throws as
/// index_by, and as copy(); then nothing has been written.
SW_API void assign_by(const Array& array, std::span<const IndexPart> key, const Array& value);

/// How accumulate_by() brings an element and a value together.
enum class Accumulation : std::uint8_t { add, subtract, multiply, maximum, minimum };
/// By NumPy's name of the operation. Throws ArgumentError.
SW_API Accumulation accumulation_from(std::string_view name);

/// array[key] = array[key] + value (or as `how` says), once for each time that an element is named
/// (numpy.ufunc.at). `value` is cast to the array's dtype; bool has no subtract. On the CPU in C
/// order. On a GPU in no particular order, by atomic functions: results of integers, maxima and
/// minima are the same each time, while sums and products of floats may differ in their last bits
/// where an element is named more than once. Throws as assign_by(); DTypeError for
/// products, maxima and minima of complex128 on a GPU.
SW_API void accumulate_by(const Array& array, std::span<const IndexPart> key, const Array& value,
                          Accumulation how);

/// numpy.take: array[:, ..., indices, ...] along `axis` (counted from the end where negative).
SW_API Array take(const Array& array, const Array& indices, int axis, Bounds bounds);
/// array[indices] = values for a rank-1 `array`, under `bounds`; the values repeat as needed
/// (numpy.put).
SW_API void put(const Array& array, const Array& indices, const Array& values, Bounds bounds);
/// numpy.take_along_axis: the two have one rank, and broadcast but for `axis`.
SW_API Array take_along(const Array& array, const Array& indices, int axis);
SW_API void put_along(const Array& array, const Array& indices, int axis, const Array& values);

/// What take() gives of a vector on the host, on which no device has work queued, for int64
/// `indices` that lie in C order of `shape`, aligned or not. Throws BoundsError.
SW_API Array try_take_small(const Array& vector, const void* indices, const Shape& shape);

/// How many elements are true. Waits for the current stream where the array is on a GPU.
SW_API std::int64_t count_true(const Array& array);
/// Where they are: int64 (rank, count), one row an axis, in C order. Waits likewise.
SW_API Array positions_of_true(const Array& array);

}  // namespace spanwise::ops
