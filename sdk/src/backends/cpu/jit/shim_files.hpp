// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/files.hpp"

namespace spanwise::cpu_backend {

/// Whether `name` is a header of CUDA or of the C library, which the shim replaces or leaves out
/// even if an include folder has it.
bool is_cuda_header(std::string_view name);
/// The embedded header that replaces `name`, if any: CUDA's, the C library's, or one of NVIDIA's
/// samples.
std::optional<std::string> shim_header(std::string_view name);
/// Whether `name` is a header of the C library that the shim replaces.
bool is_replaced_standard_header(std::string_view name);
/// Writes the shim to the folder, with the replacements of the C library's headers or, for sources
/// over the system's headers, without them.
void write_shim(const runtime::TemporaryFolder& folder, bool with_standard);
/// Whether a part of the shim declares a function of this name.
bool is_shim_function(std::string_view name);
/// #define directives that make spanwise_cpu.h include those of its parts that declare one of the
/// names in `used`.
std::string shim_parts(const std::set<std::string_view>& used);
/// The contents of a header of the folder shim/spanwise.
std::string_view shim_text(std::string_view name);
/// A hash of all shim headers.
const std::string& shim_fingerprint();

}  // namespace spanwise::cpu_backend
