// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "parse/kernel_source.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {

class KernelState;

/// The checks of one parameter at launch, in compact form.
struct ParameterRule {
  enum class Kind : std::uint8_t {
    pointer,  ///< T *
    view,     ///< spanwise::View<T, N> by value
    scalar,   ///< an arithmetic type by value
    opaque,   ///< anything else: only the size is checked
  };
  Kind kind = Kind::opaque;
  bool writes = true;  ///< the kernel may write to a pointer's or view's elements; false for const
  bool has_dtype = false;  ///< `dtype` (of the pointee, element or scalar) is known
  bool any_byte = false;   ///< char *: accepts elements of any one-byte dtype
  bool copies = false;     ///< declared contiguous: arrays in other layouts are copied
  std::uint8_t view_rank = 0;
  DType dtype{};
  std::uint32_t size = 0;
};

/// All parameters of one kernel.
struct Signature {
  std::vector<KernelParameter> parameters;
  std::vector<ParameterRule> rules;
  bool copies = false;  ///< any of rules[i].copies

  void add(KernelParameter parameter);
};

/// Combines the source's declaration with the binary's parameters. Ignores the declaration if it
/// has another number of parameters (a macro may hide some), and that of a parameter whose size
/// differs. `types` (LoadedKernel::parameter_types()) supplies types that the source leaves open:
/// typedefs of headers, template parameters, or all of them if `source` is null.
Signature make_signature(const parse::SourceKernel* source,
                         std::span<const runtime::LoadedKernel::ParameterInfo> parameter_info,
                         std::string_view types = {});

/// The tokens of each template parameter of `kernel`, a template in the source of `tokens`.
std::vector<std::span<const parse::Token>> template_parameters(
    const std::vector<parse::Token>& tokens, const parse::SourceKernel& kernel);
/// T of "class T", N of "int N = 3"; "" for an unnamed parameter.
std::string_view template_parameter_name(std::span<const parse::Token> parameter);

/// The declaration of the instance `name`, "scale<float, 3>", of the template `declared` in
/// `source`: its parameter types with the template arguments substituted. Template parameters that
/// `name` leaves to deduction stay unsubstituted, so their dtype is unknown.
parse::SourceKernel template_instance(const parse::KernelSource& source,
                                      const parse::SourceKernel& declared, std::string_view name);

/// The signature for Kernel::bind(): that of `function`, a kernel, extended by the declarations.
/// Throws KernelArgumentError unless there is one declaration for each parameter, or where one
/// cannot be parsed or contradicts the signature.
Signature declared_signature(const KernelState& function,
                             std::span<const std::string> declarations);

}  // namespace spanwise::kernels
