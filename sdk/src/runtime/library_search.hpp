// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

/// Search for CUDA's libraries and headers on this machine, in the file system only: nothing is
/// loaded.
namespace spanwise::runtime {

struct FoundLibrary {
  std::filesystem::path path;  ///< symbolic links are resolved
  int major = 0;               ///< 13 for libnvrtc.so.13; 0 if the name has no version
};

/// Folders that may hold CUDA's libraries, in order of preference, without duplicates and without
/// missing folders: config "cuda_library_path" (folders joined by ':'; the Python package sets it
/// to the nvidia-* wheels it finds), CUDA_HOME, CUDA_PATH, CUDA_ROOT, the wheels beside this
/// library, LD_LIBRARY_PATH, CONDA_PREFIX, /usr/local/cuda, /usr/local/cuda-<version> from the
/// newest, the system's folders.
std::vector<std::filesystem::path> library_folders();

/// The files lib<name>.so* in `folders`, in the order of the folders, and by descending version
/// within a folder.
std::vector<FoundLibrary> find_libraries(std::string_view name,
                                         const std::vector<std::filesystem::path>& folders);

/// Folders with CUDA's own headers (cuda_fp16.h, cooperative_groups.h, cuda/std/...) that belong to
/// the library at `library`: of the same toolkit, else of wheels. Empty if there are none.
std::vector<std::filesystem::path> header_folders(const std::filesystem::path& library);

/// Whether `folder` has all of CCCL's headers; other wheels of NVIDIA contain some of them.
bool has_cccl(const std::filesystem::path& folder);

/// A folder with CCCL's headers (nv/target and cuda/std/..., which cooperative_groups.h includes)
/// that belongs to one of `library_folders`, of a toolkit or of the wheel nvidia-cuda-cccl; empty
/// where there is none.
std::filesystem::path cccl_headers(const std::vector<std::filesystem::path>& library_folders);

/// The major version in a file name such as libnvrtc.so.12.4.127, or 0.
int major_version(const std::filesystem::path& library);

}  // namespace spanwise::runtime
