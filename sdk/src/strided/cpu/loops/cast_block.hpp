// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/convert.hpp"
#include "core/element_types.hpp"
#include "strided/cpu/loops/block.hpp"

/// The casts of each source dtype are compiled in one of several files, to parallelise the build.
namespace spanwise::strided {

using core::convert;
#include "strided/cpu/loops/cast_loops.inc"

template <class From>
BlockKernel cast_from(DType to) {
  return core::visit(to, "cast", [](auto type) -> BlockKernel {
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

}  // namespace spanwise::strided
