// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/preprocessor.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "backends/cpu/jit/process.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "core/string_utils.hpp"
#include "parse/device_code.hpp"
#include "parse/lexer.hpp"
#include "runtime/files.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::cpu_backend {
namespace {

namespace fs = std::filesystem;
using parse::c_literal;
using parse::Token;

// The name of the file in which the text before the user's ends.
constexpr std::string_view options_file = "options";

// Finds the headers that a source includes, directly or indirectly, whatever the conditions are.
class HeaderSearch {
 public:
  explicit HeaderSearch(std::vector<std::string> folders)
      : files_(std::move(folders), is_cuda_header) {}

  // Whether the preprocessor has more to do than to include headers that stay directives, and to
  // replace names by constants.
  bool needs_preprocessor(std::string_view text) const {
    return std::ranges::any_of(parse::lex(text), [&](const Token& token) {
      return token.kind == Token::Kind::directive && is_needed_for(token.text);
    });
  }

  void scan(std::string_view text, const std::string& folder) {
    for (const Token& token : parse::lex(text)) {
      if (token.kind != Token::Kind::directive) continue;
      const parse::Include include = files_.read_include(token.text, folder);
      if (include.path.empty()) {
        if (is_left_to_compiler(include.name)) names_.insert(include.name);
      } else if (seen_.insert(include.path).second) {
        scan(files_.text_of(include.path), fs::path(include.path).parent_path().string());
      }
    }
  }

  // Names of headers that the text which is compiled includes.
  const std::set<std::string>& names() const noexcept { return names_; }

 private:
  bool is_needed_for(std::string_view directive) const {
    const std::vector<Token> words = parse::lex(directive.substr(1));
    if (words.empty() || words[0].text == "pragma" || words[0].text == "line") return false;
    if (words[0].text == "include") {
      const parse::Include include = files_.read_include(directive, ".");
      return include.name.empty() || !include.path.empty();
    }
    if (words[0].text != "define" || words.size() < 3) return true;
    static constexpr std::string_view types =
        "bool char short int long unsigned signed float double";
    return !std::all_of(words.begin() + 2, words.end(), [&](const Token& word) {
      const bool is_name = word.kind == Token::Kind::identifier;
      return is_name ? is_word_of(word.text, types) : word.kind != Token::Kind::directive;
    });
  }
  static bool is_left_to_compiler(const std::string& name) {
    return shim_header(name) || parse::is_host_library_header(name) ||
           parse::is_cccl_header(name) || parse::is_c_header(name) || parse::is_cpp_header(name);
  }

  parse::IncludedFiles files_;
  std::set<std::string> seen_, names_;
};

// A line marker: # 12 "kernel.cu" 1 3
struct LineMarker {
  int line = 1;
  std::string file;
  bool enters = false, is_system = false;
};

std::optional<LineMarker> read_marker(std::string_view line) {
  if (!line.starts_with("# ")) return {};
  line.remove_prefix(2);
  const std::optional<int> number = take_number<int>(line);
  const std::size_t open = line.find('"'), close = line.rfind('"');
  if (!number || open == line.npos || close <= open) return {};
  LineMarker marker{*number, {}, false, false};
  for (std::size_t i = open + 1; i < close; ++i) {
    if (line[i] == '\\') ++i;
    marker.file += line[i];
  }
  const std::string_view flags = line.substr(close + 1);
  marker.enters = flags.find('1') != flags.npos;
  marker.is_system = flags.find('3') != flags.npos;
  return marker;
}

// Reads the preprocessor's output: removes what precedes the user's text, the texts of headers of
// the system, and the markers.
class OutputReader {
 public:
  OutputReader(std::string folder, const std::string& file) : folder_(std::move(folder)) {
    result_.lines = parse::LineMap(file);
  }

  PreprocessedSource read(std::string_view output) {
    for (const std::string_view line : split(output, '\n')) {
      if (const auto marker = read_marker(line))
        enter(*marker);
      else if (has_started_ && !is_skipped_)
        append(line);
    }
    return std::move(result_);
  }

 private:
  void enter(const LineMarker& marker) {
    has_started_ |= marker.file == options_file;
    if (!has_started_) return;
    const bool is_stub = marker.file.starts_with(folder_);
    const bool is_system = marker.is_system && !is_stub;
    if (is_system && !is_system_) append(text("#include ", c_literal(marker.file)));
    is_system_ = is_system;
    is_skipped_ = is_system || marker.file.starts_with('<');
    if (!is_skipped_ && !is_stub)
      result_.lines.add({result_.text.size(), physical_, marker.line, marker.file});
  }

  void append(std::string_view line) {
    constexpr std::string_view stub = "#pragma sw_include ";
    if (line.starts_with(stub))
      result_.text.append("#include ").append(line.substr(stub.size()));
    else
      result_.text.append(line);
    result_.text += '\n';
    ++physical_;
  }

  std::string folder_;
  PreprocessedSource result_{{}, parse::LineMap(""), false, {}};
  int physical_ = 1;
  bool has_started_ = false, is_system_ = false, is_skipped_ = false;
};

// The macros of a header of the shim, without its declarations.
std::string macros_of(std::string_view header) {
  std::string out;
  for (const std::string_view line : split(shim_text(header), '\n'))
    if (line.starts_with('#') && !line.starts_with("#pragma") && !line.ends_with('\\'))
      out.append(line).append("\n");
  return out;
}

// CUDA's specifiers are defined, but stay as they are. Conditions see the constants that nvcc's
// implicit headers and those of CUB define, and those of the headers `included`: headers stay
// directives, and a name that is not defined would be 0, or be defined by the user's text with
// another value.
void write_prelude(const std::set<std::string>& included, std::string& out) {
  out += "#include \"spanwise_predefined.h\"\n" + macros_of("limits.h") + macros_of("math.h") +
         macros_of("float.h");
  if (included.contains("stdint.h") || included.contains("cstdint") ||
      included.contains("inttypes.h") || included.contains("cinttypes"))
    out += macros_of("stdint.h");
  out +=
      "#define RAND_MAX 2147483647\n"
      "#define __WORDSIZE __INTPTR_WIDTH__\n"
      "#define __LITTLE_ENDIAN 1234\n"
      "#define __BIG_ENDIAN 4321\n"
      "#define __PDP_ENDIAN 3412\n"
      "#define __BYTE_ORDER __BYTE_ORDER__\n"
      "#define LITTLE_ENDIAN __LITTLE_ENDIAN\n"
      "#define BIG_ENDIAN __BIG_ENDIAN\n"
      "#define PDP_ENDIAN __PDP_ENDIAN\n"
      "#define BYTE_ORDER __BYTE_ORDER\n";
  for (const char* word :
       {"__host__", "__global__", "__device__", "__constant__", "__managed__", "__shared__",
        "__grid_constant__", "__launch_bounds__", "__cluster_dims__", "__forceinline__",
        "__noinline__", "__align__", "__builtin_align__"})
    out += text("#define ", word, " ", word, "\n");
}

}  // namespace

PreprocessedSource preprocess(const parse::KernelSource& source, const parse::HostOptions& options,
                              const std::vector<std::string>& compiler) {
  HeaderSearch headers(options.include_dirs);
  const std::string directives = joined(options.directives, "\n");
  if (options.pre_includes.empty() && !headers.needs_preprocessor(directives) &&
      !headers.needs_preprocessor(source.text))
    return {source.text, parse::LineMap(source.file_name), true, {}};
  std::string text_before;
  text_before += text("#line 1 ", c_literal(options_file), "\n", directives, "\n");
  for (const std::string& file : options.pre_includes)
    text_before += text("#include ", c_literal(file), "\n");
  headers.scan(text_before, ".");
  headers.scan(source.text, ".");

  // Headers of the shim and of the toolkit precede the user's folders, all others follow them.
  const runtime::TemporaryFolder folder;
  folder.write("spanwise_predefined.h", shim_text("spanwise_predefined.h"));
  for (const std::string& name : headers.names())
    folder.write(text(is_cuda_header(name) ? "first/" : "last/", name),
                 text("#pragma sw_include <", name, ">\n"));
  std::string prelude;
  write_prelude(headers.names(), prelude);
  const std::string input = folder.write(
      "main/source.cpp",
      text(prelude, text_before, "#line 1 ", c_literal(source.file_name), "\n", source.text, "\n"));
  const std::string output = folder.path() + "/source.ii";
  std::vector<std::string> command = compiler;
  const auto add = [&](std::initializer_list<std::string> words) {
    command.insert(command.end(), words);
  };
  // A quoted header of the source is looked for in the current folder.
  add({"-E", "-iquote", ".", "-iquote", folder.path(), "-I", folder.path() + "/first"});
  for (const std::string& include_dir : options.include_dirs) add({"-I", include_dir});
  add({"-isystem", folder.path() + "/last", input, "-o", output});
  const ProcessResult result = run_process(command, folder.path());
  if (result.exit_code == 0)
    return OutputReader(folder.path(), source.file_name).read(parse::read_whole_file(output));
  PreprocessedSource failed{source.text, parse::LineMap(source.file_name), false, result.output};
  if (failed.log.empty()) failed.log = "the preprocessor failed";
  return failed;
}

}  // namespace spanwise::cpu_backend
