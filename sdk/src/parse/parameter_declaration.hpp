// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/lexer.hpp"
#include "spanwise/core/dtype.hpp"

namespace spanwise::parse {

/// Whether `word` is a type keyword of C: "unsigned", "long", "float", also "void" and "auto".
bool is_type_keyword(std::string_view word);

/// The dtype of a C or CUDA type, given as its tokens without qualifiers such as const: "unsigned",
/// "long"; "std", "::", "uint8_t"; "complex", "<", "float", ">"; "__half". Sizes are those of
/// CUDA on Linux: long has 64 bits. Nothing for other types, vector types such as float4 among
/// them.
std::optional<DType> c_dtype(std::span<const std::string_view> tokens);

/// Type aliases of the source: typedef, using, object-like macros. Only those that hold in every
/// compilation: not inside #if, and not redefined differently.
class TypeAliases {
 public:
  /// `words`: the tokens that the name stands for. A second definition that differs makes the name
  /// ambiguous.
  void add(std::string_view name, std::vector<std::string_view> words);
  /// Adds "typedef T name" and "using name = T" (without the semicolon); ignores other
  /// declarations, and any that contains "(", "[", "{" or a comma.
  void read(std::span<const Token> declaration);
  /// Null where the name is unknown, ambiguous or stands for no tokens.
  const std::vector<std::string_view>* find(std::string_view name) const;

 private:
  std::map<std::string_view, std::vector<std::string_view>> words_;
};

/// How a parameter of a kernel is written.
enum class Dialect : std::uint8_t {
  c,          ///< "const float *__restrict__ x"; also the arguments of PyCUDA's kernels
  cupy,       ///< "T x", "raw float32 y"
  bind,       ///< "contiguous const float32*", "strided float32[2]", "int32", "raw"
  kernel_op,  ///< "image: strided uint8[h, w, 3]"
};

/// A parameter of a kernel, in any dialect: [name :] [layout] type [name] [extents].
struct ParameterDeclaration {
  /// As written: "const float *", also of "const float x[4]"; without "restrict".
  std::string type;
  std::string name;
  std::string layout;   ///< "raw", "strided"; of Dialect::kernel_op any word
  std::string extents;  ///< "[2]" as written; of Dialect::c also a default value, "= 4"
  std::string element;  ///< the type of the scalar or the pointee, without const: "float"
  bool is_pointer = false;
  bool is_const = false;  ///< pointer to const; of Dialect::bind also elements that are const
  /// Of the scalar or the pointee; nothing unless that is an arithmetic type of C or CUDA.
  std::optional<DType> dtype{};
};

/// Parses one parameter; never fails, so callers refuse what their dialect does not have. Expands
/// `aliases` for all members but `type`.
ParameterDeclaration parse_parameter(std::span<const Token> tokens, Dialect dialect = Dialect::c,
                                     const TypeAliases& aliases = {});

/// Parses the parameter list of a function in C; none for "void".
std::vector<ParameterDeclaration> parse_parameters(std::span<const Token> list,
                                                   const TypeAliases& aliases = {});

}  // namespace spanwise::parse
