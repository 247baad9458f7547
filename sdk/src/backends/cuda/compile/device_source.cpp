// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/device_source.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "backends/cuda/compile/default_options.hpp"
#include "embedded/rtc_replaced_headers.hpp"
#include "parse/header_names.hpp"
#include "parse/included_files.hpp"
#include "parse/source_lines.hpp"

namespace spanwise::cuda {
namespace {

namespace fs = std::filesystem;
using parse::c_literal;
using parse::Include;
using parse::Token;

// The folders of the translated options, which are all written as -I<folder>, and of include_dirs.
std::vector<std::string> folders_of(const runtime::CompileRequest& request,
                                    const CompileOptions& options) {
  std::vector<std::string> folders;
  for (const std::string& word : options.arguments)
    if (word.starts_with("-I")) folders.push_back(word.substr(2));
  folders.insert(folders.end(), request.include_dirs.begin(), request.include_dirs.end());
  return folders;
}

bool never_replaced(std::string_view) { return false; }

bool is_sample_header(std::string_view name) {
  return std::any_of(embedded::rtc_replaced_headers.begin(), embedded::rtc_replaced_headers.end(),
                     [&](const embedded::TextFile& file) { return file.name == name; });
}

// Removes host code from a source and its headers.
class HostCodeRemoval {
 public:
  HostCodeRemoval(std::vector<std::string> folders, const std::vector<fs::path>& toolkit)
      : files_(std::move(folders), never_replaced), toolkit_(toolkit) {
    const RtcHeaders known = rtc_headers(!toolkit.empty());
    known_to_nvrtc_.insert(known.names.begin(), known.names.end());
  }

  void add_names(std::string_view text) {
    for (const Token& token : parse::lex(text))
      if (token.kind == Token::Kind::identifier) files_.device_code().add_root(token.text);
  }

  // Nothing if the source has no function of the host and no header or type that NVRTC lacks: its
  // error then is in device code, even if no kernel uses that code.
  std::optional<DeviceSource> apply(const parse::KernelSource& source) {
    const std::string folder = ".";
    files_.add_main(source.text, folder);
    DeviceSource result{source, {}};
    result.source.text = rewritten(source.text, folder);
    if (!lacks_header_ && !files_.device_code().has_host_functions()) return {};
    result.source.text = text("#include \"spanwise_nvcc.h\"\n#line 1 ", c_literal(source.file_name),
                              "\n", result.source.text);
    for (auto& [path, header] : headers_)
      result.headers.emplace_back(std::move(header.name), std::move(header.text));
    for (const embedded::TextFile& file : embedded::rtc_replaced_headers)
      result.headers.emplace_back(file.name, file.text);
    return result;
  }

 private:
  struct Header {
    std::string name, text;
  };

  // Names in a file that decide about its headers.
  struct Uses {
    bool std_names = false;
    bool driver_types = false;  // such as CUtensorMap
    bool glibc_types = false;   // such as uint, which nvcc's implicit headers declare
  };
  static Uses uses_of(const std::vector<Token>& tokens) {
    Uses uses;
    for (const Token& token : tokens) {
      const std::string_view name = token.text;
      if (token.kind != Token::Kind::identifier) continue;
      uses.std_names |= name == "std";
      uses.glibc_types |= name == "uint" || name == "ushort" || name == "ulong";
      uses.driver_types |=
          name.starts_with("CU") && name.size() > 2 && name[2] >= 'a' && name[2] <= 'z';
    }
    return uses;
  }

  std::string rewritten(std::string_view original, const std::string& folder) {
    std::string text = files_.device_code().without_host_code(original);
    const std::vector<Token> tokens = parse::lex(text);
    const Uses uses = uses_of(tokens);
    lacks_header_ |= uses.glibc_types;
    std::string out;
    std::size_t copied = 0;
    for (const Token& token : tokens) {
      if (token.kind != Token::Kind::directive) continue;
      const Include include = files_.read_include(token.text, folder);
      if (!include.is_include || include.name.empty()) continue;
      out.append(text, copied, token.offset - copied);
      out += replacement(include, uses).value_or(std::string(token.text));
      copied = token.offset + token.text.size();
    }
    return out.append(text, copied);
  }

  // The text in place of a directive; nothing if the directive stays.
  std::optional<std::string> replacement(const Include& include, const Uses& uses) {
    const std::string& name = include.name;
    if (!include.path.empty()) return "#include " + c_literal(header_name(include.path));
    // The driver's functions have parameters called N, which sources and options define as macros.
    if (name == "cuda.h") return uses.driver_types ? std::nullopt : std::optional<std::string>("");
    if (known_to_nvrtc_.contains(name)) return {};
    // The whole of CUB has host code; its primitives of blocks and warps have none.
    if (name == "cub/cub.cuh" || name.starts_with("cub/device/")) {
      lacks_header_ = true;
      return "#include \"spanwise_cub.h\"";
    }
    const bool is_sample = is_sample_header(name), is_cpp = parse::is_cpp_header(name);
    if (!is_sample && !is_cpp && !parse::is_c_header(name) && !is_host_only(name)) return {};
    lacks_header_ = true;
    if (is_sample) return {};
    if (name.starts_with("cublas") && !toolkit_.empty()) return "#include \"spanwise_cublas.h\"";
    return is_cpp && uses.std_names ? libcudacxx_include(name) : "";
  }

  std::string header_name(const std::string& path) {
    const auto [entry, is_new] = headers_.try_emplace(path);
    // Registered before it is read, because headers may include one another cyclically.
    if (is_new) {
      entry->second.name = text("spanwise_device_", headers_.size(), ".h");
      std::string contents = rewritten(files_.text_of(path), fs::path(path).parent_path().string());
      headers_.at(path).text = text("#line 1 ", c_literal(path), "\n", contents, "\n");
    }
    return headers_.at(path).name;
  }

  // The directive for the header of libcu++ in place of that of the C++ library, with its names in
  // namespace std; "" if the toolkit has no such header.
  std::string libcudacxx_include(const std::string& name) {
    std::error_code error;
    const fs::path file = fs::path("cuda") / "std" / name;
    const auto has_file = [&](const fs::path& folder) {
      return fs::is_regular_file(folder / file, error);
    };
    if (std::ranges::none_of(toolkit_, has_file)) return "";
    Header& header = headers_[file.string()];
    header.name = "spanwise_std_" + name;
    header.text = text("#include <", file.string(), ">\n",
                       "namespace std { using namespace ::cuda::std; }\n");
    return "#include " + c_literal(header.name);
  }

  // CUB and Thrust also serve kernels.
  static bool is_host_only(const std::string& name) {
    return parse::is_host_library_header(name) && !name.starts_with("cub/") &&
           !name.starts_with("thrust/");
  }

  parse::IncludedFiles files_;
  const std::vector<fs::path>& toolkit_;
  std::set<std::string, std::less<>> known_to_nvrtc_;
  std::map<std::string, Header> headers_;  // path -> rewritten header
  bool lacks_header_ = false;
};

}  // namespace

std::optional<DeviceSource> without_host_code(const runtime::CompileRequest& request,
                                              const parse::KernelSource& source,
                                              const CompileOptions& options,
                                              const std::vector<fs::path>& toolkit) {
  HostCodeRemoval removal(folders_of(request, options), toolkit);
  for (const std::string& expression : request.names) removal.add_names(expression);
  for (const std::string& directive : options.directives) removal.add_names(directive);
  if (&source != request.source) removal.add_names(request.source->text);
  for (const parse::KernelSource& linked : request.linked)
    if (&source != &linked && !linked.is_compiled) removal.add_names(linked.text);
  return removal.apply(source);
}

}  // namespace spanwise::cuda
