// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>

/// nvJitLink, NVIDIA's run-time linker, loaded at run time. nvJitLink.h is not in the wheel with
/// the CUDA headers, so its few prototypes are declared here (nvJitLink documentation, "User
/// interface"); a test compares them with the real header if it is installed.
namespace spanwise::cuda::nvjitlink {

using Result = int;
inline constexpr Result success = 0;
struct LinkState;
using Link = LinkState*;
/// nvJitLinkInputType.
inline constexpr int cubin_input = 1, ptx_input = 2, lto_ir_input = 3, fat_binary_input = 4,
                     object_input = 5, archive_input = 6;

/// X(member of Api, nvJitLink's function, its result and parameter types)
#define SW_NVJITLINK_FUNCTIONS(X)                                                         \
  X(version, nvJitLinkVersion, Result(unsigned*, unsigned*))                              \
  X(create, nvJitLinkCreate, Result(Link*, std::uint32_t, const char**))                  \
  X(destroy, nvJitLinkDestroy, Result(Link*))                                             \
  X(add_data, nvJitLinkAddData, Result(Link, int, const void*, std::size_t, const char*)) \
  X(complete, nvJitLinkComplete, Result(Link))                                            \
  X(get_cubin_size, nvJitLinkGetLinkedCubinSize, Result(Link, std::size_t*))              \
  X(get_cubin, nvJitLinkGetLinkedCubin, Result(Link, void*))                              \
  X(get_ptx_size, nvJitLinkGetLinkedPtxSize, Result(Link, std::size_t*))                  \
  X(get_ptx, nvJitLinkGetLinkedPtx, Result(Link, char*))                                  \
  X(get_error_log_size, nvJitLinkGetErrorLogSize, Result(Link, std::size_t*))             \
  X(get_error_log, nvJitLinkGetErrorLog, Result(Link, char*))

struct Api {
#define SW_DECLARE(name, function, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  SW_NVJITLINK_FUNCTIONS(SW_DECLARE)
#undef SW_DECLARE
};

struct Library {
  Api api;
  std::filesystem::path path;
  int major = 0, minor = 0;
};

/// Loaded at the first call: the first library found whose major version is not newer than the
/// driver's. Null if there is none; a failed search is repeated after a configuration change.
const Library* library();

/// The file that library() would load, found without loading anything; empty if there is none.
std::filesystem::path library_path();

/// What to install if nvJitLink is missing, as a sentence without its full stop.
std::string remedy();

}  // namespace spanwise::cuda::nvjitlink
