// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
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

/// The kernels and variables of a compiled binary, by symbol (mangled name).
struct BinarySymbols {
  std::vector<std::string> kernels;    ///< __global__ functions
  std::vector<std::string> variables;  ///< __device__, __constant__ and __managed__ ones
};

/// Reads a cubin's symbol table or PTX text. Returns empty lists for other images (fat binaries).
/// Never throws because of the image's contents; for a damaged image it returns the symbols that
/// could be read.
BinarySymbols read_symbols(std::string_view image);

/// Maps source names to symbols. A symbol is found by its qualified name ("image::blur",
/// "scale<float>") and, if no other symbol has the same one, by its unqualified name ("blur").
/// Overloaded functions are found only by the qualified name with parameters ("blur(float*, int)").
/// Symbols without mangling (extern "C") map to themselves. Anonymous namespaces are left out of
/// the names; internal symbols of the CUDA device runtime are left out of the map.
std::map<std::string, std::string> names_of(const std::vector<std::string>& symbols);

/// The qualified name of a symbol, without parameters, for messages; the symbol itself if it is not
/// mangled.
std::string readable_name(const std::string& symbol);
/// "float*, float const*, int" for the mangled name of a function; "" for a name without types.
std::string types_of(const std::string& symbol);

}  // namespace spanwise::cuda
