// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/compile_options.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

using namespace std::string_view_literals;

[[noreturn]] void refuse(std::string_view option, std::string_view reason) {
  fail<ArgumentError>("SourceModule: option \"", option,
                      "\" cannot be used for a CUDA device: ", reason);
}

// Options of nvcc and host compilers that NVRTC implies or that have no effect on kernels.
constexpr std::array ignored{"-O"sv, "-O1"sv, "-O2"sv, "-O3"sv, "-Wall"sv, "-Wextra"sv,
                             "-pedantic"sv, "--expt-relaxed-constexpr"sv,
                             "-expt-relaxed-constexpr"sv, "--extended-lambda"sv,
                             "-extended-lambda"sv, "--expt-extended-lambda"sv,
                             "-expt-extended-lambda"sv, "-m64"sv, "--machine=64"sv,
                             // The linker's inputs are compiled as relocatable code in any case.
                             "-rdc=true"sv, "-rdc=false"sv, "--relocatable-device-code=true"sv,
                             "--relocatable-device-code=false"sv};

constexpr std::array replaced{
    std::pair{"-O0"sv, "--ptxas-options=-O0"sv},
    std::pair{"-g"sv, "--generate-line-info"sv},
    std::pair{"-ffast-math"sv, "--use_fast_math"sv},
    std::pair{"-Ofast"sv, "--use_fast_math"sv},
    std::pair{"-ffp-contract=off"sv, "--fmad=false"sv},
    std::pair{"-ffp-contract=fast"sv, "--fmad=true"sv},
};

struct RefusedOption {
  std::string_view prefix, reason;
};
constexpr std::string_view one_device =
    "one module is compiled for one device; leave it out, or write -arch=sm_90a";
constexpr std::string_view host_processor = "it chooses a host processor; -arch chooses a GPU";
constexpr std::string_view host_compiler =
    "it is for a host compiler, and NVRTC has none; leave it out";
constexpr std::string_view ptx_format =
    "Spanwise chooses the output format; write -arch=compute_90 for PTX";
constexpr std::string_view several_sources =
    "sources that are passed as link= are compiled and linked like this without it; leave it out";
constexpr std::array refused{
    RefusedOption{"-gencode", one_device},
    RefusedOption{"--generate-code", one_device},
    RefusedOption{"-code", one_device},
    RefusedOption{"-dc", several_sources},
    RefusedOption{"-dlto", several_sources},
    RefusedOption{"-march", host_processor},
    RefusedOption{"-mtune", host_processor},
    RefusedOption{"-Xcompiler", host_compiler},
    RefusedOption{"--compiler-options", host_compiler},
    RefusedOption{"-ccbin", "it chooses a host compiler, and NVRTC has none; leave it out"},
    RefusedOption{"-fopenmp", "kernels have no OpenMP; leave it out"},
    RefusedOption{"-Werror", "NVRTC has no such option; leave it out"},
    RefusedOption{"-fsanitize",
                  "it instruments host code; run the program under compute-sanitizer instead"},
    RefusedOption{"-cubin", "Spanwise chooses the output format; leave it out"},
    RefusedOption{"--cubin", "Spanwise chooses the output format; leave it out"},
    RefusedOption{"-ptx", ptx_format},
    RefusedOption{"--ptx", ptx_format},
};

std::string without_gnu(std::string_view value) {
  if (value.starts_with("gnu++")) return text("c++", value.substr(5));
  return std::string(value);
}

std::optional<std::string> architecture_option(parse::OptionReader& reader) {
  return reader.value_of({"arch", "gpu-architecture"});
}

std::string checked_architecture(const std::string& value, int major, int minor) {
  const int device = major * 10 + minor;
  const bool is_native = value.starts_with("sm_"), is_virtual = value.starts_with("compute_");
  std::string_view suffix = std::string_view(value).substr(value.find('_') + 1);
  const int number = take_number<int>(suffix).value_or(0);
  const bool is_known_suffix = suffix.empty() || suffix == "a" || suffix == "f";
  // A cubin runs on devices of the same major version and the same or a newer minor version; PTX on
  // the same and all newer architectures. Variants with a suffix (a, f) must match the device's
  // number.
  const bool fits = number <= device && (suffix.empty() || number == device) &&
                    (is_virtual || number / 10 == major);
  if ((is_native || is_virtual) && number > 0 && is_known_suffix && fits) return value;
  refuse(text("-arch=", value),
         text("the device is sm_", device, "; write -arch=sm_", device, " or sm_", device,
              "a, or compute_", device, " or lower for PTX"));
}

void translate_option(parse::OptionReader& reader, CompileOptions& out) {
  const std::string& option = reader.option();
  if (std::ranges::find(ignored, option) != ignored.end()) return;
  for (const auto& [from, to] : replaced) {
    if (option == from) return out.arguments.emplace_back(to), void();
  }
  for (const auto& [prefix, reason] : refused) {
    if (option.starts_with(prefix)) refuse(option, reason);
  }
  const std::size_t folders = out.include_dirs.size();
  if (read_preprocessor_option(reader, out)) {
    if (out.include_dirs.size() > folders) out.arguments.push_back("-I" + out.include_dirs.back());
    return;
  }
  if (!option.starts_with('-')) refuse(option, "it is no option; options start with '-'");
  // NVRTC accepts values after '=' only.
  if (const auto value = reader.value_of({"Xptxas", "ptxas-options"}))
    out.arguments.push_back("--ptxas-options=" + *value);
  else if (const auto count = reader.value_of({"maxrregcount"}))
    out.arguments.push_back("--maxrregcount=" + *count);
  else if (const auto language = reader.value_of({"std"}))
    out.arguments.push_back("-std=" + without_gnu(*language));
  else
    out.arguments.push_back(option);
}

}  // namespace

int architecture_number(std::string_view architecture) {
  std::string_view digits = architecture.substr(architecture.find('_') + 1);
  return take_number<int>(digits).value_or(0);
}

CompileOptions translate_options(std::span<const std::string> options, int major, int minor) {
  CompileOptions result;
  result.architecture = text("sm_", major, minor);
  for (parse::OptionReader reader(options); reader.next();) {
    if (const auto architecture = architecture_option(reader))
      result.architecture = checked_architecture(*architecture, major, minor);
    else
      translate_option(reader, result);
  }
  return result;
}

std::string architecture_for(std::span<const std::string> options, int major, int minor) {
  std::string architecture;
  for (parse::OptionReader reader(options); reader.next();)
    if (auto value = architecture_option(reader)) architecture = *std::move(value);
  return architecture.empty() ? text("sm_", major, minor)
                              : checked_architecture(architecture, major, minor);
}

}  // namespace spanwise::cuda
