// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/compile_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/string_utils.hpp"
#include "source/source_lines.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda {
namespace {

using namespace std::string_view_literals;

[[noreturn]] void refuse(std::string_view option, std::string_view why) {
  fail<ArgumentError>("SourceModule: option \"", option,
                      "\" cannot be used for a CUDA device: ", why);
}

// Options with a value, given as -option=value or as the next argument, and the name that
// take_value() gets for them. NVRTC accepts only the form with '='.
constexpr std::array with_value{
    std::pair{"-D"sv, "-D"sv},
    std::pair{"--define-macro"sv, "-D"sv},
    std::pair{"-U"sv, "-U"sv},
    std::pair{"--undefine-macro"sv, "-U"sv},
    std::pair{"-I"sv, "-I"sv},
    std::pair{"-isystem"sv, "-I"sv},
    std::pair{"-iquote"sv, "-I"sv},
    std::pair{"--include-path"sv, "-I"sv},
    std::pair{"-include"sv, "-include"sv},
    std::pair{"--pre-include"sv, "-include"sv},
    std::pair{"-Xptxas"sv, "--ptxas-options="sv},
    std::pair{"--ptxas-options"sv, "--ptxas-options="sv},
    std::pair{"-maxrregcount"sv, "--maxrregcount="sv},
    std::pair{"--maxrregcount"sv, "--maxrregcount="sv},
    std::pair{"-std"sv, "-std="sv},
    std::pair{"--std"sv, "-std="sv},
};

// Options of nvcc and host compilers that NVRTC implies or that have no effect on kernels; they are
// ignored.
constexpr std::array dropped{"-O"sv, "-O1"sv, "-O2"sv, "-O3"sv, "-Wall"sv, "-Wextra"sv,
                             "-pedantic"sv, "--expt-relaxed-constexpr"sv,
                             "-expt-relaxed-constexpr"sv, "--extended-lambda"sv,
                             "-extended-lambda"sv, "--expt-extended-lambda"sv,
                             "-expt-extended-lambda"sv, "-m64"sv, "--machine=64"sv,
                             // Sources given by link= are compiled so by themselves.
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
  std::string_view prefix, why;
};
constexpr std::string_view one_device =
    "one module is compiled for one device; leave it out, or write -arch=sm_90a";
constexpr std::string_view host_processor = "it chooses a host processor; -arch chooses a GPU";
constexpr std::string_view host_compiler =
    "it is for a host compiler, and NVRTC has none; leave it out";
constexpr std::string_view ptx_format =
    "Spanwise chooses the output format; write -arch=compute_90 for PTX";
constexpr std::string_view several_sources =
    "sources given by link= are compiled so by themselves; leave it out";
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

struct OptionReader {
  std::span<const std::string> options;
  std::size_t next = 0;

  bool done() const { return next == options.size(); }
  std::string_view take() { return options[next++]; }
  std::string_view value_of(std::string_view option) {
    if (done()) refuse(option, "its value is missing");
    return take();
  }
};

bool has_joined_value(std::string_view option, std::string_view name) {
  if (!option.starts_with(name) || option.size() == name.size()) return false;
  // -DX=1, -I/path: short names take the value without '='.
  return option[name.size()] == '=' || name.size() == 2;
}

std::string_view joined_value(std::string_view option, std::string_view name) {
  option.remove_prefix(name.size());
  if (option.starts_with('=') && name.size() > 2) option.remove_prefix(1);
  return option;
}

std::string standard(std::string_view value) {
  if (value.starts_with("gnu++")) return text("c++", value.substr(5));
  return std::string(value);
}

// True if `option` is -arch or --gpu-architecture; `value` then receives its value.
bool is_architecture(std::string_view option, OptionReader& reader, std::string& value) {
  for (const std::string_view name : {"-arch"sv, "--gpu-architecture"sv}) {
    if (option == name) {
      value = reader.value_of(option);
      return true;
    }
    if (option.starts_with(name) && option[name.size()] == '=') {
      value = option.substr(name.size() + 1);
      return true;
    }
  }
  return false;
}

std::string checked_architecture(const std::string& value, int major, int minor) {
  const int ours = major * 10 + minor;
  const bool is_native = value.starts_with("sm_"), is_virtual = value.starts_with("compute_");
  std::string_view rest = std::string_view(value).substr(value.find('_') + 1);
  const int asked = take_number<int>(rest).value_or(0);
  const bool known_suffix = rest.empty() || rest == "a" || rest == "f";
  // A cubin runs on devices of the same major version and the same or a newer minor version; PTX on
  // the same and all newer architectures. Variants with a suffix (a, f) must match the device's
  // number.
  const bool fits = is_native
                        ? asked / 10 == major && asked <= ours && (rest.empty() || asked == ours)
                        : asked <= ours && (rest.empty() || asked == ours);
  if ((is_native || is_virtual) && asked > 0 && known_suffix && fits) return value;
  refuse(text("-arch=", value), text("the device is sm_", ours, "; write -arch=sm_", ours,
                                     " or sm_", ours, "a, or compute_", ours, " or lower for PTX"));
}

// Adds -D, -U and -include to their lists in `out` and passes all other options to NVRTC.
void take_value(std::string_view name, std::string_view value, CompileOptions& out) {
  if (name == "-D") {
    out.directives.push_back(source::define_line(value));
  } else if (name == "-U") {
    out.directives.push_back(source::undefine_line(value));
  } else if (name == "-include") {
    out.pre_includes.emplace_back(value);
  } else {
    out.arguments.push_back(text(name, name == "-std=" ? standard(value) : std::string(value)));
  }
}

void translate_word(std::string_view option, OptionReader& reader, CompileOptions& out) {
  if (std::find(dropped.begin(), dropped.end(), option) != dropped.end()) return;
  for (const auto& [from, to] : replaced) {
    if (option == from) return out.arguments.emplace_back(to), void();
  }
  for (const auto& [prefix, why] : refused) {
    if (option.starts_with(prefix)) refuse(option, why);
  }
  for (const auto& [name, to] : with_value) {
    const bool joined = has_joined_value(option, name);
    if (!joined && option != name) continue;
    return take_value(to, joined ? joined_value(option, name) : reader.value_of(option), out);
  }
  if (!option.starts_with('-')) refuse(option, "it is no option; options start with '-'");
  out.arguments.emplace_back(option);
}

}  // namespace

int architecture_number(std::string_view architecture) {
  std::string_view digits = architecture.substr(architecture.find('_') + 1);
  return take_number<int>(digits).value_or(0);
}

CompileOptions translate_options(std::span<const std::string> options, int major, int minor) {
  CompileOptions result;
  result.architecture = text("sm_", major, minor);
  for (OptionReader reader{options}; !reader.done();) {
    const std::string_view option = reader.take();
    std::string architecture;
    if (option.empty()) continue;
    if (is_architecture(option, reader, architecture)) {
      result.architecture = checked_architecture(architecture, major, minor);
    } else {
      translate_word(option, reader, result);
    }
  }
  return result;
}

std::string architecture_for(std::span<const std::string> options, int major, int minor) {
  std::string architecture;
  for (OptionReader reader{options}; !reader.done();)
    is_architecture(reader.take(), reader, architecture);
  return architecture.empty() ? text("sm_", major, minor)
                              : checked_architecture(architecture, major, minor);
}

}  // namespace spanwise::cuda
