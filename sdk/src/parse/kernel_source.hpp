// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/lexer.hpp"
#include "parse/parameter_declaration.hpp"

namespace spanwise::parse {

/// The identifiers used by the functions, variables and macros of a source, by unqualified name.
/// Entities with the same name are merged, and "" stands for code that has no name at the call
/// (operators), which counts as used by everything. So results are conservative: "uses" may be a
/// false positive.
class ReferenceGraph {
 public:
  void add(std::string_view owner, std::string_view used);
  /// Adds all uses of `other`, e.g. of an included file.
  void merge(const ReferenceGraph& other);
  /// Whether `owner` uses a barrier, a warp collective or a cooperative group, directly or
  /// indirectly. The threads of such a kernel must be able to wait for one another.
  bool reaches_barrier(std::string_view owner) const;
  /// Whether `owner` is or uses one of the words of `names`, directly or indirectly.
  bool reaches(std::string_view owner, std::string_view names) const;
  /// Whether `owner` or a function it calls may be recursive.
  bool recurses(std::string_view owner) const;
  bool contains(std::string_view owner) const { return uses_.contains(owner); }
  /// All used names.
  std::set<std::string_view> used() const;

 private:
  std::set<std::string_view> closure(std::string_view owner) const;

  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> uses_;
};

/// One __global__ function as the source declares it.
struct SourceKernel {
  std::string name;            ///< unqualified, e.g. "blur"
  std::string qualified_name;  ///< with its namespaces, e.g. "image::blur"
  std::vector<ParameterDeclaration> parameters;
  int line = 1;
  bool is_template = false;
  bool is_extern_c = false;
  bool is_definition = false;
  /// Calls a barrier or a warp collective, directly or through functions and macros of the source.
  bool has_barrier = false;
};

/// Kernel source and the kernels found in it by a light scan without preprocessing: a kernel whose
/// __global__ comes from a macro is not found.
struct KernelSource {
  std::string text;
  std::string file_name = "kernel.cu";  ///< name in messages
  std::vector<SourceKernel> kernels;
  /// `text` is compiled device code, which only a linker accepts.
  bool is_compiled = false;
};

/// Finds the kernels in CUDA C++ text. Never throws because of the text.
KernelSource scan_kernels(std::string text, std::string file_name = "kernel.cu");

/// As scan_kernels, but also accepts compiled device code (cubin, PTX, LTO-IR, fat binary, object
/// file, archive), recognised by its contents.
KernelSource scan_linked(std::string contents, std::string file_name);

/// A __global__ function and its position in the text, for source rewriting.
struct KernelSite {
  SourceKernel kernel;
  std::size_t name = 0;            ///< the token of the name
  std::size_t parameters_end = 0;  ///< offset after the ')' of the parameter list
  /// The text before the name, where the attributes are, without `template <...>`, and the
  /// parameters of the template. Empty where directives are among them.
  std::string_view specifiers{}, template_parameters{};
};

/// Whether the words of a directive are "if 0".
inline bool is_if_zero(const std::vector<Token>& words) {
  return words.size() == 2 && words[0].text == "if" && words[1].text == "0";
}

/// The index of the last token of a branch of an #if, whose first token is tokens[index + 1]: the
/// token before the next #else, #elif or #endif of that #if.
std::size_t end_of_branch(std::span<const Token> tokens, std::size_t index);

/// The position of a __shared__ declaration, for source rewriting.
struct SharedSite {
  std::size_t token = 0;           ///< index of the __shared__
  std::size_t begin = 0, end = 0;  ///< tokens of the declaration, without the ';'
  bool in_body = false;            ///< at function scope
  std::string scope;               ///< "a::b::", the namespaces around it
};

/// The result of scan_source(). Views point into the scanned text.
struct SourceScan {
  std::vector<Token> tokens;
  std::vector<KernelSite> sites;  ///< in source order; has_barrier is not set here
  std::vector<SharedSite> shared;
  /// Explicit instantiations of kernels: "n::scale<float>", or "n::scale(float*, int)" where the
  /// compiler deduces the arguments.
  std::vector<std::string> instances;
  TypeAliases aliases;
  ReferenceGraph uses;
};

SourceScan scan_source(std::string_view text);

/// Whether the text declares variables that persist between launches: __device__, __constant__,
/// __managed__ and static ones, at any scope, and texture references. Approximate: misses those
/// hidden in macros, and has false positives.
bool declares_variables(std::string_view source);

/// True for words that may precede a declarator with a parenthesised argument: __launch_bounds__,
/// __attribute__, alignas, ...
bool is_attribute_word(std::string_view word);

}  // namespace spanwise::parse
