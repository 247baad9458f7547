// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/include_closure.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kernels/cache/device_headers.hpp"
#include "kernels/cache/sha256.hpp"
#include "kernels/directive.hpp"
#include "parse/option_reader.hpp"
#include "parse/source_scan.hpp"

namespace spanwise::kernels {
namespace {

namespace fs = std::filesystem;

parse::PreprocessorOptions read_options(std::span<const std::string> options,
                                         std::span<const std::string> include_dirs) {
  parse::PreprocessorOptions out;
  out.include_dirs.assign(include_dirs.begin(), include_dirs.end());
  for (parse::OptionReader reader(options); reader.next();) read_preprocessor_option(reader, out);
  return out;
}

class ClosureSearch {
 public:
  explicit ClosureSearch(parse::PreprocessorOptions options) : options_(std::move(options)) {}

  IncludeClosure run(std::string_view source) {
    // Fast path: most kernels include nothing.
    const bool includes =
        source.find("include") != source.npos || source.find("import") != source.npos;
    if (!includes && options_.pre_includes.empty()) return {};
    // Compilers look up a quoted name in the including file's folder; for source without a file, in
    // the current directory.
    for (const std::string& file : options_.pre_includes)
      resolve({file, HeaderName::Quoting::quoted}, ".");
    for (const std::string& directive : options_.directives) scan(directive, ".");
    scan(source, ".");
    read_unread_files();
    resolve_computed();
    return std::move(closure_);
  }

 private:
  void scan(std::string_view text, const std::string& folder) {
    IncludeDirectives directives = read_directives(text);
    for (auto& macro : directives.macros)
      macros_.emplace(std::move(macro.name), std::move(macro.header));
    for (HeaderName& header : directives.includes) {
      if (header.text.empty()) {
        closure_.complete = false;
      } else if (header.quoting == HeaderName::Quoting::macro) {
        computed_.emplace(std::move(header.text), folder);
      } else {
        resolve(header, folder);
      }
    }
  }

  void resolve(const HeaderName& header, const std::string& folder) {
    closure_.wants_device_headers |= header.text.starts_with(device_header_prefix);
    if (header.quoting == HeaderName::Quoting::quoted) add_file(fs::path(folder) / header.text);
    for (const std::string& dir : options_.include_dirs) add_file(fs::path(dir) / header.text);
    if (fs::path(header.text).is_absolute()) add_file(header.text);
  }

  void add_file(const fs::path& path) {
    std::string absolute = fs::absolute(path).lexically_normal().string();
    if (seen_.insert(absolute).second) unread_.push_back(std::move(absolute));
  }

  void read_unread_files() {
    while (!unread_.empty()) {
      const std::string path = std::move(unread_.front());
      unread_.pop_front();
      read(path);
    }
  }

  void read(const std::string& path) {
    const auto file = read_file(path);
    closure_.probes.push_back({path, file ? file->stamp : stamp_of(path)});
    if (!file) return;
    closure_.files.push_back({path, sha256(file->contents)});
    closure_.declares_variables |= parse::declares_variables(file->contents);
    scan(file->contents, fs::path(path).parent_path().string());
  }

  // Resolves includes by macro: all values that the macro has anywhere, recursively. Files found
  // that way may define more.
  void resolve_computed() {
    std::set<std::pair<std::string, std::string>> done;
    while (!computed_.empty()) {
      const auto [name, folder] = *computed_.begin();
      computed_.erase(computed_.begin());
      if (!done.emplace(name, folder).second) continue;
      const auto [first, last] = macros_.equal_range(name);
      if (first == last) closure_.complete = false;
      for (auto value = first; value != last; ++value) {
        if (value->second.quoting == HeaderName::Quoting::macro) {
          computed_.emplace(value->second.text, folder);
        } else {
          resolve(value->second, folder);
        }
      }
      read_unread_files();
    }
  }

  parse::PreprocessorOptions options_;
  IncludeClosure closure_;
  std::deque<std::string> unread_;
  std::set<std::string> seen_;
  std::multimap<std::string, HeaderName> macros_;
  std::set<std::pair<std::string, std::string>> computed_;
};

}  // namespace

void IncludeClosure::merge(IncludeClosure other) {
  std::move(other.files.begin(), other.files.end(), std::back_inserter(files));
  std::move(other.probes.begin(), other.probes.end(), std::back_inserter(probes));
  complete &= other.complete;
  wants_device_headers |= other.wants_device_headers;
  declares_variables |= other.declares_variables;
}

bool IncludeClosure::unchanged() const noexcept {
  return std::ranges::all_of(
      probes, [](const Probe& probe) { return stamp_of(probe.path) == probe.stamp; });
}

IncludeClosure find_includes(std::string_view source, std::span<const std::string> options,
                             std::span<const std::string> include_dirs) {
  return ClosureSearch(read_options(options, include_dirs)).run(source);
}

}  // namespace spanwise::kernels
