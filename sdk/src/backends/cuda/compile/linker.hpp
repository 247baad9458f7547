// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

/// Several pieces of relocatable device code to one binary: by nvJitLink, which needs no driver and
/// no GPU, else by the driver.
namespace spanwise::cuda {

/// Device code of any form that image_kind() knows; `name` is for messages.
struct LinkInput {
  std::string name;
  std::string image;
};

struct LinkJob {
  std::string architecture;  ///< "sm_90" for a cubin, "compute_90" for PTX, which takes LTO-IR only
  std::vector<LinkInput> inputs;
  /// NVRTC's options; those that also decide what becomes of LTO-IR are taken over.
  std::vector<std::string> options;
};

/// Whether LTO-IR of NVRTC `major`.`minor` can be linked: it takes an nvJitLink as new as that.
bool links_lto_ir(int major, int minor);

/// Links with nvJitLink, or, where there is none, in the driver's context of device `ordinal`.
/// Throws CompileError with the linker's log, which names what is unresolved or defined twice, and
/// DeviceError saying what to install where neither can link these inputs.
std::string link(const LinkJob& job, std::optional<int> ordinal);

/// The second way by itself. Throws as link().
std::string link_with_driver(const LinkJob& job, int ordinal);

}  // namespace spanwise::cuda
