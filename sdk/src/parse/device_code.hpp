// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parse/declarations.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::parse {

/// Determines which declarations of a source and its headers the device code needs: those with
/// __global__, __device__, __constant__ or __managed__, and all whose names these use, directly or
/// indirectly. Names are compared without their scopes, so some that are not needed are kept.
class SW_API DeviceCode {
 public:
  /// Adds a file. Its text must outlive this object.
  void add(std::string_view text);
  /// Adds a file of which nothing can be removed, because it is included inside a declaration.
  void add_whole(std::string_view text);
  /// Adds a name that is used from outside, such as a template argument.
  void add_root(std::string_view name) { roots_.insert(name); }
  /// To be called after the last file.
  void resolve();
  /// Whether a file has functions that only the host can call: those that launch kernels or call
  /// the host API, directly or indirectly, or are declared __host__ alone.
  bool has_host_functions() const { return !host_functions_.empty(); }
  /// `text`, which was added, with host code replaced by blanks. Lines, columns and directives
  /// stay.
  std::string without_host_code(std::string_view text) const;

 private:
  using Names = std::set<std::string_view>;
  struct SourceFile {
    std::string_view text;
    std::vector<Token> tokens;
    std::vector<Declaration> declarations;
  };

  void add_macros(const std::vector<Token>& tokens);
  Names specifiers(const SourceFile& file, const Declaration& declaration) const;
  bool is_device(const SourceFile& file, const Declaration& declaration) const;
  bool is_host(const SourceFile& file, const Declaration& declaration) const;
  void find_host_functions();
  void reach(std::string_view name);
  template <class Body>
  void for_each(const Body& body) const;
  bool is_kept(const SourceFile& file, const Declaration& declaration) const;

  std::vector<SourceFile> files_;
  std::map<std::string_view, Names> macros_;  // name -> identifiers of its body
  std::map<std::string_view, Names> uses_;    // declared name -> identifiers of its declarations
  Names roots_, reached_, device_functions_, host_functions_;
};

/// The index of each #include that is inside of a declaration.
SW_API std::set<std::size_t> inner_directives(const std::vector<Token>& tokens);

}  // namespace spanwise::parse
