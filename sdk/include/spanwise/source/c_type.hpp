// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"

namespace spanwise::source {

/// Whether `word` is a type keyword of C: "unsigned", "long", "float", also "void" and "auto".
SW_API bool is_type_keyword(std::string_view word);

/// The dtype of a C or CUDA type, given as its tokens without qualifiers such as const: "unsigned",
/// "long"; "std", "::", "uint8_t"; "complex", "<", "float", ">"; "__half". Sizes are those of
/// CUDA on Linux: long has 64 bits. Nothing for other types, vector types such as float4 among
/// them.
SW_API std::optional<DType> c_dtype(std::span<const std::string_view> tokens);

}  // namespace spanwise::source
