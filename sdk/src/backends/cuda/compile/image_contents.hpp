// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "spanwise/runtime/devices.hpp"

namespace spanwise::cuda {

/// One piece of code in a binary.
struct ImagePart {
  int architecture = 0;  ///< 90 for sm_90 and compute_90
  bool is_ptx = false;   ///< the driver compiles it for `architecture` and newer ones
};

/// Formats of device code.
enum class ImageKind { cubin, ptx, lto_ir, fat_binary, object, archive, unknown };

/// Detects the format by the first bytes, PTX by its .version directive.
ImageKind image_kind(std::string_view image);

/// The pieces of code in a cubin, PTX or fat binary, read from its headers; empty if the headers do
/// not list them.
std::vector<ImagePart> image_parts(std::string_view image);

/// Whether the image holds nothing but LTO-IR, alone or in a fat binary (nvcc's code=lto_90), and
/// must be linked before it can be loaded.
bool is_lto_ir(std::string_view image);

/// Throws ArgumentError if the image is empty or text that is not PTX, and DeviceError, with the
/// architectures of the image and of the device, if no piece of code runs on the device. If the
/// headers do not list the pieces, it returns, and the driver decides.
void require_runnable(std::string_view image, const DeviceProperties& device);

}  // namespace spanwise::cuda
