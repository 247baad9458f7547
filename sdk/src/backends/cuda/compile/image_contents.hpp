// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "spanwise/devices.hpp"

namespace spanwise::cuda {

/// One piece of code in a binary.
struct ImagePart {
  int architecture = 0;  ///< 90 for sm_90 and compute_90
  bool is_ptx = false;   ///< which the driver compiles for its architecture and newer ones
};

/// The forms that device code comes in.
enum class ImageKind { cubin, ptx, lto_ir, fat_binary, object, archive, unknown };

/// By the first bytes; PTX by its version line.
ImageKind image_kind(std::string_view image);

/// What a cubin, PTX or fat binary holds, as far as its headers tell; empty where they do not.
std::vector<ImagePart> image_parts(std::string_view image);

/// Whether there is only LTO-IR in it, alone or in a fat binary (nvcc's code=lto_90), so that it
/// has to be linked before it can be loaded.
bool is_lto_ir(std::string_view image);

/// Throws DeviceError naming what the image holds and what the device needs where nothing in it
/// runs there, and ArgumentError where it is no binary of CUDA's. What the headers do not tell is
/// left to the driver.
void require_runnable(std::string_view image, const DeviceProperties& device);

}  // namespace spanwise::cuda
