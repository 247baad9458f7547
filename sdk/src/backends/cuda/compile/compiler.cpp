// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/compiler.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "backends/cuda/compile/binary_symbols.hpp"
#include "backends/cuda/compile/compile_failure.hpp"
#include "backends/cuda/compile/compile_options.hpp"
#include "backends/cuda/compile/default_options.hpp"
#include "backends/cuda/compile/device_runtime.hpp"
#include "backends/cuda/compile/device_source.hpp"
#include "backends/cuda/compile/image_contents.hpp"
#include "backends/cuda/compile/linker.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "backends/cuda/compile/nvrtc_program.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "parse/kernel_source.hpp"
#include "parse/source_lines.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

// Implements keep=True: writes source and binary to a new folder and prints its path to standard
// error. Throws DeviceError if the folder cannot be written.
void keep_kernel_files(const parse::KernelSource& source, std::string_view image,
                       std::string_view suffix) {
  using runtime::TemporaryFolder;
  const TemporaryFolder folder(TemporaryFolder::Lifetime::kept);
  const std::filesystem::path name = std::filesystem::path(source.file_name).filename();
  folder.write(name.string(), source.text);
  folder.write(std::filesystem::path(name).replace_extension(suffix).string(), image);
  std::fprintf(stderr, "spanwise: kernel files kept in %s\n", folder.path().c_str());
}

using nvrtc::Library;
using runtime::CompileRequest;
using runtime::KernelBinary;
using parse::c_literal;

std::string version_of(const Library& library) { return text(library.major, '.', library.minor); }

// The architecture to compile for: `requested`, or, if NVRTC does not support it, PTX for the
// newest older architecture that NVRTC supports; the driver compiles the PTX for the device.
std::string supported_architecture(const Library& library, const std::string& requested) {
  const int number = architecture_number(requested);
  const std::vector<int>& supported = library.architectures;
  if (supported.empty() || std::ranges::find(supported, number) != supported.end())
    return requested;
  const auto above = std::ranges::upper_bound(supported, number);
  if (above == supported.begin())
    fail<DeviceError>("cuda: NVRTC ", version_of(library), " (", library.path.string(),
                      ") no longer compiles for ", requested, ", the oldest is sm_",
                      supported.front(), "; install an older NVRTC (nvidia-cuda-nvrtc-cu12)");
  return text("compute_", *(above - 1));
}

// The source text for NVRTC: the directives and pre-includes of the options, then the user's text
// with its own line numbers.
std::string with_directives(const parse::KernelSource& source, const CompileOptions& options) {
  if (options.directives.empty() && options.pre_includes.empty()) return source.text;
  std::string out = "#line 1 \"options\"\n";
  for (const std::string& line : options.directives) out += line + '\n';
  for (const std::string& file : options.pre_includes)
    out += text("#include ", c_literal(file), '\n');
  return text(out, "#line 1 ", c_literal(source.file_name), '\n', source.text);
}

std::vector<std::string> arguments_for(const CompileRequest& request, const CompileOptions& options,
                                       const std::string& architecture,
                                       const std::vector<std::filesystem::path>& header_folders) {
  std::vector<std::string> all{"--gpu-architecture=" + architecture};
  for (std::string& option : default_options(options.arguments)) all.push_back(std::move(option));
  all.insert(all.end(), options.arguments.begin(), options.arguments.end());
  for (const std::string& folder : request.include_dirs) all.push_back("-I" + folder);
  // Last, so that the user's files of the same name are found first.
  for (const auto& folder : header_folders) all.push_back("-I" + folder.string());
  return all;
}

// An output format of NVRTC and the options that select it.
struct ImageForm {
  const char* suffix;  // file extension for keep=True
  std::string (NvrtcProgram::*read)() const;
  std::vector<std::string> options{};
};
const ImageForm executable_cubin{"cubin", &NvrtcProgram::cubin};
const ImageForm executable_ptx{"ptx", &NvrtcProgram::ptx};
const ImageForm relocatable_cubin{
    "cubin", &NvrtcProgram::cubin, {"--relocatable-device-code=true"}};
const ImageForm relocatable_ptx{"ptx", &NvrtcProgram::ptx, {"--relocatable-device-code=true"}};
const ImageForm relocatable_lto_ir{
    "ltoir", &NvrtcProgram::lto_ir, {"--relocatable-device-code=true", "-dlto"}};

// Compiles one request with NVRTC.
class NvrtcCompilation {
 public:
  NvrtcCompilation(ComputeCapability capability, const CompileRequest& request)
      : request_(request),
        device_architecture_(text("sm_", capability.major, capability.minor)),
        options_(translate_options(request.options, capability.major, capability.minor)),
        library_(nvrtc::library()),
        architecture_(supported_architecture(library_, options_.architecture)),
        folders_(nvrtc::installation()->headers) {}

  KernelBinary alone() const {
    KernelBinary binary;
    std::map<std::string, std::string> named;
    binary.image = compile(*request_.source, makes_ptx() ? executable_ptx : executable_cubin,
                           request_.names, named);
    add_symbols(binary, named);
    return binary;
  }

  KernelBinary linked(std::optional<int> ordinal) const {
    KernelBinary binary;
    std::map<std::string, std::string> named, unnamed;
    const ImageForm& form = form_to_link();
    // PTX can be linked only from LTO-IR. Relocatable PTX is linked to a cubin for the device.
    const bool to_cubin = makes_ptx() && &form == &relocatable_ptx;
    LinkJob job{to_cubin ? device_architecture_ : architecture_, {}, options_.arguments};
    job.inputs.push_back(
        {request_.source->file_name, compile(*request_.source, form, request_.names, named)});
    for (const parse::KernelSource& source : request_.linked)
      job.inputs.push_back({source.file_name,
                            source.is_compiled ? source.text : compile(source, form, {}, unnamed)});
    binary.image = link(job, ordinal);
    add_symbols(binary, named);
    return binary;
  }

 private:
  bool makes_ptx() const { return architecture_.starts_with("compute_"); }

  // LTO-IR, so that functions are inlined across sources. Not with device debugging, not if
  // nvJitLink is missing or older than NVRTC, and not together with inputs that are already
  // compiled, because nvJitLink does not resolve their calls to functions in LTO-IR.
  const ImageForm& form_to_link() const {
    const bool has_debug_option =
        std::ranges::any_of(options_.arguments, [](const std::string& argument) {
          return argument == "-G" || argument == "--device-debug";
        });
    const bool can_be_lto_ir =
        std::ranges::all_of(request_.linked, [](const parse::KernelSource& source) {
          return !source.is_compiled || is_lto_ir(source.text);
        });
    if (can_be_lto_ir && !has_debug_option && links_lto_ir(library_.major, library_.minor))
      return relocatable_lto_ir;
    return makes_ptx() ? relocatable_ptx : relocatable_cubin;
  }

  // Stores the symbol of each name expression of `names` in `named`. A source that does not compile
  // as it is may have host code, and is compiled again without it.
  std::string compile(const parse::KernelSource& source, const ImageForm& form,
                      const std::vector<std::string>& names,
                      std::map<std::string, std::string>& named) const {
    RtcHeaders headers = rtc_headers(!folders_.empty());
    const Attempt unmodified = attempt(source, form, names, headers);
    if (unmodified.result == nvrtc::success)
      return accept(source, form, names, named, *unmodified.program);
    const auto device = unmodified.result == nvrtc::compilation_error
                            ? without_host_code(request_, source, options_, folders_)
                            : std::nullopt;
    if (!device)
      fail_compilation(library_, unmodified.result, source, architecture_,
                       unmodified.program->log(), folders_);
    for (const auto& [name, contents] : device->headers) {
      headers.names.push_back(name.c_str());
      headers.texts.push_back(contents.c_str());
    }
    const Attempt device_only = attempt(device->source, form, names, headers);
    if (device_only.result != nvrtc::success)
      fail_compilation(library_, device_only.result, source, architecture_,
                       device_only.program->log(), folders_);
    return accept(source, form, names, named, *device_only.program);
  }

  struct Attempt {
    std::unique_ptr<NvrtcProgram> program;
    nvrtc::Result result;
  };
  Attempt attempt(const parse::KernelSource& source, const ImageForm& form,
                  const std::vector<std::string>& names, const RtcHeaders& headers) const {
    const std::string source_text = with_directives(source, options_);
    auto arguments = arguments_for(request_, options_, architecture_, folders_);
    arguments.insert(arguments.end(), form.options.begin(), form.options.end());
    const auto run = [&]() -> Attempt {
      auto program =
          std::make_unique<NvrtcProgram>(library_, source_text, source.file_name, headers);
      for (const std::string& name : names) program->add_name(name);
      const nvrtc::Result result = program->compile(arguments);
      return {std::move(program), result};
    };
    if (has_minimal_option(library_.major, library_.minor) && may_be_minimal(source_text)) {
      arguments.emplace_back(minimal_option);
      if (Attempt minimal = run(); minimal.result == nvrtc::success) return minimal;
      arguments.pop_back();  // so that the log is that of a compilation with all declarations
    }
    return run();
  }

  std::string accept(const parse::KernelSource& source, const ImageForm& form,
                     const std::vector<std::string>& names,
                     std::map<std::string, std::string>& named, const NvrtcProgram& program) const {
    for (const std::string& name : names) named[name] = program.lowered(name);
    std::string image = (program.*form.read)();
    if (request_.keep) keep_kernel_files(source, image, form.suffix);
    return image;
  }

  static void add_symbols(KernelBinary& binary, std::map<std::string, std::string>& named) {
    binary.symbols = names_of(read_symbols(binary.image).kernels);
    for (auto& [name, symbol] : named) binary.symbols[name] = std::move(symbol);
  }

  const CompileRequest& request_;
  const std::string device_architecture_;
  const CompileOptions options_;
  const Library& library_;
  const std::string architecture_;
  const std::vector<std::filesystem::path> folders_;
};

bool any_may_launch(const CompileRequest& request) {
  return may_launch_kernels(*request.source) ||
         std::ranges::any_of(request.linked, may_launch_kernels);
}

KernelBinary with_device_runtime(ComputeCapability capability, CompileRequest request,
                                 const std::filesystem::path& archive, std::optional<int> ordinal) {
  request.linked.push_back(read_device_runtime(archive));
  return NvrtcCompilation(capability, request).linked(ordinal);
}

KernelBinary without_device_runtime(ComputeCapability capability, const CompileRequest& request,
                                    std::optional<int> ordinal) {
  const NvrtcCompilation compilation(capability, request);
  return request.linked.empty() ? compilation.alone() : compilation.linked(ordinal);
}

}  // namespace

KernelBinary compile(ComputeCapability capability, const CompileRequest& request,
                     std::optional<int> ordinal) {
  if (!any_may_launch(request)) return without_device_runtime(capability, request, ordinal);
  const std::filesystem::path archive = device_runtime_archive(nvrtc::library().path);
  try {
    return without_device_runtime(capability, request, ordinal);
  } catch (const CompileError& error) {
    // A launch in host-only code, which NVRTC skips, needs no device runtime; therefore the first
    // attempt links without it. A source that fails so may launch kernels from the device.
    if (!archive.empty()) return with_device_runtime(capability, request, archive, ordinal);
    throw CompileError(
        text(error.what(),
             "\nIf it is for kernels that launch kernels: they are linked with the "
             "device runtime, libcudadevrt.a of the CUDA toolkit, which was not found; "
             "name its folder in SPANWISE_CUDA_LIBRARY_PATH"),
        error.log(), error.source());
  }
}

}  // namespace spanwise::cuda
