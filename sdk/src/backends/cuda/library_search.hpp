// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Where CUDA's libraries and headers are on this machine. Looks at the file system only; loads
/// nothing.
namespace spanwise::cuda {

struct FoundLibrary {
  std::filesystem::path path;  ///< without symbolic links
  int major = 0;               ///< 13 for libnvrtc.so.13; 0 where the name does not say
};

/// Folders that may hold CUDA's libraries, the first to be preferred, each there and each once:
/// config "cuda_library_path" (folders joined by ':'; the Python package sets it to the nvidia-*
/// wheels it sees), CUDA_HOME, CUDA_PATH, CUDA_ROOT, the wheels beside this library,
/// LD_LIBRARY_PATH, CONDA_PREFIX, /usr/local/cuda, /usr/local/cuda-<version> from the newest, the
/// system's folders.
std::vector<std::filesystem::path> library_folders();

/// The files lib<name>.so* in `folders`, in their order, in one folder the newest first.
std::vector<FoundLibrary> find_libraries(std::string_view name,
                                         const std::vector<std::filesystem::path>& folders);

/// Folders with CUDA's own headers (cuda_fp16.h, cooperative_groups.h, cuda/std/...) that belong to
/// the library at `library`: of its toolkit, else of its wheels. Empty where there are none.
std::vector<std::filesystem::path> header_folders(const std::filesystem::path& library);

/// Whether all of CCCL's headers are in `folder`; NVIDIA's other wheels bring some of them.
bool has_cccl(const std::filesystem::path& folder);

/// A folder with CCCL's headers (nv/target and cuda/std/..., which cooperative_groups.h includes)
/// that belongs to one of `library_folders`, of a toolkit or of the wheel nvidia-cuda-cccl; empty
/// where there is none.
std::filesystem::path cccl_headers(const std::vector<std::filesystem::path>& library_folders);

/// The major version in a file name such as libnvrtc.so.12.4.127, or 0.
int major_version(const std::filesystem::path& library);

}  // namespace spanwise::cuda
