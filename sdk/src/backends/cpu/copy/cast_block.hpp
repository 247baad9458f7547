// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/copy/block.hpp"
#include "core/convert.hpp"
#include "core/element_types.hpp"

/// Each source dtype's casts are compiled in one of a few files, so that the build runs in
/// parallel.
namespace spanwise::host {

template <class From, class To>
void cast_row(std::byte* target, std::int64_t target_step, const std::byte* source,
              std::int64_t source_step, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i) {
    const From value = core::load<From>(source + i * source_step);
    store_unaligned(target + i * target_step, core::convert<To>(value));
  }
}

template <class From, class To>
void cast_block(const Block& b) {
  constexpr std::int64_t from = sizeof(From), to = sizeof(To);
  const bool packed = b.source_step == from && b.target_step == to;
  for (std::int64_t row = 0; row < b.rows; ++row) {
    std::byte* target = b.target + row * b.target_row_step;
    const std::byte* source = b.source + row * b.source_row_step;
    // Steps that the compiler knows let it vectorise.
    if (packed)
      cast_row<From, To>(target, to, source, from, b.columns);
    else
      cast_row<From, To>(target, b.target_step, source, b.source_step, b.columns);
  }
}

template <class From>
BlockKernel cast_from(DType to) {
  return core::visit(to, "cpu copy", [](auto type) -> BlockKernel {
    return &cast_block<From, typename decltype(type)::type>;
  });
}

extern template BlockKernel cast_from<bool>(DType);
extern template BlockKernel cast_from<std::int8_t>(DType);
extern template BlockKernel cast_from<std::int16_t>(DType);
extern template BlockKernel cast_from<std::int32_t>(DType);
extern template BlockKernel cast_from<std::int64_t>(DType);
extern template BlockKernel cast_from<std::uint8_t>(DType);
extern template BlockKernel cast_from<std::uint16_t>(DType);
extern template BlockKernel cast_from<std::uint32_t>(DType);
extern template BlockKernel cast_from<std::uint64_t>(DType);
extern template BlockKernel cast_from<Half>(DType);
extern template BlockKernel cast_from<BFloat16>(DType);
extern template BlockKernel cast_from<float>(DType);
extern template BlockKernel cast_from<double>(DType);
extern template BlockKernel cast_from<std::complex<float>>(DType);
extern template BlockKernel cast_from<std::complex<double>>(DType);

}  // namespace spanwise::host
