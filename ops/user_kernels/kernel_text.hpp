// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "parameter.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/strided/walk.hpp"

/// The CUDA C around a user's code, for both devices: parts that all kinds of kernel share.
namespace spanwise::ops::user_kernels {

/// The properties of every kind of kernel in addition to its expressions.
struct CommonSpec {
  std::string kind;  ///< "ElementwiseKernel"
  std::string name;  ///< of the kernel in profiles and messages
  std::string preamble{};
  std::vector<std::string> options{};
  /// Uses the GPU's source and block sizes on the CPU too, which is slower: for tests.
  bool use_gpu_code = false;
};

/// The name in error messages: "ElementwiseKernel 'scale'".
std::string who_of(const CommonSpec& spec);
/// who_of(). Throws ArgumentError if the kernel's name is not a C++ identifier.
std::string checked_who(const CommonSpec& spec);

/// How the kernel accesses one operand; determines the generated source.
struct OperandForm {
  enum class Access : std::uint8_t { value, element, dense, strided, absent };

  Access access = Access::absent;  ///< dense, strided: the array is passed as a whole
  std::uint8_t step = 0;  ///< for element: step along the walk's last axis: 0, 1, or 2 for any
  std::uint8_t rank = 0;  ///< of an array passed as a whole
  DType dtype{};

  friend bool operator==(const OperandForm&, const OperandForm&) = default;
};

OperandForm raw_form(const ConvertedArgument& operand);
/// The form of an array accessed by element; `walk` is null for a flat kernel.
OperandForm element_form(const ConvertedArgument& operand, const Walk* walk, int index);

/// A typedef for each type parameter of `operands`.
std::string type_parameter_typedefs(std::span<const ConvertedArgument> operands);
/// The source before the kernel: the library text that `operands` need, `types`, and the preamble
/// with its own line numbers.
std::string prologue(const CommonSpec& spec, std::span<const ConvertedArgument> operands,
                     const std::string& types);
/// `body` with its own line numbers, as file `label` in the compiler's messages.
std::string with_line_directives(const std::string& label, const std::string& body);

/// The C++ type of an operand's elements.
std::string element_type(const ConvertedArgument& operand);
/// "const " for inputs.
const char* constness(const ConvertedArgument& operand);
/// The declaration of the function parameter for the operand, followed by a comma; appends the type
/// definitions that it needs to `types`.
std::string parameter_text(const ConvertedArgument& operand, const OperandForm& form,
                           bool wants_pointer, std::string& types);

/// "struct <name> { long long shape[rank], s0[rank], ...; };" for `count` operands.
std::string walk_struct(const std::string& name, int rank, int count);

/// Structs of 64-bit numbers that are passed to a kernel; their addresses are stable after
/// reserve().
class PackedNumbers {
 public:
  void reserve(std::size_t count) { numbers_.reserve(count); }
  /// As struct sw_raw of raw.cuh.
  KernelArg raw(const Array& array, const Layout& layout);
  KernelArg walk(const Walk& walk);

 private:
  KernelArg argument(std::size_t first) const;
  std::vector<std::int64_t> numbers_;
};

KernelArg address_of(const Array& array);
KernelArg value_of(const ConvertedArgument& operand);

/// Compiles `source` and returns `kernel`. Throws CompileError with the name of `spec`, a remedy
/// for unknown names, and `user_code` as the source that is shown.
Kernel compiled(const CommonSpec& spec, const std::string& source, const std::string& kernel,
                Device device, std::string_view user_code);

}  // namespace spanwise::ops::user_kernels
