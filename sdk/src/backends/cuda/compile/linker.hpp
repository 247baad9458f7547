// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

/// Links several pieces of relocatable device code into one binary: with nvJitLink, which needs no
/// driver and no GPU, or with the driver.
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
