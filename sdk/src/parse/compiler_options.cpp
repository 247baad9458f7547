// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/compiler_options.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::parse {
namespace {

/// What a compiler's back end does with an option.
enum class OptionUse : std::uint8_t {
  keep,     // passes it to the compiler
  drop,     // ignores it: implied there, or without effect on kernels
  replace,  // passes the action's text in its place
  refuse,   // fails with the action's text as the reason
  unknown,  // fails
  // Options with a value that the back end interprets:
  define,
  undefine,
  include_dir,
  pre_include,
  standard,
  architecture,
  contraction,
};
struct OptionAction {
  OptionUse use;
  std::string_view text{};
};

struct CompilerOption {
  /// Without dashes, separated by spaces. "name=value" is the name with this value only; a name
  /// that ends with '*' stands for all that begin like it.
  std::string_view names;
  bool has_value;  ///< after '=', as the next option, or after a name of one letter
  OptionAction host, nvrtc;
};

constexpr OptionAction keep{OptionUse::keep}, drop{OptionUse::drop}, unknown{OptionUse::unknown};
constexpr OptionAction replaced_by(std::string_view text) { return {OptionUse::replace, text}; }
constexpr OptionAction refused(std::string_view reason) { return {OptionUse::refuse, reason}; }

constexpr OptionAction one_device =
    refused("one module is compiled for one device; leave it out, or write -arch=sm_90a");
constexpr OptionAction host_processor = refused(
    "it chooses a host processor; kernels are compiled for the device, and -arch chooses a GPU");
constexpr OptionAction output_format =
    refused("Spanwise chooses the output format; leave it out, or write -arch=compute_90 for PTX");
constexpr OptionAction several_sources = refused(
    "sources that are passed as link= are compiled and linked like this without it; leave it out");

// Options of NVRTC 13.0, nvcc 13.0 and host compilers: what either device ignores, the other
// ignores, too. Others are unknown to the host's back end and passed to NVRTC.
constexpr CompilerOption option_list[] = {
    // For the preprocessor.
    {"D define-macro", true, {OptionUse::define}, {OptionUse::define}},
    {"U undefine-macro", true, {OptionUse::undefine}, {OptionUse::undefine}},
    {"I include-path isystem iquote system-include",
     true,
     {OptionUse::include_dir},
     {OptionUse::include_dir}},
    {"include pre-include", true, {OptionUse::pre_include}, {OptionUse::pre_include}},
    // For the language and the code.
    {"std", true, {OptionUse::standard}, {OptionUse::standard}},
    {"fmad", true, {OptionUse::contraction}, keep},
    // CUDA's option relaxes division and square root, but keeps NaN and infinity, which -ffast-math
    // would not.
    {"use_fast_math", false, replaced_by("-freciprocal-math"), keep},
    {"O0", false, keep, replaced_by("--ptxas-options=-O0")},
    {"O O1 O2 O3", false, keep, drop},
    {"O4 O5 O6 O7 O8 O9 Os Og Oz", false, keep, keep},
    {"g", false, keep, replaced_by("--generate-line-info")},
    // For GPU code only.
    {"arch gpu-architecture", true, drop, {OptionUse::architecture}},
    {"code gpu-code gencode generate-code", true, drop, one_device},
    {"Xptxas ptxas-options", true, drop, replaced_by("--ptxas-options")},
    {"maxrregcount", true, drop, replaced_by("--maxrregcount")},
    {"Xnvlink", true, drop, keep},
    {"dc dlto", false, drop, several_sources},
    // The linker's inputs are compiled as relocatable code in any case.
    {"rdc relocatable-device-code", false, drop, drop},
    {"lineinfo generate-line-info G device-debug dopt Ofast-compile ofast-compile ewp "
     "extra-device-vectorization modify-stack-limit default-device "
     "device-as-default-execution-space device-c dw device-w astoolspatch ftz prec-sqrt prec-div w "
     "disable-warnings Wno-deprecated-gpu-targets diag-suppress diag-error diag-warn restrict "
     "extensible-whole-program split-compile fdevice-time-trace minimal no-cache frandom-seed "
     "jump-table-density no-source-include builtin-move-forward builtin-initializer-list "
     "version-ident brief-diagnostics err-no",
     false, drop, keep},
    // Of host compilers and of nvcc's host code.
    {"Wall Wextra pedantic Wno-* Wreorder expt-relaxed-constexpr extended-lambda "
     "expt-extended-lambda m64 machine=64 fPIC allow-unsupported-compiler "
     "forward-unknown-to-host-compiler forward-unknown-to-host-linker resource-usage res-usage "
     "keep v verbose dryrun source-in-ptx no-host-device-initializer-list Werror=* cudart=*",
     false, drop, drop},
    {"Xcompiler compiler-options ccbin compiler-bindir Xlinker linker-options Xcudafe "
     "cudafe-options Xfatbin fatbin-options Werror default-stream cudart keep-dir threads L "
     "library-path",
     true, drop, drop},
    {"l*", false, drop, drop},
    {"ffast-math Ofast", false, replaced_by("-freciprocal-math"), replaced_by("--use_fast_math")},
    {"ffp-contract=off", false, replaced_by("-ffp-contract=off"), replaced_by("--fmad=false")},
    {"ffp-contract=fast", false, drop, replaced_by("--fmad=true")},
    {"march* mtune*", false, host_processor, host_processor},
    {"fopenmp*", false, refused("kernels have no OpenMP; leave it out"),
     refused("kernels have no OpenMP; leave it out")},
    {"fsanitize*", false, refused("set config.cpu_sanitize instead"),
     refused("it instruments host code; run the program under compute-sanitizer instead")},
    {"cubin ptx fatbin", false, output_format, output_format},
};

// Reads options one by one.
class OptionReader {
 public:
  explicit OptionReader(std::span<const std::string> options) noexcept : options_(options) {}

  // Moves to the next option that is not empty; false at the end.
  bool next() {
    while (next_ < options_.size())
      if (!options_[next_++].empty()) return true;
    return false;
  }
  const std::string& option() const noexcept { return options_[next_ - 1]; }
  // The option without its dashes: "std=c++17" of "--std=c++17".
  std::string_view undashed() const noexcept {
    std::string_view text = option();
    text.remove_prefix(text.starts_with("--") ? 2 : text.starts_with('-') ? 1 : 0);
    return text;
  }
  // The same without '=' and value.
  std::string_view name() const noexcept { return undashed().substr(0, undashed().find('=')); }

  // The entry of the list for the option; null if there is none.
  const CompilerOption* find() const {
    if (!option().starts_with('-')) return nullptr;
    const auto entry = std::ranges::find_if(
        option_list, [&](const CompilerOption& each) { return matches(each); });
    return entry == std::end(option_list) ? nullptr : entry;
  }
  // The option's value. Throws ArgumentError if there is none.
  std::string value() {
    if (has_letter()) return option().size() > 2 ? option().substr(2) : next_word();
    const std::size_t equals = option().find('=');
    return equals == std::string::npos ? next_word() : option().substr(equals + 1);
  }

 private:
  // Whether it is one of the options whose value may follow a letter.
  bool has_letter() const noexcept {
    return option().size() > 1 &&
           std::string_view("DUIL").find(option()[1]) != std::string_view::npos;
  }
  bool matches(const CompilerOption& entry) const {
    return std::ranges::any_of(split(entry.names, ' '), [&](std::string_view listed) {
      if (entry.has_value && listed.size() == 1) return option().substr(1, 1) == listed;
      if (listed.ends_with('*')) return undashed().starts_with(listed.substr(0, listed.size() - 1));
      return (listed.find('=') == listed.npos ? name() : undashed()) == listed;
    });
  }
  std::string next_word() {
    if (next_ == options_.size())
      fail<ArgumentError>("SourceModule: option \"", option(),
                          "\": its value is missing; expected it as the next option");
    return options_[next_++];
  }

  std::span<const std::string> options_;
  std::size_t next_ = 0;
};

// "#define N 4" for the argument of -D: "N", "N=4", "F(x)=x". Compilers too ignore what follows a
// newline.
std::string define_line(std::string_view macro) {
  macro = macro.substr(0, macro.find('\n'));
  const std::size_t equals = macro.find('=');
  const std::string_view value = equals == macro.npos ? "1" : macro.substr(equals + 1);
  return text("#define ", macro.substr(0, equals), " ", value);
}

// Adds an option for the preprocessor to `out`; returns whether it is one.
bool add_for_preprocessor(OptionUse use, const std::string& value, PreprocessorOptions& out) {
  if (use == OptionUse::define)
    out.directives.push_back(define_line(value));
  else if (use == OptionUse::undefine)
    out.directives.push_back(text("#undef ", value.substr(0, value.find('\n'))));
  else if (use == OptionUse::include_dir)
    out.include_dirs.push_back(value);
  else if (use == OptionUse::pre_include)
    out.pre_includes.push_back(value);
  else
    return false;
  return true;
}

// The shim needs C++17, which replaces older standards.
std::string host_language(const std::string& standard) {
  const bool is_older = is_one_of(standard, {"c++03", "c++98", "c++11", "c++14"});
  return "-std=" + (is_older ? std::string("c++17") : standard);
}

void add_host_option(OptionReader& reader, HostOptions& out) {
  const std::string& option = reader.option();
  if (option[0] != '-')
    fail<ArgumentError>("cpu: option '", option, "' does not begin with '-'; expected an option");
  const CompilerOption* entry = reader.find();
  const OptionAction action = entry == nullptr ? unknown : entry->host;
  if (action.use == OptionUse::unknown)
    fail<ArgumentError>("cpu: option '", option,
                        "' is unknown; expected -D, -U, -I, -std=, -O0 to -O3, -g, --pre-include, "
                        "-fmad, --use_fast_math, or one that only concerns GPU code");
  if (action.use == OptionUse::refuse)
    fail<ArgumentError>("cpu: option '", option, "' cannot be used: ", action.text);
  const std::string name(reader.name());
  const std::string value = entry->has_value ? reader.value() : std::string();
  if (add_for_preprocessor(action.use, value, out)) return;
  if (action.use == OptionUse::standard)
    out.language = host_language(value);
  else if (action.use == OptionUse::contraction && is_one_of(value, {"false", "0"}))
    out.flags.emplace_back("-ffp-contract=off");
  else if (action.use == OptionUse::replace)
    out.flags.emplace_back(action.text);
  else if (action.use == OptionUse::keep)
    out.flags.push_back("-" + name);
}

[[noreturn]] void refuse_for_nvrtc(std::string_view option, std::string_view reason) {
  fail<ArgumentError>("SourceModule: option \"", option,
                      "\" cannot be used for a CUDA device: ", reason);
}

std::string nvrtc_language(std::string_view standard) {
  return standard.starts_with("gnu++") ? text("-std=c++", standard.substr(5))
                                       : text("-std=", standard);
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
  refuse_for_nvrtc(text("-arch=", value),
                   text("the device is sm_", device, "; write -arch=sm_", device, " or sm_", device,
                        "a, or compute_", device, " or lower for PTX"));
}

// NVRTC accepts values after '=' only.
void add_nvrtc_option(OptionReader& reader, NvrtcOptions& out, int major, int minor) {
  const std::string option = reader.option();
  const CompilerOption* entry = reader.find();
  if (entry == nullptr) {
    if (!option.starts_with('-'))
      refuse_for_nvrtc(option, "it is no option; options start with '-'");
    return out.arguments.push_back(option);
  }
  const OptionAction& action = entry->nvrtc;
  if (action.use == OptionUse::refuse) refuse_for_nvrtc(option, action.text);
  const std::string value = entry->has_value ? reader.value() : std::string();
  if (add_for_preprocessor(action.use, value, out)) {
    if (action.use == OptionUse::include_dir) out.arguments.push_back("-I" + value);
    return;
  }
  const bool is_separate = entry->has_value && option.find('=') == option.npos;
  if (action.use == OptionUse::architecture)
    out.architecture = checked_architecture(value, major, minor);
  else if (action.use == OptionUse::standard)
    out.arguments.push_back(nvrtc_language(value));
  else if (action.use == OptionUse::replace)
    out.arguments.push_back(text(action.text, entry->has_value ? "=" : "", value));
  else if (action.use == OptionUse::keep)
    out.arguments.push_back(is_separate ? text(option, '=', value) : option);
}

}  // namespace

PreprocessorOptions preprocessor_options(std::span<const std::string> options) {
  PreprocessorOptions out;
  for (OptionReader reader(options); reader.next();)
    if (const CompilerOption* entry = reader.find(); entry != nullptr && entry->has_value)
      add_for_preprocessor(entry->host.use, reader.value(), out);
  return out;
}

HostOptions host_options(std::span<const std::string> options) {
  HostOptions out;
  for (OptionReader reader(options); reader.next();) add_host_option(reader, out);
  return out;
}

bool sets_standard(std::span<const std::string> options) {
  for (OptionReader reader(options); reader.next();)
    if (const CompilerOption* entry = reader.find();
        entry != nullptr && entry->host.use == OptionUse::standard)
      return true;
  return false;
}

NvrtcOptions nvrtc_options(std::span<const std::string> options, int major, int minor) {
  NvrtcOptions out;
  out.architecture = text("sm_", major, minor);
  for (OptionReader reader(options); reader.next();) add_nvrtc_option(reader, out, major, minor);
  return out;
}

std::string nvrtc_architecture(std::span<const std::string> options, int major, int minor) {
  std::string architecture;
  for (OptionReader reader(options); reader.next();) {
    const CompilerOption* entry = reader.find();
    if (entry == nullptr || !entry->has_value || entry->nvrtc.use == OptionUse::refuse) continue;
    std::string value = reader.value();
    if (entry->nvrtc.use == OptionUse::architecture) architecture = std::move(value);
  }
  return architecture.empty() ? text("sm_", major, minor)
                              : checked_architecture(architecture, major, minor);
}

int architecture_number(std::string_view architecture) {
  std::string_view digits = architecture.substr(architecture.find('_') + 1);
  return take_number<int>(digits).value_or(0);
}

}  // namespace spanwise::parse
