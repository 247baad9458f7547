// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library_search.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::runtime {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

[[maybe_unused]] const bool library_path_declared = config::declare({
    .name = "cuda_library_path",
    .description = "Folders, joined by ':', to look in first for CUDA's libraries (libnvrtc.so).",
});

// In this file, errors of the file system count as "not found".
bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The entries of `folder` whose names start with `prefix`, in the order of their names.
Paths entries_of(const fs::path& folder, std::string_view prefix = "") {
  Paths entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string& path = it->path().native();
    if (std::string_view(path).substr(path.rfind('/') + 1).starts_with(prefix))
      entries.push_back(path);
  }
  std::ranges::sort(entries);
  return entries;
}

// Without symbolic links.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

// A list of existing folders, without duplicates.
class Folders {
 public:
  void add(const fs::path& folder) {
    if (folder.empty() || !is_folder(folder)) return;
    fs::path real = resolved(folder);
    if (std::ranges::find(list_, real) == list_.end()) list_.push_back(std::move(real));
  }
  void add_joined(std::string_view folders) {
    for (const std::string_view folder : split(folders, ':')) add(folder);
  }
  // A toolkit's root; conda packages have the same layout.
  void add_toolkit(const fs::path& root) {
    if (root.empty()) return;
    add(root / "lib64");
    add(root / "lib");
    for (const fs::path& target : entries_of(root / "targets")) add(target / "lib");
  }
  // A folder of Python packages: nvidia/cuda_nvrtc/lib, nvidia/cu13/lib, ...
  void add_wheels(const fs::path& packages) {
    for (const fs::path& wheel : entries_of(packages / "nvidia")) add(wheel / "lib");
  }
  Paths take() { return std::move(list_); }

 private:
  Paths list_;
};

// The folder of the binary that this code is in: libspanwise.so, or a program that contains it.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return resolved(info.dli_fname).parent_path();
}

// The numbers after `before`: {12, 4, 127} in "libnvrtc.so.12.4.127" after ".so.", {13, 0} in
// "cuda-13.0" after "cuda-". Empty if there are none.
std::vector<int> version_in(std::string_view name, std::string_view before) {
  std::vector<int> version;
  const std::size_t position = name.find(before);
  if (position == name.npos) return version;
  for (const char letter : name.substr(position + before.size())) {
    if (letter >= '0' && letter <= '9') {
      if (version.empty()) version.push_back(0);
      version.back() = version.back() * 10 + (letter - '0');
    } else if (letter == '.' && !version.empty()) {
      version.push_back(0);
    } else {
      break;
    }
  }
  return version;
}

void add_system_toolkits(Folders& folders) {
  folders.add_toolkit("/usr/local/cuda");
  std::vector<std::pair<std::vector<int>, fs::path>> versions;
  for (const fs::path& entry : entries_of("/usr/local", "cuda-"))
    versions.emplace_back(version_in(entry.filename().string(), "cuda-"), entry);
  std::sort(versions.rbegin(), versions.rend());
  for (const auto& [version, root] : versions) folders.add_toolkit(root);
  folders.add_toolkit("/opt/cuda");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                             "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib"})
    folders.add(folder);
}

}  // namespace

Paths library_folders() {
  Folders folders;
  folders.add_joined(config::get("cuda_library_path"));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    folders.add_toolkit(environment(name));
  // Wheels are in site-packages, two folders above libspanwise.so's: site-packages/spanwise/lib.
  fs::path up = own_folder();
  for (int level = 0; level < 3 && up.has_relative_path(); ++level, up = up.parent_path())
    folders.add_wheels(up);
  folders.add_joined(environment("LD_LIBRARY_PATH"));
  folders.add_toolkit(environment("CONDA_PREFIX"));
  add_system_toolkits(folders);
  return folders.take();
}

int major_version(const fs::path& library) {
  const std::vector<int> version = version_in(library.filename().string(), ".so.");
  return version.empty() ? 0 : version.front();
}

std::vector<FoundLibrary> find_libraries(std::string_view name, const Paths& folders) {
  const std::string stem = text("lib", name, ".so");
  std::vector<FoundLibrary> libraries;
  for (const fs::path& folder : folders) {
    std::vector<std::pair<std::vector<int>, fs::path>> by_version;
    for (const fs::path& entry : entries_of(folder, stem)) {
      const std::string file = entry.filename().string();
      if (file != stem && !file.starts_with(stem + '.')) continue;
      std::error_code error;
      if (!fs::is_regular_file(entry, error)) continue;
      const fs::path real = resolved(entry);
      by_version.emplace_back(version_in(real.filename().string(), ".so."), real);
    }
    std::sort(by_version.rbegin(), by_version.rend());
    for (const auto& [version, path] : by_version)
      if (std::ranges::find(libraries, path, &FoundLibrary::path) == libraries.end())
        libraries.push_back({path, major_version(path)});
  }
  return libraries;
}

Paths header_folders(const fs::path& library) {
  const fs::path folder = library.parent_path();
  Paths candidates{folder / "../include", folder / "../../include", folder / "../../../include"};
  // CUDA 12 has one wheel for each library: nvidia/cuda_nvrtc/lib, nvidia/cuda_runtime/include.
  for (const fs::path& wheel : entries_of(folder / "../.."))
    candidates.push_back(wheel / "include");
  std::error_code error;
  Folders folders;
  for (const fs::path& candidate : candidates) {
    if (!fs::is_regular_file(candidate / "cuda_fp16.h", error)) continue;
    folders.add(candidate);
    // The C++ library's headers: from CUDA 13 on in a subfolder, in wheels of 12 in another wheel.
    folders.add(candidate / "cccl");
    for (const fs::path& wheel : entries_of(folder / "../.."))
      if (wheel.filename() == "cuda_cccl") folders.add(wheel / "include");
    break;
  }
  return folders.take();
}

bool has_cccl(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "nv" / "target", error) &&
         fs::is_regular_file(folder / "cuda" / "std" / "type_traits", error);
}

fs::path cccl_headers(const Paths& library_folders) {
  for (const fs::path& folder : library_folders) {
    Paths candidates{folder / "../include", folder / "../include/cccl"};
    // The wheel of CCCL has no libraries: nvidia/cuda_nvrtc/lib, nvidia/cuda_cccl/include.
    for (const fs::path& wheel : entries_of(folder / "../..")) {
      candidates.push_back(wheel / "include");
      candidates.push_back(wheel / "include/cccl");
    }
    for (const fs::path& candidate : candidates)
      if (has_cccl(candidate)) return resolved(candidate);
  }
  return {};
}

}  // namespace spanwise::runtime
