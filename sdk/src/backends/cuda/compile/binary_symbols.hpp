// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spanwise::cuda {

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
