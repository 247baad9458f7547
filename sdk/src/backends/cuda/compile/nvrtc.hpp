// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/error.hpp"

/// NVRTC, NVIDIA's run-time compiler, loaded at run time. nvrtc.h is not in the wheel with the CUDA
/// headers, so its few prototypes are declared here (NVRTC documentation, "User interface"); a test
/// compares them with the real header if it is installed.
namespace spanwise::cuda::nvrtc {

using Result = int;
inline constexpr Result success = 0, invalid_option = 5, compilation_error = 6;
struct ProgramState;
using Program = ProgramState*;

/// X(member of Api, NVRTC's function, its result and parameter types)
#define SW_NVRTC_FUNCTIONS(X)                                                                \
  X(get_error_string, nvrtcGetErrorString, const char*(Result))                              \
  X(version, nvrtcVersion, Result(int*, int*))                                               \
  X(get_num_supported_archs, nvrtcGetNumSupportedArchs, Result(int*))                        \
  X(get_supported_archs, nvrtcGetSupportedArchs, Result(int*))                               \
  X(create_program, nvrtcCreateProgram,                                                      \
    Result(Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroy_program, nvrtcDestroyProgram, Result(Program*))                                  \
  X(compile_program, nvrtcCompileProgram, Result(Program, int, const char* const*))          \
  X(add_name_expression, nvrtcAddNameExpression, Result(Program, const char*))               \
  X(get_lowered_name, nvrtcGetLoweredName, Result(Program, const char*, const char**))       \
  X(get_program_log_size, nvrtcGetProgramLogSize, Result(Program, std::size_t*))             \
  X(get_program_log, nvrtcGetProgramLog, Result(Program, char*))                             \
  X(get_cubin_size, nvrtcGetCUBINSize, Result(Program, std::size_t*))                        \
  X(get_cubin, nvrtcGetCUBIN, Result(Program, char*))                                        \
  X(get_ptx_size, nvrtcGetPTXSize, Result(Program, std::size_t*))                            \
  X(get_ptx, nvrtcGetPTX, Result(Program, char*))                                            \
  X(get_lto_ir_size, nvrtcGetLTOIRSize, Result(Program, std::size_t*))                       \
  X(get_lto_ir, nvrtcGetLTOIR, Result(Program, char*))

struct Api {
#define SW_DECLARE(name, function, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  SW_NVRTC_FUNCTIONS(SW_DECLARE)
#undef SW_DECLARE
};

struct Library {
  Api api;
  std::filesystem::path path;
  int major = 0, minor = 0;
  std::vector<int> architectures;  ///< supported, ascending: 75, ..., 90, ...
};

/// The files of NVRTC, found in the file system.
struct Installation {
  std::filesystem::path library;               ///< empty if there is none
  std::vector<std::filesystem::path> headers;  ///< folders of CUDA's headers, CCCL's among them
};

/// The installation of library() or, before its first call, of the first library that it would try:
/// the first found whose major version is not newer than the driver's, else the first found. Loads
/// nothing. The search is repeated when config "cuda_library_path" changes.
std::shared_ptr<const Installation> installation();
/// Loaded at the first call. Throws DeviceError, with the folders searched and the package to
/// install, if no NVRTC can be loaded.
const Library& library();

}  // namespace spanwise::cuda::nvrtc

namespace spanwise::cuda {

/// Default options for NVRTC, without those that the user's `options` replace.
std::vector<std::string> default_options(const std::vector<std::string>& options);

/// NVRTC then declares no textures, surfaces and functions of the CUDA runtime, and compiles no
/// launches from kernels. Without these a small kernel takes a fifth less time.
inline constexpr const char* minimal_option = "--minimal";
/// Whether NVRTC of this version has minimal_option: from CUDA 12.4 on.
constexpr bool has_minimal_option(int major, int minor) {
  return major > 12 || (major == 12 && minor >= 4);
}
/// Whether `source` appears to need nothing that minimal_option leaves out, and includes no headers
/// but those of Spanwise. If it does need it, it does not compile with the option.
bool may_be_minimal(std::string_view source);

/// Headers passed to NVRTC with each source: names and texts, as C strings of static storage
/// duration.
struct RtcHeaders {
  std::vector<const char*> names, texts;
};
/// The parts of the standard headers (stdint.h, cmath, ...) that kernels use, so that one source
/// compiles for CPU and CUDA. Without the toolkit's headers, also empty headers in place of those
/// whose contents NVRTC has built in (cuda_runtime.h, ...).
RtcHeaders rtc_headers(bool has_toolkit_headers);

/// A hash of the options that are not the user's, and of the headers, for fingerprints.
const std::string& default_options_digest();

/// Throws DeviceError unless `result` is success; `operation` names the operation.
inline void check_nvrtc(const nvrtc::Library& library, nvrtc::Result result,
                        const char* operation) {
  if (result != nvrtc::success)
    fail<DeviceError>("cuda: NVRTC failed at ", operation, ": ",
                      library.api.get_error_string(result));
}

/// A program of NVRTC, from its source text to the results of its compilation. Each function throws
/// DeviceError where NVRTC reports an error, except compile(), which returns it.
class NvrtcProgram {
 public:
  NvrtcProgram(const nvrtc::Library& library, const std::string& text, const std::string& file_name,
               const RtcHeaders& headers)
      : library_(library) {
    check_nvrtc(library,
                library.api.create_program(&program_, text.c_str(), file_name.c_str(),
                                           static_cast<int>(headers.names.size()),
                                           headers.texts.data(), headers.names.data()),
                "creating a program");
  }
  ~NvrtcProgram() { library_.api.destroy_program(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  void add_name(const std::string& expression) {
    check_nvrtc(library_, library_.api.add_name_expression(program_, expression.c_str()),
                "adding a name expression");
  }
  nvrtc::Result compile(const std::vector<std::string>& options) {
    std::vector<const char*> arguments;
    arguments.reserve(options.size());
    for (const std::string& option : options) arguments.push_back(option.c_str());
    return library_.api.compile_program(program_, static_cast<int>(arguments.size()),
                                        arguments.data());
  }
  std::string lowered(const std::string& expression) const {
    const char* name = nullptr;
    check_nvrtc(library_, library_.api.get_lowered_name(program_, expression.c_str(), &name),
                "looking up the symbol of a name expression");
    return name;
  }
  std::string log() const {
    return read(library_.api.get_program_log_size, library_.api.get_program_log);
  }
  std::string cubin() const {
    return read(library_.api.get_cubin_size, library_.api.get_cubin, true);
  }
  std::string ptx() const { return read(library_.api.get_ptx_size, library_.api.get_ptx); }
  std::string lto_ir() const {
    return read(library_.api.get_lto_ir_size, library_.api.get_lto_ir, true);
  }

 private:
  template <class Size, class Get>
  std::string read(Size get_size, Get get, bool binary = false) const {
    std::size_t size = 0;
    check_nvrtc(library_, get_size(program_, &size), "reading the size of a result");
    std::string bytes(size, '\0');
    if (size > 0) check_nvrtc(library_, get(program_, bytes.data()), "reading a result");
    // NVRTC counts the terminating NUL of a text as part of its size.
    while (!binary && bytes.ends_with('\0')) bytes.pop_back();
    return bytes;
  }

  const nvrtc::Library& library_;
  nvrtc::Program program_ = nullptr;
};

}  // namespace spanwise::cuda
