// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "op_sdk/extent_expression.hpp"
#include "parse/kernel_source.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::op_sdk {

/// One declared input or output: "image: strided uint8[h, w, 3]".
struct DeclaredParameter {
  std::string name;
  bool strided = false;
  std::optional<DType> dtype{};  ///< if declared by name
  char dtype_letter = 0;         ///< else a placeholder for a dtype, "T"
  std::vector<ExtentExpression> extents{};

  int rank() const noexcept { return static_cast<int>(extents.size()); }
  /// Parses a declaration. Throws ArgumentError quoting it and saying what was expected; `where`
  /// begins the message.
  static DeclaredParameter parse(std::string_view declaration, Names& names,
                                 const std::string& where);
};

/// The dtypes bound to letters in one node.
using TypeBindings = std::map<char, DType>;

/// The dtype of `parameter`, whose letter, if any, must be bound.
inline DType dtype_of(const DeclaredParameter& parameter, const TypeBindings& bindings) {
  return parameter.dtype ? *parameter.dtype : bindings.at(parameter.dtype_letter);
}

/// The CUDA C name of a dtype, and the header that declares it ("" for none). Throws ArgumentError
/// for a dtype without a C type; `where` begins the message.
struct CType {
  std::string name, header;
};
CType c_type(DType dtype, const std::string& where);

/// One argument of the kernel.
struct KernelArgument {
  enum class Kind { input, output, scalar, expression };
  Kind kind;
  int index = 0;                  ///< of the input or output
  ExtentExpression expression{};  ///< for Kind::expression
  Scalar scalar{std::int64_t{0}};
};

/// A parsed and checked KernelOpSpec.
struct KernelDeclaration {
  /// Throws ArgumentError naming the op, the position, what was expected and what was given.
  explicit KernelDeclaration(KernelOpSpec op_spec);

  KernelOpSpec spec;
  Names names;                       ///< of extents, and of integer scalars
  std::vector<std::int64_t> preset;  ///< per name: the scalar's value, or 0 for an extent
  std::vector<DeclaredParameter> inputs, outputs;
  AliasMap overwrites;  ///< one input per output
  parse::SourceKernel kernel;
  std::vector<std::string> template_parameters;  ///< up to the first with a default
  std::vector<KernelArgument> arguments;
  std::vector<ExtentExpression> block,
      grid;  ///< empty grid: the first output's size over the block
  ExtentExpression shared;

  /// An axis of an input: its extent binds a name, or is checked against an expression.
  struct BoundAxis {
    int input, axis;
    const ExtentExpression* expression;  ///< as declared
    int name;                            ///< the name that it binds, or -1
  };
  std::vector<BoundAxis> binding, checked;

  bool is_preset(int name) const { return spec.scalars.contains(names[name]); }
  /// The declaration of an input or output that is passed as `argument`; null for other kinds.
  const DeclaredParameter* parameter_of(const KernelArgument& argument) const {
    const auto index = static_cast<std::size_t>(argument.index);
    if (argument.kind == KernelArgument::Kind::input) return &inputs[index];
    return argument.kind == KernelArgument::Kind::output ? &outputs[index] : nullptr;
  }

 private:
  /// Throws ArgumentError that begins with the op's name.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... message) const {
    fail<ArgumentError>("kernel_op ", spec.name, message...);
  }

  /// Whether the dtype of an input is the letter `letter`.
  bool has_input_of(char letter) const {
    return std::ranges::find(inputs, letter, &DeclaredParameter::dtype_letter) != inputs.end();
  }

  void read_scalars();
  void read_parameters();
  void check_unique_names() const;
  void read_overwrites();
  void sort_axes();
  void check_bound(const ExtentExpression& expression, const std::string& where) const;
  void check_letters() const;
  void choose_kernel();
  void read_template_parameters();
  void read_arguments();
  std::vector<std::string> default_arguments() const;
  KernelArgument read_argument(const std::string& argument);
  void check_argument(const KernelArgument& argument, const parse::ParameterDeclaration& parameter,
                      const std::string& argument_text) const;
  void read_launch();
  std::vector<ExtentExpression> read_extents(const std::vector<std::string>& texts,
                                             const char* field);
};

/// The names of the template parameters of `kernel` in `source`, in order, up to the first that has
/// a default.
std::vector<std::string> template_parameter_names(const std::string& source,
                                                  const parse::SourceKernel& kernel);

}  // namespace spanwise::op_sdk
