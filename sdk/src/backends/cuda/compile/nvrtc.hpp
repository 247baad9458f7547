// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

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
