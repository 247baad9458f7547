// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "indexing.hpp"

#include <cstdint>

#include "selection.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t grain = 1 << 10;  // searches that make a second thread worthwhile

// Whether the insertion point of `value` is after `x`; NaN sorts last. `is_nan`: the value is NaN;
// other values take one comparison without a branch.
template <Side side, bool is_nan, class T>
bool is_before(T x, T value) noexcept {
  if (is_nan) return side == Side::right || x == x;
  return side == Side::left ? x < value : x <= value;
}

// Interleaved searches: their cache misses overlap, and no branch depends on the values.
template <Side side, bool is_nan, int count, class T>
void search_batch(const T* sorted, std::int64_t size, const T* values, std::int64_t* positions) {
  const T* at[count];
  for (int k = 0; k < count; ++k) at[k] = sorted;
  for (std::int64_t left = size; left > 1; left -= left / 2) {
    const std::int64_t half = left / 2;
    for (int k = 0; k < count; ++k)
      at[k] += half & -std::int64_t{is_before<side, is_nan>(at[k][half - 1], values[k])};
  }
  for (int k = 0; k < count; ++k)
    positions[k] = at[k] - sorted + std::int64_t{is_before<side, is_nan>(*at[k], values[k])};
}
template <Side side, class T>
void search_one(const T* sorted, std::int64_t size, const T* value, std::int64_t* position) {
  const bool is_nan = *value != *value;
  (is_nan ? search_batch<side, true, 1, T> : search_batch<side, false, 1, T>)(sorted, size, value,
                                                                              position);
}
template <int count, class T>
bool has_nan(const T* values) {
  bool found = false;
  for (int k = 0; k < count; ++k) found |= values[k] != values[k];
  return found;
}

template <Side side, class T>
void search_line(const Array& sorted, const Array& values, const Array& positions) {
  const auto* elements = static_cast<const T*>(sorted.data());
  const auto* from = static_cast<const T*>(values.data());
  auto* to = static_cast<std::int64_t*>(positions.data());
  const std::int64_t size = sorted.size();
  parallel_for(values.size(), grain, [&](std::int64_t first, std::int64_t last) {
    constexpr int batch = 16;
    for (std::int64_t i = first; i < last;) {
      if (i + batch <= last && !has_nan<batch>(from + i)) {
        search_batch<side, false, batch>(elements, size, from + i, to + i);
        i += batch;
      } else {
        search_one<side>(elements, size, from + i, to + i);
        ++i;
      }
    }
  });
}

using Search = void (*)(const Array& sorted, const Array& values, const Array& positions);
template <Side side>
Search search_for(DType dtype) {
  if (dtype == float64) return &search_line<side, double>;
  if (dtype == float32) return &search_line<side, float>;
  return with_integer(dtype,
                      [](auto type) -> Search { return &search_line<side, decltype(type)>; });
}

DType compared_as(DType sorted, DType values) {
  if (sorted.is_complex() || values.is_complex())
    fail<DTypeError>("searchsorted: expected real dtypes, got ", sorted, " and ", values,
                     "; complex numbers have no order");
  const DType both = promote(sorted, values);
  if (both.is_bool()) return uint8;
  return both.is_floating() && both.itemsize() < 4 ? float32 : both;
}

Array as_searchable(const Array& array, DType dtype) {
  const Array cast = astype(array, dtype, CopyMode::if_needed);
  return cast.layout().is_row_major() && is_item_aligned(cast) ? cast : copy(cast);
}

}  // namespace

void search_on_host(const Array& sorted, const Array& values, Side side, const Array& positions) {
  order_host_use(sorted, /*writes=*/false);
  order_host_use(values, /*writes=*/false);
  const DType dtype = sorted.dtype();
  (side == Side::left ? search_for<Side::left>(dtype) : search_for<Side::right>(dtype))(
      sorted, values, positions);
}

Array search_sorted(const Array& sorted, const Array& values, Side side) {
  if (sorted.rank() != 1)
    fail<LayoutError>("searchsorted: expected a vector to search, got ", sorted.shape());
  const DType dtype = compared_as(sorted.dtype(), values.dtype());
  if (sorted.size() == 0 || values.size() == 0)
    return zeros(values.shape(), int64, sorted.device());
  const Array cast_sorted = as_searchable(sorted, dtype),
              cast_values = as_searchable(values, dtype);
  Array positions = empty(values.shape(), int64, sorted.device());
  indexing_backends[sorted.device()].search(cast_sorted, cast_values, side, positions);
  return positions;
}

}  // namespace spanwise::ops
