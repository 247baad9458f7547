// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
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
  bool copies = false;     ///< declared contiguous: other layouts are copied
  std::uint8_t view_rank = 0;
  DType dtype{};
  std::uint32_t size = 0;
};

/// All parameters of one kernel.
struct Signature {
  std::vector<KernelParameter> parameters;
  std::vector<ParameterRule> rules;
  bool copies = false;  ///< any rule does

  void add(KernelParameter parameter);
};

/// Joins what the source says with what the binary has. Where they contradict one another (a macro
/// hid something, or there is no source: `source` null) the binary alone counts. `types`, see
/// LoadedKernel::parameter_types(), tell what the source's own words do not: a typedef of a header,
/// T of a template, or all where there is no source.
Signature make_signature(const runtime::SourceKernel* source,
                         std::span<const runtime::LoadedKernel::Slot> slots,
                         std::string_view types = {});

/// `type` as C++ reads it: the parameter "type *". Nothing where it is no type.
std::optional<runtime::SourceParameter> pointer_to(std::string_view type);
/// Bytes of a View<T, rank> parameter.
constexpr std::int64_t view_size(int rank) { return 8 + 16 * std::int64_t{rank}; }

}  // namespace spanwise::kernels
