// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/source/kernel_source.hpp"
#include "spanwise/dtype.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::kernels {

/// What a launch checks of one parameter, in a form that is quick to look at.
struct ParameterRule {
  enum class Kind : std::uint8_t {
    pointer,  ///< T *
    view,     ///< spanwise::View<T, N> by value
    scalar,   ///< an arithmetic type by value
    opaque,   ///< anything else: only the size is known
  };
  Kind kind = Kind::opaque;
  bool writes = true;      ///< unless it is const, what a pointer or view leads to may be written
  bool has_dtype = false;  ///< `dtype` is that of the pointee, element or scalar
  bool any_byte = false;   ///< char *: elements of any one-byte type
  std::uint8_t view_rank = 0;
  DType dtype{};
  std::uint32_t size = 0;
};

/// All parameters of one kernel.
struct Signature {
  std::vector<KernelParameter> parameters;
  std::vector<ParameterRule> rules;
};

/// Joins what the source says with what the binary has. Where they contradict one another (a macro
/// hid something, or there is no source: `source` null) the binary alone counts.
Signature make_signature(const runtime::SourceKernel* source,
                         std::span<const runtime::LoadedKernel::Slot> slots);

}  // namespace spanwise::kernels
