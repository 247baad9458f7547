// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/options.hpp"

#include <string_view>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

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

class OptionTranslator {
 public:
  explicit OptionTranslator(std::span<const std::string> options) : words_(options) {}

  HostOptions run() {
    while (words_.next()) translate();
    return std::move(result_);
  }

 private:
  void translate() {
    const std::string& option = words_.option();
    if (option[0] != '-')
      fail<ArgumentError>("cpu: option '", option, "' does not begin with '-'; expected an option");
    if (!read_preprocessor_option(words_, result_) && !try_translate() && !try_skip())
      fail<ArgumentError>(
          "cpu: option '", option,
          "' is unknown; expected -D, -U, -I, -std=, -O0 to -O3, -g, --pre-include, "
          "-fmad, --use_fast_math, or one that only concerns GPU code");
  }

  // Translates an option for the language or the optimization; returns false for any other.
  bool try_translate() {
    const std::string_view name = words_.name();
    if (const auto standard = words_.value_of({"std"})) {
      // The shim needs C++17, which replaces older standards.
      const bool is_older = is_one_of(*standard, {"c++03", "c++98", "c++11", "c++14"});
      result_.language = "-std=" + (is_older ? std::string("c++17") : *standard);
    } else if (const auto allowed = words_.value_of({"fmad"})) {
      if (is_one_of(*allowed, {"false", "0"})) result_.flags.emplace_back("-ffp-contract=off");
    } else if (name == "use_fast_math") {
      // CUDA's option relaxes division and square root, but keeps NaN and infinity, which
      // -ffast-math would not.
      result_.flags.emplace_back("-freciprocal-math");
    } else if (name.size() <= 2 && (name.starts_with('O') || name == "g")) {
      result_.flags.push_back(text("-", name));
    } else {
      return false;
    }
    return true;
  }

  // Skips an option, and its value, that concerns only GPU code; returns false for any other.
  bool try_skip() {
    const std::string_view name = words_.name();
    const bool has_value = is_word_of(name, gpu_only_with_value) || is_word_of(name, gpu_tools);
    if (has_value) words_.value();
    return has_value || is_word_of(name, gpu_only);
  }

  parse::OptionReader words_;
  HostOptions result_;
};

}  // namespace

HostOptions translate_options(std::span<const std::string> options,
                              std::span<const std::string> include_dirs) {
  HostOptions result = OptionTranslator(options).run();
  result.include_dirs.insert(result.include_dirs.end(), include_dirs.begin(), include_dirs.end());
  return result;
}

}  // namespace spanwise::cpu_backend
