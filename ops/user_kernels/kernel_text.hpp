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
#include "spanwise/op_sdk/walk.hpp"

/// The CUDA C around what a user wrote, on either device: pieces that all kinds of kernel share.
namespace spanwise::ops::user_kernels {

/// What every kind of kernel takes besides its expressions.
struct CommonSpec {
  std::string kind;  ///< "ElementwiseKernel"
  std::string name;  ///< of the kernel in profiles and messages
  std::string preamble{};
  std::vector<std::string> options{};
  /// A GPU's text and blocks on the CPU too, where they give the same results, slower: for tests.
  bool as_on_gpu = false;
};

/// Who complains: "ElementwiseKernel 'scale'".
std::string who_of(const CommonSpec& spec);
/// who_of(), where the name is one that the generated text can bear. Throws ArgumentError.
std::string checked_who(const CommonSpec& spec);

/// How one operand meets the kernel: what decides the text, but for what the user wrote.
struct OperandForm {
  enum class Place : std::uint8_t { value, element, dense, strided, absent };

  Place place = Place::absent;  ///< dense, strided: as a whole
  std::uint8_t step = 0;        ///< of element, along the walk's last axis: 0, 1, or 2 for any
  std::uint8_t rank = 0;        ///< of what is passed as a whole
  DType dtype{};

  friend bool operator==(const OperandForm&, const OperandForm&) = default;
};

OperandForm raw_form(const Operand& operand);
/// Of an element; a null walk is a flat one.
OperandForm element_form(const Operand& operand, const Walk* walk, int index);

/// T -> dtype, for each letter of `operands`.
std::string letter_types(std::span<const Operand> operands);
/// Everything before the kernel: our own pieces as far as `operands` need them, `types` (text), and
/// the preamble under its own line numbers.
std::string opening(const CommonSpec& spec, std::span<const Operand> operands,
                    const std::string& types);
/// `body` under line numbers of its own, named `label` in the compiler's messages.
std::string numbered(const std::string& label, const std::string& body);

/// The C++ type of an operand's elements.
std::string element_type(const Operand& operand);
/// "const " for what is only read.
const char* constness(const Operand& operand);
/// A function's parameter for the operand, with a comma behind it, and (in `types`) the type that
/// it needs.
std::string parameter_text(const Operand& operand, const OperandForm& form, bool wants_pointer,
                           std::string& types);

/// "struct <name> { long long shape[rank], s0[rank], ...; };" for `count` operands.
std::string walk_struct(const std::string& name, int rank, int count);

/// Numbers that go to a kernel as structs, at addresses that stay.
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
KernelArg value_of(const Operand& operand);

/// Compiles and finds `kernel`. Throws CompileError in the name of `spec`, with a remedy where a
/// name is unknown; what it shows as the source are `users_words`.
Kernel compiled(const CommonSpec& spec, const std::string& source, const std::string& kernel,
                Device device, std::string_view users_words);

}  // namespace spanwise::ops::user_kernels
