// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compiler.hpp"

#include <algorithm>
#include <charconv>

#include "backends/cuda/binary_symbols.hpp"
#include "backends/cuda/compile_options.hpp"
#include "backends/cuda/default_options.hpp"
#include "backends/cuda/kept_files.hpp"
#include "backends/cuda/nvrtc.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda {
namespace {

using nvrtc::Library;
using runtime::CompileRequest;
using runtime::KernelBinary;

void check(const Library& library, nvrtc::Result result, const char* what) {
  require<DeviceError>(result == nvrtc::success, "cuda: NVRTC failed at ", what, ": ",
                       library.api.get_error_string(result));
}

class Program {
 public:
  Program(const Library& library, const runtime::KernelSource& source, const RtcHeaders& headers)
      : library_(library) {
    check(library,
          library.api.create_program(&program_, source.text.c_str(), source.file_name.c_str(),
                                     static_cast<int>(headers.names.size()), headers.texts.data(),
                                     headers.names.data()),
          "creating a program");
  }
  ~Program() { library_.api.destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_name(const std::string& expression) {
    check(library_, library_.api.add_name_expression(program_, expression.c_str()),
          "taking a name expression");
  }
  nvrtc::Result compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    words.reserve(options.size());
    for (const std::string& option : options) words.push_back(option.c_str());
    return library_.api.compile_program(program_, static_cast<int>(words.size()), words.data());
  }
  std::string lowered(const std::string& expression) const {
    const char* name = nullptr;
    check(library_, library_.api.get_lowered_name(program_, expression.c_str(), &name),
          "giving a symbol for a name expression");
    return name;
  }
  std::string log() const {
    return read(library_.api.get_program_log_size, library_.api.get_program_log);
  }
  std::string cubin() const {
    return read(library_.api.get_cubin_size, library_.api.get_cubin, true);
  }
  std::string ptx() const { return read(library_.api.get_ptx_size, library_.api.get_ptx); }

 private:
  template <class Size, class Get>
  std::string read(Size get_size, Get get, bool binary = false) const {
    std::size_t size = 0;
    check(library_, get_size(program_, &size), "giving the size of a result");
    std::string bytes(size, '\0');
    if (size > 0) check(library_, get(program_, bytes.data()), "giving a result");
    // Texts come with their closing zero, which std::string adds by itself.
    while (!binary && bytes.ends_with('\0')) bytes.pop_back();
    return bytes;
  }

  const Library& library_;
  nvrtc::Program program_ = nullptr;
};

std::string version_of(const Library& library) { return text(library.major, '.', library.minor); }

// What to compile for: the architecture itself, or PTX for the newest older one that NVRTC knows,
// which the driver then compiles for the device.
std::string known_architecture(const Library& library, const std::string& wanted) {
  const std::size_t digits = wanted.find('_') + 1;
  int number = 0;
  std::from_chars(wanted.data() + digits, wanted.data() + wanted.size(), number);
  const std::vector<int>& known = library.architectures;
  if (known.empty() || std::find(known.begin(), known.end(), number) != known.end()) return wanted;
  const auto above = std::upper_bound(known.begin(), known.end(), number);
  require<DeviceError>(above != known.begin(), "cuda: NVRTC ", version_of(library), " (",
                       library.path.string(), ") no longer compiles for ", wanted,
                       ", the oldest is sm_", known.front(),
                       "; install an older NVRTC (nvidia-cuda-nvrtc-cu12)");
  return text("compute_", *(above - 1));
}

std::string numbered(const std::string& source) {
  std::string out;
  std::size_t at = 0;
  for (int line = 1; at < source.size(); ++line) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    std::string number = text(line);
    out += text(std::string(number.size() < 4 ? 4 - number.size() : 0, ' '), number, " | ",
                source.substr(at, end - at), '\n');
    at = end + 1;
  }
  return out;
}

std::string missing_header_hint(const std::string& log,
                                const std::vector<std::filesystem::path>& folders) {
  if (log.find("could not open source file") == log.npos &&
      log.find("cannot open source file") == log.npos)
    return "";
  std::string known;
  for (const auto& folder : folders) known += text(known.empty() ? "" : ", ", folder.string());
  return text(
      "NVRTC has no host headers: it knows stdint.h, stddef.h, limits.h, float.h, math.h, "
      "stdio.h, stdlib.h, string.h, assert.h and their C++ forms",
      known.empty() ? "; CUDA's own headers were not found (python3 -m pip install "
                      "nvidia-cuda-runtime, or the CUDA toolkit)"
                    : text(", and CUDA's headers in ", known,
                           " (among them cuda/std/... for the C++ library)"),
      ". Name other folders with -I or include_dirs.\n");
}

[[noreturn]] void fail_compilation(const Library& library, nvrtc::Result result,
                                   const CompileRequest& request, const std::string& architecture,
                                   const std::string& log,
                                   const std::vector<std::filesystem::path>& folders) {
  const std::string& file = request.source->file_name;
  require<ArgumentError>(result != nvrtc::invalid_option, "SourceModule: NVRTC ",
                         version_of(library), " does not take the options for ", file, ": ", log);
  require<DeviceError>(result == nvrtc::compilation, "cuda: NVRTC failed at compiling ", file, ": ",
                       library.api.get_error_string(result), "\n", log);
  throw CompileError(
      text("SourceModule: ", file, " does not compile for ", architecture, " (NVRTC ",
           version_of(library), "):\n", log, missing_header_hint(log, folders)),
      log, numbered(request.source->text));
}

std::vector<std::string> arguments_for(const CompileRequest& request, const CompileOptions& options,
                                       const std::string& architecture,
                                       const std::vector<std::filesystem::path>& header_folders) {
  std::vector<std::string> all{"--gpu-architecture=" + architecture};
  for (std::string& option : default_options(options.arguments)) all.push_back(std::move(option));
  all.insert(all.end(), options.arguments.begin(), options.arguments.end());
  for (const std::string& folder : request.include_dirs) all.push_back("-I" + folder);
  // Last, so that the user's files of the same name win.
  for (const auto& folder : header_folders) all.push_back("-I" + folder.string());
  return all;
}

}  // namespace

KernelBinary compile(ComputeCapability capability, const CompileRequest& request) {
  const CompileOptions options =
      translate_options(request.options, capability.major, capability.minor);
  const Library& library = nvrtc::library();
  const std::string architecture = known_architecture(library, options.architecture);
  const auto folders = nvrtc::installation()->headers;

  Program program(library, *request.source, rtc_headers(!folders.empty()));
  for (const std::string& name : request.names) program.add_name(name);
  const nvrtc::Result result =
      program.compile(arguments_for(request, options, architecture, folders));
  if (result != nvrtc::success) {
    fail_compilation(library, result, request, architecture, program.log(), folders);
  }

  KernelBinary binary;
  const bool is_ptx = architecture.starts_with("compute_");
  binary.image = is_ptx ? program.ptx() : program.cubin();
  binary.symbols = names_of(read_symbols(binary.image).kernels);
  for (const std::string& name : request.names) binary.symbols[name] = program.lowered(name);
  if (request.keep) keep_files(*request.source, binary.image, is_ptx ? "ptx" : "cubin");
  return binary;
}

}  // namespace spanwise::cuda
