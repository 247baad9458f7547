// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// nvJitLink, NVIDIA's run-time linker, loaded at run time. nvJitLink.h is not in the wheel with
/// the CUDA headers, so its few prototypes are declared here (nvJitLink documentation, "User
/// interface"); a test compares them with the real header if it is installed. Below, linking of
/// several pieces of relocatable device code into one binary: with nvJitLink, which needs no driver
/// and no GPU, or with the driver.
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

namespace spanwise::cuda {

/// Device code in any format of image_kind(); `name` is for messages.
struct LinkInput {
  std::string name;
  std::string image;
};

struct LinkJob {
  std::string architecture;  ///< "sm_90" for a cubin; "compute_90" for PTX, from LTO-IR only
  std::vector<LinkInput> inputs;
  /// NVRTC's options; those that affect code generation from LTO-IR are passed on.
  std::vector<std::string> options;
};

/// Whether LTO-IR of NVRTC `major`.`minor` can be linked: nvJitLink is installed and at least as
/// new.
bool links_lto_ir(int major, int minor);

/// Links with nvJitLink or, if it is not installed, with the driver on device `ordinal`. Throws
/// CompileError with the linker's log, which names unresolved and duplicate symbols, ArgumentError
/// for an input in an unknown format, and DeviceError with what to install if neither linker can
/// link these inputs.
std::string link(const LinkJob& job, std::optional<int> ordinal);

/// Links with the driver only. Throws as link(), but DeviceError for an unknown format.
std::string link_with_driver(const LinkJob& job, int ordinal);

}  // namespace spanwise::cuda
