// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "backends/cuda/compile/nvrtc.hpp"
#include "backends/cuda/driver.hpp"
#include "backends/cuda/optional_library.hpp"
#include "core/string_utils.hpp"
#include "embedded/rtc_headers.hpp"
#include "embedded/rtc_replaced_headers.hpp"
#include "embedded/rtc_toolkit_headers.hpp"
#include "runtime/library_search.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::cuda::nvrtc {
namespace {

// The libraries to try, in order. A driver loads binaries that a compiler of the same or an older
// major version made (CUDA minor version compatibility), so compilers of newer major versions come
// last.
std::vector<FoundLibrary> candidates() {
  std::vector<FoundLibrary> libraries = find_libraries("nvrtc", library_folders());
  const int newest = driver_status().version / 1000;
  if (newest > 0) {
    std::stable_partition(libraries.begin(), libraries.end(),
                          [&](const FoundLibrary& library) { return library.major <= newest; });
  }
  return libraries;
}

void read_versions(Library& library) {
  library.api.version(&library.major, &library.minor);
  int count = 0;
  if (library.api.get_num_supported_archs(&count) != success || count <= 0) return;
  library.architectures.resize(static_cast<std::size_t>(count));
  library.api.get_supported_archs(library.architectures.data());
  std::ranges::sort(library.architectures);
}

// Null if `path` cannot be loaded or is too old; the reason is then appended to `reason`.
std::unique_ptr<Library> open(const std::filesystem::path& path, std::string& reason) {
  const std::lock_guard loading(loader_mutex());
  void* handle = open_library(path);
  if (handle == nullptr) {
    const char* error = dlerror();
    reason += text("; ", error != nullptr ? error : path.string());
    return nullptr;
  }
  auto library = std::make_unique<Library>();
  Api& api = library->api;
  if (!(true SW_NVRTC_FUNCTIONS(SW_FIND_FUNCTION))) {
    reason += text("; ", path.string(), " is older than CUDA 12.0");
    return nullptr;
  }
  library->path = path;
  read_versions(*library);
  return library;
}

[[noreturn]] void fail_absent(const std::string& reason) {
  const int major = std::max(driver_status().version / 1000, 12);
  fail<DeviceError>(
      "cuda: no NVRTC (libnvrtc.so), which compiles kernels, was found", reason, "; looked in ",
      joined(library_folders(), ", ", [](const auto& folder) { return folder.string(); }),
      ". Install it (python3 -m pip install nvidia-cuda-nvrtc", major == 12 ? "-cu12" : "",
      ", or the CUDA toolkit), or name its folder in SPANWISE_CUDA_LIBRARY_PATH");
}

struct NvrtcState {
  Mutex mutex;
  std::uint64_t searched_version = 0;  // config::version() at the last search
  std::string searched_path;
  std::shared_ptr<const Installation> installation;
  const Library* loaded = nullptr;
};
NvrtcState& state() {
  static NeverDestroyed<NvrtcState> instance;
  return *instance;
}

std::shared_ptr<const Installation> installation_of(const std::filesystem::path& library) {
  auto result = std::make_shared<Installation>();
  result->library = library;
  if (library.empty()) return result;
  result->headers = runtime::header_folders(library);
  // The wheel nvidia-cuda-runtime lacks CCCL's headers, which some of its headers include; they may
  // be installed in another folder.
  const bool has_cccl = std::ranges::any_of(result->headers, runtime::has_cccl);
  if (has_cccl || result->headers.empty()) return result;
  if (std::filesystem::path cccl = runtime::cccl_headers(library_folders()); !cccl.empty())
    result->headers.push_back(std::move(cccl));
  return result;
}

}  // namespace

std::shared_ptr<const Installation> installation() {
  NvrtcState& cached = state();
  const std::lock_guard lock(cached.mutex);
  const std::uint64_t version = config::version();
  if (cached.installation && (cached.loaded != nullptr || cached.searched_version == version))
    return cached.installation;
  // The search takes milliseconds, and of the config only "cuda_library_path" affects it: it is
  // repeated only if that option has changed.
  std::string path = config::get("cuda_library_path");
  if (!cached.installation || path != cached.searched_path) {
    const std::vector<FoundLibrary> all = candidates();
    cached.installation = installation_of(all.empty() ? std::filesystem::path{} : all.front().path);
    cached.searched_path = std::move(path);
  }
  cached.searched_version = version;
  return cached.installation;
}

const Library& library() {
  NvrtcState& cached = state();
  const std::lock_guard lock(cached.mutex);
  // A loaded library is never replaced: all kernels of a process come from the same compiler.
  if (cached.loaded != nullptr) return *cached.loaded;
  std::string reason;
  for (const FoundLibrary& candidate : candidates()) {
    if (auto library = open(candidate.path, reason)) {
      cached.installation = installation_of(library->path);
      cached.loaded = library.release();
      return *cached.loaded;
    }
  }
  fail_absent(reason);
}

}  // namespace spanwise::cuda::nvrtc

namespace spanwise::cuda {
namespace {

// Passed with any options of the user.
constexpr std::array fixed_options{
    // Functions and variables without an execution space specifier are __device__, as in the CPU
    // backend.
    "-default-device",
    // 177: kernels look unused to the compiler. 47: libcu++ redefines macros of limits.
    "--diag-suppress=177,47",
    // What glibc's headers define: a condition would take names that do not exist for 0, and equal.
    "-D__WORDSIZE=64",
    "-D__LITTLE_ENDIAN=1234",
    "-D__BIG_ENDIAN=4321",
    "-D__BYTE_ORDER=1234",
};
constexpr const char* default_standard = "-std=c++17";

template <class Files>
void append(RtcHeaders& headers, const Files& files) {
  for (const embedded::TextFile& file : files) {
    headers.names.push_back(file.name.data());
    headers.texts.push_back(file.text.data());
  }
}

}  // namespace

std::vector<std::string> default_options(const std::vector<std::string>& options) {
  std::vector<std::string> all(fixed_options.begin(), fixed_options.end());
  const auto sets_standard = [](const std::string& option) { return option.starts_with("-std="); };
  if (std::ranges::none_of(options, sets_standard)) all.emplace_back(default_standard);
  return all;
}

bool may_be_minimal(std::string_view source) {
  const auto has = [source](std::string_view name) { return source.find(name) != source.npos; };
  for (const char* name : {"cuda", "tex1D", "tex2D", "tex3D", "texC", "texture", "surf", "<<<"})
    if (has(name)) return false;
  constexpr std::string_view include = "include";
  for (std::size_t at = 0; (at = source.find(include, at)) != source.npos; at += include.size()) {
    const std::string_view before = source.substr(0, at);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    const bool is_directive =
        line.find('#') != line.npos && line.find_first_not_of(" \t#") == line.npos;
    const std::string_view header = source.substr(at + include.size(), 11);
    if (is_directive && header != " <spanwise/") return false;
  }
  return true;
}

RtcHeaders rtc_headers(bool has_toolkit_headers) {
  RtcHeaders headers;
  append(headers, embedded::rtc_headers);
  if (!has_toolkit_headers) append(headers, embedded::rtc_toolkit_headers);
  return headers;
}

const std::string& default_options_digest() {
  // Never destroyed: kernels may be compiled until the process exits.
  static const auto& digest_of_options = *new std::string([] {
    TextDigest digest;
    for (const std::string& option : default_options({})) digest.add(option);
    digest.add(minimal_option);
    const RtcHeaders headers = rtc_headers(false);  // all of them
    for (std::size_t i = 0; i < headers.names.size(); ++i) {
      digest.add(headers.names[i]);
      digest.add(headers.texts[i]);
    }
    for (const embedded::TextFile& file : embedded::rtc_replaced_headers) digest.add(file.text);
    return digest.hex();
  }());
  return digest_of_options;
}

}  // namespace spanwise::cuda
