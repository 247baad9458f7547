// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "arithmetic.hpp"

namespace spanwise::ops {

/// z[i * sz] = a[i * sa] op b[i * sb] for i < n; strides in elements, all of one dtype. z overlaps
/// neither a nor b. A unary op leaves b alone.
using Loop = void (*)(std::int64_t n, const std::byte* a, std::int64_t sa, const std::byte* b,
                      std::int64_t sb, std::byte* z, std::int64_t sz);

/// For the processor at hand. Null where `dtype` is not computable or NumPy lacks the operation.
Loop find_loop(Arithmetic kind, DType dtype) noexcept;

}  // namespace spanwise::ops
