// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parse/kernel_source.hpp"
#include "parse/parameter.hpp"
#include "parse/reference_graph.hpp"

namespace spanwise::parse {

/// A __global__ function and its position in the text, for source rewriting.
struct KernelSite {
  SourceKernel kernel;
  std::size_t parameters_end = 0;  ///< offset after the ')' of the parameter list
  bool is_conditional = false;     ///< inside #if: may be excluded when compiled
};

/// Whether the words of a directive are "if 0".
inline bool is_if_zero(const std::vector<Token>& words) {
  return words.size() == 2 && words[0].text == "if" && words[1].text == "0";
}

/// The index of the last token of a branch of an #if, whose first token is tokens[index + 1]: the
/// token before the next #else, #elif or #endif of that #if.
std::size_t end_of_branch(const std::vector<Token>& tokens, std::size_t index);

/// The position of a __shared__ declaration, for source rewriting.
struct SharedSite {
  std::size_t token = 0;           ///< index of the __shared__
  std::size_t begin = 0, end = 0;  ///< tokens of the declaration, without the ';'
  bool in_body = false;            ///< at function scope
  bool is_conditional = false;
  std::string scope;  ///< "a::b::", the namespaces around it
};

/// The result of scan_source(). Views point into the scanned text.
struct SourceScan {
  std::vector<Token> tokens;
  std::vector<KernelSite> sites;  ///< in source order; has_barrier is not set here
  std::vector<SharedSite> shared;
  /// Indices of tokens outside of any #if.
  std::vector<std::size_t> unconditional;
  TypeAliases aliases;
  ReferenceGraph uses;
};

SW_API SourceScan scan_source(std::string_view text);

/// Parses the declaration after `tokens[start]`, a __global__. Fills name, parameters, line,
/// is_definition and parameters_end; name is "" for an explicit instantiation or specialisation.
KernelSite read_kernel_header(const std::vector<Token>& tokens, std::size_t start,
                              const TypeAliases& aliases);

/// Whether the text declares variables that persist between launches: __device__, __constant__,
/// __managed__ and static ones, at any scope, and texture references. Approximate: misses those
/// hidden in macros, and has false positives.
SW_API bool declares_variables(std::string_view source);

/// The index after the bracket that closes tokens[open], which is one of ( [ { <; tokens.size()
/// where it is not closed.
std::size_t skip_balanced(const std::vector<Token>& tokens, std::size_t open);

/// True for words that may precede a declarator with a parenthesised argument: __launch_bounds__,
/// __attribute__, alignas, ...
bool is_attribute_word(std::string_view word);

}  // namespace spanwise::parse
