// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "spanwise/core/export.hpp"

namespace spanwise::parse {

/// Whether `name` belongs to a library of the CUDA toolkit that host code calls. In place of such a
/// header the shim has declarations of the library's types.
SW_API bool is_cuda_library_header(std::string_view name);
/// Whether `name` belongs to a library that host code alone calls, CUDA's or another.
SW_API bool is_host_library_header(std::string_view name);
/// Whether `name` is a header of libcu++ or Thrust, which CCCL contains and host compilers accept.
SW_API bool is_cccl_header(std::string_view name);
/// Whether `name` is a header of the C library or of POSIX.
SW_API bool is_c_header(std::string_view name);
/// Whether `name` is a small header of the C++ library that compiles after the shim's own headers.
SW_API bool can_follow_shim(std::string_view name);
/// Whether `name` is a header of the C++17 library that the shim does not replace.
SW_API bool is_cpp_header(std::string_view name);

}  // namespace spanwise::parse
