// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parse/kernel_source.hpp"

namespace spanwise::cpu_backend {

/// A use of something that the CPU does not support.
struct UnsupportedUse {
  std::size_t token = 0;  ///< index
  std::size_t end = 0;    ///< of an asm, the token after its ')'; 0 for others
  std::string message;    ///< "cubemap textures (texCubemap) exist only on a GPU. ..."
};

std::vector<UnsupportedUse> find_unsupported(const parse::SourceScan& scan);

}  // namespace spanwise::cpu_backend
