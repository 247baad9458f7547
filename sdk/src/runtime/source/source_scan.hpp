// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/source/c_type.hpp"
#include "runtime/source/kernel_source.hpp"
#include "runtime/source/use_graph.hpp"

namespace spanwise::runtime {

/// Where a __global__ function stands in the text, for who rewrites the text.
struct KernelSite {
  SourceKernel kernel;
  std::size_t parameters_end = 0;  ///< offset just behind the ')' of the parameter list
  bool is_conditional = false;     ///< inside #if: it may not be there when compiled
};

/// A declaration with __shared__, for who rewrites the text.
struct SharedSite {
  std::size_t token = 0;           ///< index of the __shared__
  std::size_t begin = 0, end = 0;  ///< tokens of the declaration, without the ';'
  bool in_body = false;            ///< at function scope
  bool is_conditional = false;
  std::string scope;  ///< "a::b::", the namespaces around it
};

/// All that the scan sees. Views point into the scanned text.
struct SourceScan {
  std::vector<Token> tokens;
  std::vector<KernelSite> sites;  ///< in order of the text; has_barrier is not set here
  std::vector<SharedSite> shared;
  /// Indices of tokens outside of any #if: what they name is there whenever the text is compiled.
  std::vector<std::size_t> unconditional;
  TypeNames type_names;
  UseGraph uses;
};

SW_API SourceScan scan_source(std::string_view text);

/// Parses what follows the token `tokens[start]`, a __global__. Fills name, parameters, line,
/// is_definition and parameters_end; name is "" for what declares no kernel of its own (an explicit
/// instantiation or specialisation).
KernelSite read_kernel_header(const std::vector<Token>& tokens, std::size_t start,
                              const TypeNames& names);

/// Whether the text declares variables that outlive a launch: __device__, __constant__, __managed__
/// and static ones, at any scope. Those that a macro hides are missed; some that are none count.
SW_API bool declares_variables(std::string_view source);

/// The index behind the bracket that closes tokens[open], which is one of ( [ { <; tokens.size()
/// where none does.
std::size_t skip_balanced(const std::vector<Token>& tokens, std::size_t open);

/// True for words that take a parenthesised argument in front of a declarator without naming it:
/// __launch_bounds__, __attribute__, alignas, ...
bool is_attribute_word(std::string_view word);

}  // namespace spanwise::runtime
