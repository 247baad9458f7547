// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spanwise {

/// Extents of a block or a grid, in threads or blocks.
struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
};

/// a / b rounded up, for a >= 0 and b > 0: the blocks of b items that hold a items.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

/// Resources that a compiled kernel uses (cuFuncGetAttribute); sizes in bytes.
struct KernelAttributes {
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int64_t const_bytes = 0;
  int max_threads_per_block = 1024;
  std::string architecture;  ///< "sm_90", "x86_64"
};

}  // namespace spanwise
