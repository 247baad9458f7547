// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include <cstdint>
#include <cstring>

#include "indices.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t grain = 1 << 10;  // searches that are worth another thread

// Whether the place that `wanted` belongs at is after `x`; NaN is after everything. Of a number
// that is one comparison, which needs no branch.
template <Side side, bool is_nan, class T>
bool is_before(T x, T wanted) noexcept {
  if (is_nan) return side == Side::right || x == x;
  return side == Side::left ? x < wanted : x <= wanted;
}

// Some searches step by step together: while one waits for memory the others go on, and no branch
// depends on what is found.
template <Side side, bool is_nan, int count, class T>
void search_some(const T* line, std::int64_t size, const T* wanted, std::int64_t* places) {
  const T* at[count];
  for (int k = 0; k < count; ++k) at[k] = line;
  for (std::int64_t left = size; left > 1; left -= left / 2) {
    const std::int64_t half = left / 2;
    for (int k = 0; k < count; ++k)
      at[k] += half & -std::int64_t{is_before<side, is_nan>(at[k][half - 1], wanted[k])};
  }
  for (int k = 0; k < count; ++k)
    places[k] = at[k] - line + std::int64_t{is_before<side, is_nan>(*at[k], wanted[k])};
}
template <Side side, class T>
void search_one(const T* line, std::int64_t size, const T* wanted, std::int64_t* place) {
  const bool is_nan = *wanted != *wanted;
  (is_nan ? search_some<side, true, 1, T> : search_some<side, false, 1, T>)(line, size, wanted,
                                                                            place);
}
template <int count, class T>
bool has_nan(const T* values) {
  bool found = false;
  for (int k = 0; k < count; ++k) found |= values[k] != values[k];
  return found;
}

template <Side side, class T>
void search_line(const Array& line, const Array& wanted, const Array& places) {
  const auto* elements = static_cast<const T*>(line.data());
  const auto* from = static_cast<const T*>(wanted.data());
  auto* to = static_cast<std::int64_t*>(places.data());
  const std::int64_t size = line.size();
  parallel_for(wanted.size(), grain, [&](std::int64_t first, std::int64_t last) {
    constexpr int together = 16;
    for (std::int64_t i = first; i < last;) {
      if (i + together <= last && !has_nan<together>(from + i)) {
        search_some<side, false, together>(elements, size, from + i, to + i);
        i += together;
      } else {
        search_one<side>(elements, size, from + i, to + i);
        ++i;
      }
    }
  });
}

using Search = void (*)(const Array& line, const Array& wanted, const Array& places);
template <Side side>
Search search_for(DType dtype) {
  if (dtype == float64) return &search_line<side, double>;
  if (dtype == float32) return &search_line<side, float>;
  const bool is_signed = dtype.code() == DTypeCode::int_;
  switch (dtype.itemsize()) {
    case 1:
      return is_signed ? &search_line<side, std::int8_t> : &search_line<side, std::uint8_t>;
    case 2:
      return is_signed ? &search_line<side, std::int16_t> : &search_line<side, std::uint16_t>;
    case 4:
      return is_signed ? &search_line<side, std::int32_t> : &search_line<side, std::uint32_t>;
    default:
      return is_signed ? &search_line<side, std::int64_t> : &search_line<side, std::uint64_t>;
  }
}

DType compared_as(DType line, DType wanted) {
  if (line.is_complex() || wanted.is_complex())
    fail<DTypeError>("searchsorted: expected real dtypes, got ", line, " and ", wanted,
                     "; complex numbers have no order");
  const DType both = promote(line, wanted);
  if (both.is_bool()) return uint8;
  return both.is_floating() && both.itemsize() < 4 ? float32 : both;
}

Array ready(const Array& array, DType dtype) {
  const Array made = astype(array, dtype, CopyMode::if_needed);
  const auto place = reinterpret_cast<std::uintptr_t>(made.data());
  const bool is_aligned = place % static_cast<std::uintptr_t>(dtype.itemsize()) == 0;
  return made.layout().is_row_major() && is_aligned ? made : copy(made);
}

}  // namespace

Array search_sorted(const Array& line, const Array& wanted, Side side) {
  if (line.rank() != 1)
    fail<LayoutError>("searchsorted: expected a vector to search, got ", line.shape());
  const DType dtype = compared_as(line.dtype(), wanted.dtype());
  if (line.size() == 0 || wanted.size() == 0) return zeros(wanted.shape(), int64, line.device());
  const Array elements = ready(line, dtype), values = ready(wanted, dtype);
  Array places = empty(wanted.shape(), int64, line.device());
  if (line.device().is_cuda()) {
    search_by_kernel(elements, values, side, places);
    return places;
  }
  await(elements, /*writes=*/false);
  await(values, /*writes=*/false);
  const Search search =
      side == Side::left ? search_for<Side::left>(dtype) : search_for<Side::right>(dtype);
  search(elements, values, places);
  return places;
}

}  // namespace spanwise::ops
