// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/lexer.hpp"

/// The part of a source, and of the headers that it includes, that device code needs.
namespace spanwise::parse {

/// A declaration at namespace scope.
struct Declaration {
  enum class Kind { function, prototype, type, variable, other };
  Kind kind = Kind::other;
  std::size_t begin = 0, end = 0;  ///< tokens [begin, end), with the last ';' or '}'
  std::size_t head_end = 0;        ///< where a body or initialiser begins; without one, `end`
  /// The names that it declares, possibly more. Empty for operators, and for Kind::other.
  std::vector<std::string_view> names;
  /// For a member function of a class: the index of the class in the same list, plus 1.
  std::size_t owner = 0;
};

/// The declarations of a file, in the order of their beginnings; they do not overlap. If the
/// branches of an #if divide a declaration, it extends over all of them. An unfinished declaration
/// at the end is left out.
std::vector<Declaration> split_declarations(std::span<const Token> tokens);

/// Determines which declarations of a source and its headers the device code needs: those with
/// __global__, __device__, __constant__ or __managed__, and all whose names these use, directly or
/// indirectly. Names are compared without their scopes, so some that are not needed are kept. Of
/// the member functions of a class, those of the host are removed, too.
///
/// A narrower set are the declarations that a kernel or a variable reaches. The others are kept as
/// long as they compile: code that no kernel reaches cannot be an error.
class DeviceCode {
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
  /// Removes what the line of `text`, which was added, has of declarations that no kernel reaches,
  /// and of functions without specifiers, which only the CPU back end accepts in kernels. Returns
  /// whether it removed anything. Lines count from 1.
  bool remove_unreached(std::string_view text, int line);
  /// As remove_unreached(), for the declarations that use a name.
  bool remove_users(std::string_view name);
  /// As remove_unreached(), for the declaration around an offset; false if a kernel reaches it.
  bool remove_unreached_at(std::string_view text, std::size_t offset);
  /// How a kernel reaches the function around an offset of `text`: "kernel k calls f, which calls
  /// g"; "" where that is the kernel itself or cannot be determined.
  std::string way_to(std::string_view text, std::size_t offset) const;
  /// `text`, which was added, with host code and removed declarations replaced by blanks. Lines,
  /// columns and directives stay.
  std::string without_host_code(std::string_view text) const;

 private:
  using Names = std::set<std::string_view>;
  struct SourceFile {
    std::string_view text;
    std::vector<Token> tokens;
    std::vector<Declaration> declarations;  // each class is followed by its member functions
    std::vector<bool> removed{};            // for each of them
  };
  using Graph = std::map<std::string_view, Names>;

  void add_macros(const std::vector<Token>& tokens);
  Names specifiers(const SourceFile& file, const Declaration& declaration) const;
  bool is_device(const SourceFile& file, const Declaration& declaration) const;
  bool is_host(const SourceFile& file, const Declaration& declaration) const;
  void find_host_functions();
  void add_uses(const SourceFile& file, std::size_t index);
  void reach(const Names& roots, const Graph& uses, Names& reached) const;
  template <class Body>
  void for_each(const Body& body) const;
  bool is_kept(const SourceFile& file, const Declaration& declaration) const;
  bool is_needed(const SourceFile& file, const Declaration& declaration) const;
  SourceFile* find_file(std::string_view text);
  const SourceFile* find_file(std::string_view text) const;
  static std::vector<std::size_t> around(const SourceFile& file, std::size_t token);
  bool remove_at(SourceFile& file, std::size_t token, bool may_lack_specifiers);

  std::vector<SourceFile> files_;
  Graph macros_;  // name -> identifiers of its body
  Graph uses_;    // declared name -> identifiers of its declarations
  // The same without the bodies of member functions, which are entries of their own.
  Graph needs_;
  Names roots_, reached_, device_functions_, host_functions_;
  Names needed_roots_, needed_, kernels_;
};

/// Whether `name` belongs to a library of the CUDA toolkit that host code calls. In place of such a
/// header the shim has declarations of the library's types.
bool is_cuda_library_header(std::string_view name);
/// Whether `name` belongs to a library that host code alone calls, CUDA's or another.
bool is_host_library_header(std::string_view name);
/// Whether `name` is a header of libcu++ or Thrust, which CCCL contains and host compilers accept.
bool is_cccl_header(std::string_view name);
/// Whether `name` is a header of the C library or of POSIX.
bool is_c_header(std::string_view name);
/// Whether `name` is a small header of the C++ library that compiles after the shim's own headers.
bool can_follow_shim(std::string_view name);
/// Whether `name` is a macro or a type of the C library that nvcc's implicit headers declare, or a
/// keyword that nvcc takes and NVRTC does not.
bool is_implicit_name(std::string_view name);
/// Whether `name` is a header of the C++17 library that the shim does not replace.
bool is_cpp_header(std::string_view name);

/// An #include directive.
struct Include {
  std::string name;  ///< "" for other directives, and if a macro names the header
  std::string path;  ///< of a header of the user; "" for other headers
  bool is_include = false;
  bool is_quoted = false;
};

/// Reads a directive, without looking for the header.
Include read_include(std::string_view directive);

/// The user's headers that a source includes, directly or indirectly: those that are found beside
/// the including file or in the include folders.
class IncludedFiles {
 public:
  /// Headers for which `is_replaced` is true are only looked for beside the including file.
  IncludedFiles(std::vector<std::string> include_dirs, bool (*is_replaced)(std::string_view))
      : include_dirs_(std::move(include_dirs)), is_replaced_(is_replaced) {}

  /// Adds `text`, a source in `folder` that outlives this object, and its headers to device_code(),
  /// and resolves that. To be called once, after device_code() got its roots.
  void add_main(std::string_view text, const std::string& folder);
  DeviceCode& device_code() noexcept { return device_code_; }
  const DeviceCode& device_code() const noexcept { return device_code_; }

  /// Reads a directive of a file in `folder`.
  Include read_include(std::string_view directive, const std::string& folder) const;
  /// The contents of a user's header. Throws DeviceError if it cannot be read, or if the headers
  /// together are too large.
  const std::string& text_of(const std::string& path);

 private:
  void collect(std::string_view text, const std::string& folder, bool is_whole);
  std::string find(std::string_view name, bool is_quoted, const std::string& folder) const;

  std::vector<std::string> include_dirs_;
  bool (*is_replaced_)(std::string_view);
  DeviceCode device_code_;
  std::map<std::string, std::string> texts_;  // path -> contents
  std::size_t bytes_ = 0;                     // of texts_
  std::map<std::string, bool> collected_;     // path -> added as a whole
};

/// The contents of a file. Throws DeviceError if it cannot be read.
std::string read_whole_file(const std::string& path);

}  // namespace spanwise::parse
