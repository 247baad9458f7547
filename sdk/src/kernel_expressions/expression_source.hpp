// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_expressions/expression_operands.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/strided/walk.hpp"

/// The CUDA C around a user's code, for both devices: parts that all kinds of kernel share.
namespace spanwise::kernel_expressions {

using parse::has_token;
using parse::with_line_directives;

/// The name in error messages: "ElementwiseKernel 'scale'".
std::string label_of(const CommonSpec& spec);
/// label_of(). Throws ArgumentError if the kernel's name is not a C++ identifier.
std::string checked_label(const CommonSpec& spec);

/// How the source accesses one operand.
struct OperandForm {
  enum class Access : std::uint8_t { value, element, dense, strided, absent };

  Access access = Access::absent;  ///< dense, strided: the array is passed as a whole
  std::uint8_t step = 0;  ///< for element: step along the walk's last axis: 0, 1, or 2 for any
  std::uint8_t rank = 0;  ///< of an array passed as a whole
  DType dtype{};

  friend bool operator==(const OperandForm&, const OperandForm&) = default;
};

/// The forms of all operands of a kernel.
struct OperandForms {
  std::size_t count = 0;
  std::array<OperandForm, max_operands> all{};

  const OperandForm& operator[](std::size_t i) const noexcept { return all[i]; }
  OperandForm& operator[](std::size_t i) noexcept { return all[i]; }
  friend bool operator==(const OperandForms& a, const OperandForms& b) {
    return a.count == b.count && std::equal(a.all.begin(), a.all.begin() + a.count, b.all.begin());
  }
};

/// The form of a number or a raw array.
OperandForm raw_form(const ConvertedArgument& operand);
/// The form of an array accessed by element: operand `index` of `walk`, or of step 1 without a
/// walk.
OperandForm element_form(const ConvertedArgument& operand, const Walk* walk = nullptr,
                         int index = 0);

/// The source before the kernel: the library text that `operands` need, `types`, and the preamble
/// with its own line numbers.
std::string prologue(const CommonSpec& spec, std::span<const ConvertedArgument> operands,
                     const std::string& types);
/// The C++ type of an operand's elements.
std::string element_type(const ConvertedArgument& operand);
/// "const " for inputs.
const char* constness(const ConvertedArgument& operand);
/// The declaration of the function parameter for the operand, followed by a comma; appends the type
/// definitions that it needs to `types`.
std::string parameter_text(const ConvertedArgument& operand, const OperandForm& form,
                           bool wants_pointer, std::string& types);

/// The declaration of sw_raw of an array that is also used as a whole, with `axes` axes, as
/// parameter_text().
std::string whole_array_text(const ConvertedArgument& operand, int axes, std::string& types);

/// RawArguments, and the memory of those values that are made for the launch.
class ParameterValues {
 public:
  ParameterValues() = default;
  ParameterValues(const ParameterValues&) = delete;
  ParameterValues& operator=(const ParameterValues&) = delete;

  /// A number or struct, which must live until the launch.
  void add(const void* value) { all_.add(value); }
  void add_address(const Array& array) {
    all_.add(&(addresses_[address_count_++] = array.data()), array);
  }
  void add_null() { add(&(addresses_[address_count_++] = nullptr)); }
  /// As struct sw_raw of raw.cuh.
  void add_raw(const Array& array, const Layout& layout);
  /// As StridedWalk of walk.cuh.
  void add_walk(const Walk& walk);
  /// As parameter_text() declares them; without arrays that are accessed by element if these are
  /// added otherwise.
  void add_operands(const Operands& operands, const OperandForms& forms, bool wants_pointer,
                    bool has_elements);
  /// Arrays that are accessed by element and also used as a whole, broadcast to `shape`.
  void add_whole_arrays(const Operands& operands, const Shape& shape);

  const RawArguments& all() const noexcept { return all_; }

 private:
  /// `count` integers, which the caller writes.
  std::int64_t* new_numbers(int count);

  RawArguments all_;
  std::array<void*, max_operands + 2> addresses_;
  std::size_t address_count_ = 0;
  std::vector<std::unique_ptr<std::int64_t[]>> numbers_;
};

/// The message of a KernelFaultError with the names of `operands` in place of the parameters of the
/// generated source: "argument 'x'".
std::string with_operand_names(std::string message, const Operands& operands);

/// Directives before and after a text of ours that follows the user's preamble, in which the macros
/// of the options are not defined.
std::pair<std::string, std::string> macros_around_library(const CommonSpec& spec);
/// `library` between these directives.
std::string without_user_macros(const CommonSpec& spec, std::string_view library);

/// Compiles `source` and returns `kernel`. Macros of the options are defined from the preamble on.
/// Throws CompileError with the name of `spec`, a remedy for unknown names, and `user_code` as the
/// source that is shown.
Kernel compiled(const CommonSpec& spec, const std::string& source, const std::string& kernel,
                Device device, std::string_view user_code);

}  // namespace spanwise::kernel_expressions
