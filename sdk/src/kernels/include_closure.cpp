// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/include_closure.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/string_utils.hpp"
#include "embedded/device_headers.hpp"
#include "kernels/sha256.hpp"
#include "parse/compiler_options.hpp"
#include "parse/kernel_source.hpp"

namespace spanwise::kernels {

const std::string& device_headers_digest() {
  static const auto& digest = *new std::string([] {
    Sha256 hash;
    for (const embedded::TextFile& header : embedded::device_headers) {
      hash.field(header.name);
      hash.field(header.text);
    }
    return hash.hex();
  }());
  return digest;
}

DeviceHeaderFolder::DeviceHeaderFolder() {
  for (const embedded::TextFile& header : embedded::device_headers)
    folder_.write(std::string(device_header_prefix).append(header.name), header.text);
}

namespace {

FileStamp stamp_from(const struct stat& status) noexcept {
  if (!S_ISREG(status.st_mode)) return {};
  constexpr std::int64_t second = 1'000'000'000;
  return {.exists = true,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
}

}  // namespace

FileStamp stamp_of(const std::string& path) noexcept {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? stamp_from(status) : FileStamp{};
}

namespace {

struct StampedFile {
  FileStamp stamp;
  std::string contents;
};

// Reads a regular file, with its stamp when it was opened; nullopt where it cannot be read.
std::optional<StampedFile> read_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const runtime::FileDescriptor file(runtime::uninterrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  auto contents = runtime::read_all(file);
  if (!contents) return std::nullopt;
  return StampedFile{stamp_from(status), std::move(*contents)};
}

// The header named by a directive.
struct HeaderName {
  std::string text;  ///< the text between quotes or brackets, or a macro's name
  enum class Quoting { quoted, bracketed, macro } quoting = Quoting::quoted;
};

// The references to other files in a source's preprocessor directives.
struct IncludeDirectives {
  std::vector<HeaderName> includes;  ///< of #include, #include_next, #import and __has_include
  struct Macro {
    std::string name;
    HeaderName header;
  };
  std::vector<Macro> macros;  ///< object-like macros whose value is a header's name
};

// A directive as one line: joins continued lines and removes comments, except inside quotes, where
// "//" is part of a path.
std::string without_comments(std::string_view text) {
  std::string out;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\\\n")) {
      i += 1;
    } else if (rest.starts_with("\\\r\n")) {
      i += 2;
    } else if (!is_quoted && rest.starts_with("//")) {
      break;
    } else if (!is_quoted && rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) break;
      out += ' ';
      i += end + 1;
    } else {
      is_quoted ^= text[i] == '"';
      out += text[i];
    }
  }
  return out;
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  std::size_t size = 0;
  while (size < text.size() && is_word_character(text[size])) ++size;
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

// `text` as a header name: "x", <x> or an identifier; empty text where it is none of them.
HeaderName parse_header_name(std::string_view text) {
  text = trimmed(text);
  const char first = text.empty() ? char{0} : text.front();
  if (first == '"' || first == '<') {
    const std::size_t end = text.find(first == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos) return {};
    return {std::string(text.substr(1, end - 1)),
            first == '"' ? HeaderName::Quoting::quoted : HeaderName::Quoting::bracketed};
  }
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  rest = trimmed(rest);
  // An object-like MACRO can be resolved, also in __has_include(MACRO); MACRO(x) cannot.
  if (word.empty() || rest.starts_with('(')) return {};
  return {std::string(word), HeaderName::Quoting::macro};
}

// Appends the headers that __has_include tests in the condition of an #if.
void read_has_include(std::string_view condition, std::vector<HeaderName>& out) {
  constexpr std::string_view name = "__has_include";
  for (std::size_t at = condition.find(name); at != std::string_view::npos;
       at = condition.find(name, at + 1)) {
    std::string_view rest = condition.substr(at + name.size());
    if (rest.starts_with("_next")) rest.remove_prefix(5);
    rest = trimmed(rest);
    if (!rest.starts_with('(')) continue;  // e.g. defined(__has_include)
    if (HeaderName header = parse_header_name(rest.substr(1)); !header.text.empty())
      out.push_back(std::move(header));
  }
}

void read_directive(std::string_view token, IncludeDirectives& out) {
  const std::string line = without_comments(token);
  std::string_view rest = trimmed(line);
  rest.remove_prefix(rest.starts_with('#') ? 1 : 0);
  const std::string_view word = take_word(rest);
  if (word == "include" || word == "include_next" || word == "import") {
    out.includes.push_back(parse_header_name(rest));
  } else if (word == "define") {
    const std::string_view name = take_word(rest);
    if (rest.starts_with('(')) return;
    HeaderName header = parse_header_name(rest);
    if (!header.text.empty()) out.macros.push_back({std::string(name), std::move(header)});
  } else if (word == "if" || word == "elif") {
    read_has_include(rest, out.includes);
  }
}

// Reads the directives of `source` without evaluating conditions.
IncludeDirectives read_directives(std::string_view source) {
  IncludeDirectives out;
  for (const parse::Token& token : parse::lex(source))
    if (token.kind == parse::Token::Kind::directive) read_directive(token.text, out);
  return out;
}

namespace fs = std::filesystem;

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
  parse::PreprocessorOptions read = parse::preprocessor_options(options);
  read.include_dirs.insert(read.include_dirs.begin(), include_dirs.begin(), include_dirs.end());
  return ClosureSearch(std::move(read)).run(source);
}

}  // namespace spanwise::kernels
