// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/options.hpp"

#include <algorithm>
#include <string_view>

#include "core/string_utils.hpp"
#include "source/source_lines.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// Options of NVRTC 13.0 and nvcc 13.0 that affect only GPU code, without their leading dashes. They
// are ignored.
constexpr std::string_view gpu_only =
    "lineinfo generate-line-info G device-debug dopt dlto Ofast-compile ofast-compile ewp "
    "extra-device-vectorization modify-stack-limit default-device "
    "device-as-default-execution-space rdc relocatable-device-code dc device-c dw device-w "
    "astoolspatch maxrregcount ftz prec-sqrt prec-div w disable-warnings "
    "Wno-deprecated-gpu-targets diag-suppress diag-error diag-warn restrict "
    "extensible-whole-program split-compile fdevice-time-trace minimal no-cache frandom-seed "
    "jump-table-density no-source-include builtin-move-forward builtin-initializer-list "
    "version-ident brief-diagnostics err-no";
// The same, with a value after '=' or as the next argument.
constexpr std::string_view gpu_only_with_value =
    "arch gpu-architecture code gpu-code gencode generate-code";
constexpr std::string_view gpu_tools = "Xptxas ptxas-options Xnvlink";

class Translator {
 public:
  explicit Translator(std::span<const std::string> options) : options_(options) {}

  HostOptions run() {
    while (next_ < options_.size()) translate(options_[next_++]);
    return std::move(result_);
  }

 private:
  void translate(const std::string& option) {
    if (option.empty()) return;
    if (option[0] != '-')
      fail<ArgumentError>("cpu: option '", option, "' is none; expected one that begins with '-'");
    // -D, -U and -I take a value that follows directly or is the next argument.
    for (const std::string_view prefix : {"-D", "-U", "-I"}) {
      if (!option.starts_with(prefix) || option.starts_with("--")) continue;
      const std::string value = option.size() > 2 ? option.substr(2) : word_after(option);
      return preprocess(prefix[1], value);
    }
    const std::size_t dashes = option.starts_with("--") ? 2 : 1;
    const std::size_t equals = option.find('=');
    const std::string name =
        option.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
    value_ = equals == std::string::npos ? "" : option.substr(equals + 1);
    has_value_ = equals != std::string::npos;
    if (!take_preprocessing(name, option) && !take_language(name, option) && !drop(name, option))
      fail<ArgumentError>(
          "cpu: option '", option,
          "' is unknown; expected -D, -U, -I, -std=, -O0 to -O3, -g, --pre-include, "
          "-fmad, --use_fast_math, or one that only concerns GPU code");
  }

  std::string word_after(const std::string& option) {
    if (next_ >= options_.size())
      fail<ArgumentError>("cpu: option '", option, "' lacks its value; expected one more word");
    return options_[next_++];
  }
  std::string value(const std::string& option) { return has_value_ ? value_ : word_after(option); }

  void preprocess(char kind, const std::string& what) {
    if (kind == 'I') {
      result_.include_dirs.push_back(what);
    } else if (kind == 'U') {
      result_.directives.push_back(source::undefine_line(what));
    } else {
      result_.directives.push_back(source::define_line(what));
    }
  }

  bool take_preprocessing(const std::string& name, const std::string& option) {
    if (name == "define-macro") return preprocess('D', value(option)), true;
    if (name == "undefine-macro") return preprocess('U', value(option)), true;
    if (name == "include-path") return preprocess('I', value(option)), true;
    if (name == "isystem" || name == "iquote" || name == "system-include")
      return preprocess('I', value(option)), true;
    if (name == "pre-include" || name == "include")
      return result_.pre_includes.push_back(value(option)), true;
    return false;
  }

  bool take_language(const std::string& name, const std::string& option) {
    if (name == "std") {
      const std::string standard = value(option);
      // The shim needs C++17; older standards are replaced by it.
      const bool older =
          standard == "c++03" || standard == "c++98" || standard == "c++11" || standard == "c++14";
      result_.language = "-std=" + (older ? std::string("c++17") : standard);
    } else if (name == "fmad") {
      const std::string allowed = value(option);
      if (allowed == "false" || allowed == "0") result_.flags.emplace_back("-ffp-contract=off");
    } else if (name == "use_fast_math") {
      // CUDA's option relaxes division and square root, but keeps NaN and infinity, which
      // -ffast-math would not.
      result_.flags.emplace_back("-freciprocal-math");
    } else if (name.size() <= 2 && (name[0] == 'O' || name == "g")) {
      result_.flags.push_back("-" + name);
    } else {
      return false;
    }
    return true;
  }

  bool drop(const std::string& name, const std::string& option) {
    if (is_word_of(name, gpu_only_with_value) || is_word_of(name, gpu_tools)) {
      value(option);
      return true;
    }
    return is_word_of(name, gpu_only);
  }

  std::span<const std::string> options_;
  std::size_t next_ = 0;
  std::string value_;
  bool has_value_ = false;
  HostOptions result_;
};

}  // namespace

HostOptions translate_options(std::span<const std::string> options,
                              std::span<const std::string> include_dirs) {
  HostOptions result = Translator(options).run();
  result.include_dirs.insert(result.include_dirs.end(), include_dirs.begin(), include_dirs.end());
  return result;
}

}  // namespace spanwise::cpu_backend
