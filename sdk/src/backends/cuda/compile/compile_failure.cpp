// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/compile_failure.hpp"

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::cuda {
namespace {

using nvrtc::Library;

std::string missing_header_hint(const Library& library, const std::string& log,
                                const std::vector<std::filesystem::path>& folders) {
  if (log.find("could not open source file") == log.npos &&
      log.find("cannot open source file") == log.npos)
    return "";
  // Headers of CCCL: nv/target (included by cooperative_groups.h) and cuda/std/...
  const bool is_cccl = log.find("nv/target") != log.npos || log.find("\"cuda/") != log.npos;
  if (is_cccl && !folders.empty())
    return text(
        "That header is one of CCCL's, which NVIDIA's wheel of CUDA's headers leaves out: "
        "python3 -m pip install nvidia-cuda-cccl",
        library.major == 12 ? "-cu12" : "",
        ", or install the CUDA toolkit; or name its folder with -I or include_dirs.\n");
  const std::string folder_list =
      joined(folders, ", ", [](const auto& folder) { return folder.string(); });
  return text(
      "NVRTC has no host headers: it provides stdint.h, stddef.h, limits.h, float.h, math.h, "
      "stdio.h, stdlib.h, string.h, assert.h and their C++ forms",
      folder_list.empty() ? "; CUDA's own headers were not found (python3 -m pip install "
                            "nvidia-cuda-runtime, or the CUDA toolkit)"
                          : text(", and CUDA's headers in ", folder_list,
                                 " (among them cuda/std/... for the C++ library)"),
      ". Name other folders with -I or include_dirs.\n");
}

// For headers of CCCL that were found, but whose host code NVRTC does not compile.
std::string host_code_hint(const std::string& log) {
  if (log.find("/thrust/") == log.npos && log.find("/cub/device/") == log.npos) return "";
  return "NVRTC compiles CUB's primitives of blocks and warps, and Thrust's function objects and "
         "tuples, but neither Thrust's algorithms and complex numbers nor CUB's device-wide "
         "algorithms. Remedy: cuda::std::complex, spanwise's functions, or nvcc and "
         "spanwise.HostLibrary.\n";
}

}  // namespace

void fail_compilation(const Library& library, nvrtc::Result result,
                      const parse::KernelSource& source, const std::string& architecture,
                      const std::string& log, const std::vector<std::filesystem::path>& folders) {
  const std::string& file = source.file_name;
  if (result == nvrtc::invalid_option)
    fail<ArgumentError>("SourceModule: NVRTC ", library.major, '.', library.minor,
                        " does not take the options for ", file, ": ", log);
  if (result != nvrtc::compilation_error)
    fail<DeviceError>("cuda: NVRTC failed at compiling ", file, ": ",
                      library.api.get_error_string(result), "\n", log);
  const std::string hint = host_code_hint(log);
  throw CompileError(text("SourceModule: ", file, " does not compile for ", architecture,
                          " (NVRTC ", library.major, '.', library.minor, "):\n", log,
                          hint.empty() ? missing_header_hint(library, log, folders) : hint),
                     log, parse::with_line_numbers(source.text));
}

}  // namespace spanwise::cuda
